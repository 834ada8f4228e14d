"""Classification rate, conditional likelihood and margin of joints, as sums of integers."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bncc._types import AnyArray, IntArray
from bncc.errors import ToolchainError
from bncc.native import SCORES
from bncc.structure.margin_scores.held_out import HeldOut
from bncc.toolchain.library import native_library

KINDS = ("mm", "cr", "cl")
"""Maximum margin, classification rate, conditional likelihood; the first is S1's own."""
ALONE = -(2**31)
"""Placeholder for the best other class where there is none."""


@dataclass(frozen=True)
class Score:
    r"""
    One of the three scores, as a sum of an integer for each row.

    .. math::
       CR = \frac{1}{M} \sum_m 1\{c^m = \arg\max_c P(c, x^m)\}, \quad
       CL = \sum_m \log P(c^m \mid x^m), \quad
       MM = \sum_m \min(1, \lambda \log d^m)

    with :math:`\log d^m = \log P(c^m, x^m) - \max_{c \ne c^m} \log P(c, x^m)`. Ties are decided
    for the smallest class.

    References
    ----------
    S1, sections 3.1 and 3.2.
    """

    kind: str  # Key of the score
    scale: int  # Integer units per nat
    lambda_: float = 1.0  # Scale of ``mm``, > 0: margins beyond 1 / lambda nats are capped

    @property
    def most(self) -> int:
        """Largest integer of a row: the cap scale / lambda of ``mm``."""
        if self.kind == "mm":
            return min(max(1, round(self.scale / self.lambda_)), 2**31 - 1)
        return 1 if self.kind == "cr" else 0

    def value(self, total: int, n_samples: int) -> float:
        """Return a score in its own unit."""
        return total / self.units(n_samples)

    def units(self, n_samples: int) -> int:
        """Return the number of integer units in a score of 1."""
        if self.kind == "cr":
            return max(n_samples, 1)
        return self.most if self.kind == "mm" else self.scale

    def of_rows(self, joint: IntArray, y: IntArray) -> IntArray:
        """
        Return the integer of each row.

        Shapes: `joint` (n_samples, n_classes) int32; `y` (n_samples,) int; returns (n_samples,)
        int64, 1 or 0 for ``cr``; at most `most` for ``mm``; at most 0 for ``cl``, each row rounded.
        """
        rows = np.arange(len(y))
        own = joint[rows, y].astype(np.int64)
        if self.kind == "cl":
            return -_rounded_log_sum(joint, own, self.scale)
        others = joint.astype(np.int64)
        if self.kind == "cr":
            others += np.arange(joint.shape[1]) < y[:, None]
        others[rows, y] = ALONE
        margins = own - others.max(axis=1)
        if self.kind == "cr":
            return np.asarray(margins >= 0, dtype=np.int64)
        return np.asarray(np.minimum(margins, self.most))


def _rounded_log_sum(joint: IntArray, own: AnyArray, scale: int) -> IntArray:
    """Return -log P(c^m | x^m), rounded; sums start at class 0."""
    top = joint.max(axis=1).astype(np.int64)
    total = np.zeros(len(joint))
    for of_class in joint.T:
        total += np.exp((of_class - top) / scale)
    return np.asarray((top - own) + np.rint(np.log(total) * scale).astype(np.int64))


Term = Any
"""An engine's representation of log P(x_i | x_p, c) of all rows."""


class ScoreEngine(Protocol):
    """Scorer of trees that differ from the current one in the parent of one feature."""

    @property
    def joint(self) -> IntArray:
        """Log P(c, x) under the current tree, (n_samples, n_classes) int32."""

    def term(self, child: int, parent: int, values: IntArray, *, by_row: bool) -> Term:
        """Prepare a term."""

    def exchange(self, out: Term, into: Term) -> None:
        """Replace a term of the joint with another."""

    def score(self, out: Term, into: Term, at_least: int | None) -> int:
        """Return the score after a replacement of one term, without changing the joint."""


BLOCK_ROWS = 1024
"""Rows between two checks of whether the required score is still reachable."""


@dataclass(frozen=True, eq=False)
class NumpyTerm:
    """Values of a term, and the index that each row reads."""

    values: IntArray  # (n, n_classes) int32: By cell of (fold, state, parent state), or by row
    cells: IntArray  # (n_samples,) int: Indices of values


