"""What an engine does: keep the joint of a tree, and score it with one feature's term exchanged."""

from typing import Any, Protocol

from bncc._types import IntArray

Term = Any
"""What log P(x_i | x_p, c) of all rows is to an engine."""


class ScoreEngine(Protocol):
    """Scores trees that differ from the present one in the parent of one feature."""

    @property
    def joint(self) -> IntArray:
        """Log P(c, x) under the present tree, (n_samples, n_classes) int32."""

    def term(self, child: int, parent: int, values: IntArray, *, by_row: bool) -> Term:
        """Prepare a term."""

    def exchange(self, out: Term, into: Term) -> None:
        """Exchange a term of the joint for another."""

    def score(self, out: Term, into: Term, at_least: int | None) -> int:
        """Return the score with a term exchanged; the joint stays."""
