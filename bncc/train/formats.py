"""Formats of the costs: which the options leave open, and which is the most accurate."""

from collections.abc import Sequence

import numpy as np

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.fixed_point import QFormat, rounded
from bncc.structure.decision_tables import lookups_of
from bncc.structure.graph import Structure
from bncc.train.settings import FLOAT_FORMAT, TrainSettings

MAX_INT_BITS = 8
"""Largest B_I tried: costs up to 256 nats, p = 1e-111. S3 tries 1 to 6."""

MAX_NATS = 2.0**MAX_INT_BITS
"""Replacement for the infinite cost of a class without rows."""


def formats_of(settings: TrainSettings) -> tuple[QFormat, ...]:
    """Return the candidate formats under the options."""
    if settings.float_:
        return (FLOAT_FORMAT,)
    return candidate_formats(settings.total_bits, settings.int_bits, settings.frac_bits)


def candidate_formats(
    bits: int, int_bits: int | None = None, frac_bits: int | None = None
) -> tuple[QFormat, ...]:
    """Return the formats of a total width, including negative B_F."""
    if int_bits is not None:
        return (QFormat(int_bits, bits - int_bits),)
    if frac_bits is not None:
        return (QFormat(bits - frac_bits, frac_bits),)
    return tuple(QFormat(i, bits - i) for i in range(1, MAX_INT_BITS + 1))


def best_format(
    formats: Sequence[QFormat],
    log_prior: FloatArray,
    log_tables: Sequence[FloatArray],
    structure: Structure,
    n_states: Sequence[int],
    X: IntArray,
    y: IntArray,
    weights: FloatArray | None = None,
) -> QFormat:
    r"""
    Return the format whose integer model is the most accurate on the given rows.

    Shapes: `log_prior` (n_classes,) float64; `X` (n_samples, n_features) int; `y` (n_samples,) int;
    `weights` (n_samples,) float64.

    Notes
    -----
    A format is clearly worse if b rows are wrong only with it, c rows are wrong only with the best
    format, and :math:`b - c > \sqrt{b + c}`: one standard deviation of the difference (McNemar).
    Rows of weight w count w times in the difference, w^2 times in the root.
    """
    if len(formats) == 1:
        return formats[0]
    rows = [lookup.rows(X) for lookup in lookups_of(structure, n_states)]
    exact = _scores(log_prior, log_tables, rows)
    wrong, strays = [], []
    for fmt in formats:
        tables = [rounded(table, fmt) for table in log_tables]
        scores = _scores(rounded(log_prior, fmt), tables, rows)
        wrong.append(scores.argmin(axis=1) != y)
        strays.append(float(np.abs(scores - exact).mean()))
    counts = np.ones(len(y)) if weights is None else weights
    best = min(wrong, key=lambda errors: float(counts[errors].sum()))
    equals = [k for k, errors in enumerate(wrong) if not _clearly_worse(errors, best, counts)]
    return formats[min(equals, key=lambda k: strays[k])]


def _clearly_worse(errors: BoolArray, best: BoolArray, counts: FloatArray) -> bool:
    lost, won = counts[errors & ~best], counts[best & ~errors]
    return bool(lost.sum() - won.sum() > np.sqrt((lost**2).sum() + (won**2).sum()))


def _scores(
    log_prior: FloatArray, log_tables: Sequence[FloatArray], rows: Sequence[IntArray]
) -> FloatArray:
    """Return the margin of every class to the best one, in nats; 0 for the decision."""
    costs = np.zeros((len(rows[0]), len(log_prior))) - np.maximum(log_prior, -MAX_NATS)
    for table, row in zip(log_tables, rows, strict=True):
        costs -= table[row]
    return np.asarray(costs - costs.min(axis=1, keepdims=True))