class NumpyScoreEngine:
    """
    Scores by numpy, see `ScoreEngine`.

    Shapes: `joint` (n_samples, n_classes) int32.
    """

    def __init__(self, held_out: HeldOut, score: Score, joint: IntArray) -> None:
        self._joint = joint
        self._held_out, self._score = held_out, score
        self._rows = np.arange(held_out.n_samples)
        self._order = self._rows

    @property
    def joint(self) -> IntArray:
        """The joint under the current tree; see `ScoreEngine`."""
        return self._joint

    def term(self, child: int, parent: int, values: IntArray, *, by_row: bool) -> NumpyTerm:
        """Prepare a term; see `ScoreEngine`."""
        if by_row:
            return NumpyTerm(values, self._rows)
        cells = self._held_out.cells(child, parent)
        return NumpyTerm(values.reshape(-1, self._held_out.n_classes), cells)

    def exchange(self, out: NumpyTerm, into: NumpyTerm) -> None:
        """Replace a term of the joint with another; see `ScoreEngine`."""
        self._joint += into.values[into.cells] - out.values[out.cells]

    def score(self, out: NumpyTerm, into: NumpyTerm, at_least: int | None) -> int:
        """Return the score after a replacement of one term; see `ScoreEngine`."""
        if at_least is None:
            return int(self._gains(out, into, self._rows).sum())
        n_left, total, hard = len(self._rows), 0, []
        for begin in range(0, len(self._rows), BLOCK_ROWS):
            rows = self._order[begin : begin + BLOCK_ROWS]
            gains = self._gains(out, into, rows)
            hard.append(gains <= 0)
            total += int(gains.sum())
            n_left -= len(rows)
            if total + n_left * self._score.most < at_least:
                break
        self._put_first(np.concatenate(hard))
        return total + n_left * self._score.most

    def _gains(self, out: NumpyTerm, into: NumpyTerm, rows: IntArray) -> IntArray:
        given, taken = (term.values[term.cells[rows]] for term in (into, out))
        return self._score.of_rows(self._joint[rows] + given - taken, self._held_out.y[rows])

    def _put_first(self, is_hard: IntArray) -> None:
        """Start the next score with rows that were misclassified."""
        seen, rest = self._order[: len(is_hard)], self._order[len(is_hard) :]
        self._order = np.concatenate([seen[is_hard], seen[~is_hard], rest])


POINTERS = {"i4": "int32_t *", "u4": "uint32_t *"}


class NativeScoreEngine:
    """
    Scores by C, see `ScoreEngine`.

    Shapes: `joint` (n_samples, n_classes) int32.
    """

    def __init__(self, held_out: HeldOut, score: Score, joint: IntArray) -> None:
        self._ffi, self._library = native_library(SCORES)
        n_features, n_samples = held_out.n_features, held_out.n_samples
        fold, states = held_out.fold, np.array(held_out.n_states, dtype=np.int32)[:, None]
        self._arrays: dict[str, AnyArray] = {
            "y": held_out.y,
            "joint": joint,
            "order": np.arange(n_samples, dtype=np.uint32),
            "work": np.zeros(held_out.n_classes, dtype=np.int32),
        }
        self._parents = [self._pointer(column) for column in held_out.columns]
        self._columns = held_out.columns, np.asarray(fold * states + held_out.columns)
        self._children = [self._pointer(column) for column in self._columns[1][:n_features]]
        self._n_states = held_out.n_states
        self._scores = self._ffi.new("scores_t *")
        self._scores.n_samples, self._scores.n_classes = joint.shape
        self._scores.kind = getattr(self._library, f"BNCC_{score.kind.upper()}")
        self._scores.most, self._scores.scale = score.most, score.scale
        for name, array in self._arrays.items():
            setattr(self._scores, name, self._pointer(array))

    @property
    def joint(self) -> IntArray:
        """The joint under the current tree; see `ScoreEngine`."""
        return self._arrays["joint"]

    def term(self, child: int, parent: int, values: IntArray, *, by_row: bool) -> Any:
        """Prepare a term; see `ScoreEngine`."""
        term = self._ffi.new("term_t *")
        term.values = self._pointer(values)
        if not by_row:
            term.child, term.parent = self._children[child], self._parents[parent]
            term.n_parent_states = self._n_states[parent]
        return term, values

    def exchange(self, out: Any, into: Any) -> None:
        """Replace a term of the joint with another; see `ScoreEngine`."""
        self._library.bncc_exchange(self._scores, out[0], into[0])

    def score(self, out: Any, into: Any, at_least: int | None) -> int:
        """Return the score after a replacement of one term; see `ScoreEngine`."""
        bound = (0, 0) if at_least is None else (at_least, 1)
        return int(self._library.bncc_score(self._scores, out[0], into[0], *bound))

    def _pointer(self, array: AnyArray) -> Any:
        assert array.flags.c_contiguous
        return self._ffi.cast(POINTERS[array.dtype.str[1:]], array.ctypes.data)


def score_engine_for(
    held_out: HeldOut, score: Score, joint: IntArray, engine: str | None = None
) -> ScoreEngine:
    """
    Return the scoring engine for trees.

    Shapes: `joint` (n_samples, n_classes) int32.
    """
    if engine != "numpy":
        try:
            return NativeScoreEngine(held_out, score, joint)
        except ToolchainError:
            if engine == "native":
                raise
    return NumpyScoreEngine(held_out, score, joint)
