r"""
Probabilities of a network as integer costs: where the binary point goes, and what a 0 costs.

A probability p above 0 costs :math:`\min(\mathrm{rne}(-\ln p \cdot 2^{B_F}), 2^B - 1)`, as
everywhere (S3, equation 11). A probability of 0 costs more than all others together can, the *veto*

.. math:: V = 1 + \max_c \Big( q[c] + \sum_t \max_x q_t[x, c] \Big) + d

over the costs of probabilities above 0, d being what summing features out can take off. Any sum
with k vetoes then lies below any with k + 1: a class is never decided for while one of fewer zeros
is there, so an impossible one never while another is possible.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.errors import NetworkError
from bncc.fixed_point import MAX_BITS, QFormat, quantize
from bncc.model.missing_range import deepest_fold
from bncc.model.model import Model

DEFAULT_BITS = 8
"""Bits of a cost: a byte, since no training makes up for rounding."""
MOST_DEFAULT_BITS = 16
"""Most bits of a cost by default, where a byte decides too many rows differently."""
MOST_SUM_BITS = 32
"""Bits of the sum of a class in the C."""
MAX_INT_BITS = 8
"""Costs up to 256 nats; a probability below exp(-256) costs as much as one of exp(-256)."""
ENOUGH = 0.9975
"""Share of sampled rows that is to be decided as by the exact posterior."""
SLIGHT = 0.001
"""Agreement for which no bit is spent."""
TIE = 1e-9
"""Nats within which classes are as likely."""


_ABOVE_ALL = 1 << 48
"""More than any sum of costs of 31 bits."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Sampled rows as the prior and the tables that read the class see them."""

    logs: tuple[FloatArray, ...]  # Log-probabilities in each
    best: BoolArray  # (n_rows, n_classes) bool: Classes of the largest posterior, up to `TIE`

    def agreement(self, q_format: QFormat) -> float:
        """Return the share of rows in which costs of a format decide for a likeliest class."""
        if not len(self.best):
            return 1.0
        total = np.zeros(self.best.shape, dtype=np.int64)
        for each in self.logs:
            total += np.where(np.isneginf(each), _ABOVE_ALL, rounded_costs(each, q_format))
        return float(self.best[np.arange(len(total)), total.argmin(axis=1)].mean())


def possible_rows(logs: Sequence[FloatArray]) -> Rows:
    """Return those rows in which some class is possible."""
    total = np.asarray(sum(logs))
    possible = np.isfinite(total).any(axis=1)
    total = total[possible]
    best = total >= total.max(axis=1, keepdims=True) - TIE
    return Rows(tuple(each[possible] for each in logs), best)


def format_of(tables: Sequence[FloatArray], rows: Sequence[Rows], bits: int | None) -> QFormat:
    """Choose the format of costs, the veto aside."""
    choices = [bits] if bits is not None else range(DEFAULT_BITS, MOST_DEFAULT_BITS + 1)
    found: list[tuple[float, QFormat]] = []
    for of_bits in choices:
        widest = _widest(tables, of_bits)
        for int_bits in range(widest, 0, -1):
            q_format = QFormat(int_bits, of_bits - int_bits)
            found.append((min(each.agreement(q_format) for each in rows), q_format))
            if found[-1][0] >= ENOUGH:
                return q_format
    most = max(agreement for agreement, _ in found)
    return next(q_format for agreement, q_format in found if agreement >= most - SLIGHT)


def _widest(tables: Sequence[FloatArray], bits: int) -> int:
    """Return the bits before the point that the largest cost of probabilities above 0 takes."""
    least = min(float(table[table > 0].min()) for table in tables)
    for int_bits in range(1, MAX_INT_BITS):
        fmt = QFormat(int_bits, bits - int_bits)
        if -np.log(least) <= (fmt.max_cost + 0.5) * 2.0**-fmt.frac_bits:
            return int_bits
    return MAX_INT_BITS


def rounded_costs(logs: FloatArray, q_format: QFormat) -> IntArray:
    """Return the costs of log-probabilities, the largest that there is for one of 0."""
    return quantize(np.minimum(logs, 0.0), q_format)


def with_vetoes(model: Model, zeros: Sequence[BoolArray], tables: Sequence[int]) -> Model:
    """Put the veto in the place of probabilities of 0."""
    if not any(gap.any() for gap in zeros):
        return model
    depth = deepest_fold(model)
    some = range(len(model.tables)) if depth else tables
    finite = [np.where(zeros[1 + t], 0, model.tables[t]).max(axis=0) for t in some]
    veto = 1 + depth + int((np.where(zeros[0], 0, model.prior) + sum(finite)).max())
    fmt = model.q_format
    more = max(0, veto.bit_length() - fmt.bits)
    if fmt.bits + more > MAX_BITS:
        raise NetworkError(
            f"with {fmt.bits} bits a cost that no sum of others reaches, that of a probability of "
            f"0, takes {fmt.bits + more} bits, more than {MAX_BITS}; give fewer --bits"
        )
    prior, *costs = (
        np.where(gap, veto, values)
        for gap, values in zip(zeros, (model.prior, *model.tables), strict=True)
    )
    return replace(
        model,
        q_format=QFormat(fmt.int_bits + more, fmt.frac_bits),
        prior=prior,
        tables=tuple(costs),
        training={**model.training, "veto": veto},
    )


def check_sums(model: Model) -> None:
    """Refuse costs whose sums could take more than the 32 bits that the C has for them."""
    largest = int((model.prior + sum(table.max(axis=0) for table in model.tables)).max())
    if largest >= 1 << MOST_SUM_BITS:
        raise NetworkError(
            f"sums of costs in {model.q_format} can take {largest.bit_length()} bits, more than "
            f"{MOST_SUM_BITS}; give fewer --bits"
        )
