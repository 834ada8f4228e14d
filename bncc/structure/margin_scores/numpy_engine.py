"""The scores' engine in numpy, which says what the C is to compute."""

from dataclasses import dataclass

import numpy as np

from bncc._types import IntArray
from bncc.structure.margin_scores.held_out import HeldOut
from bncc.structure.margin_scores.score import Score

BLOCK_ROWS = 1024
"""Rows between two looks at whether the score can still be reached."""


@dataclass(frozen=True, eq=False)
class NumpyTerm:
    """A term's values, and which of them each row reads."""

    values: IntArray  # (n, n_classes) int32: By cell of (fold, state, parent state), or by row
    cells: IntArray  # (n_samples,) int: Indices of values


class NumpyScoreEngine:
    """
    Scores by numpy, see `bncc.structure.margin_scores.engine.ScoreEngine`.

    Shapes: `joint` (n_samples, n_classes) int32.
    """

    def __init__(self, held_out: HeldOut, score: Score, joint: IntArray) -> None:
        self._joint = joint
        self._held_out, self._score = held_out, score
        self._rows = np.arange(held_out.n_samples)
        self._order = self._rows

    @property
    def joint(self) -> IntArray:
        """The joint of the present tree; see `ScoreEngine`."""
        return self._joint

    def term(self, child: int, parent: int, values: IntArray, *, by_row: bool) -> NumpyTerm:
        """Prepare a term; see `ScoreEngine`."""
        if by_row:
            return NumpyTerm(values, self._rows)
        cells = self._held_out.cells(child, parent)
        return NumpyTerm(values.reshape(-1, self._held_out.n_classes), cells)

    def exchange(self, out: NumpyTerm, into: NumpyTerm) -> None:
        """Exchange a term of the joint for another; see `ScoreEngine`."""
        self._joint += into.values[into.cells] - out.values[out.cells]

    def score(self, out: NumpyTerm, into: NumpyTerm, at_least: int | None) -> int:
        """Return the score with a term exchanged; see `ScoreEngine`."""
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
        """Let the next score begin with rows that were misclassified."""
        seen, rest = self._order[: len(is_hard)], self._order[len(is_hard) :]
        self._order = np.concatenate([seen[is_hard], seen[~is_hard], rest])
