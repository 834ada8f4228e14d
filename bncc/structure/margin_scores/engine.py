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
        """Prepare a term.

        Parameters
        ----------
        child, parent : int
            Features; ``n_features`` is no parent.
        values : int32
            (n_folds, n_states[child], n_states[parent], n_classes), see `HeldOut.table`; or by
            row, (n_samples, n_classes), see `HeldOut.by_row`.
        by_row : bool
            Which of the two.

        Returns
        -------
        Term
            Refers to the values.
        """

    def exchange(self, out: Term, into: Term) -> None:
        """Exchange a term of the joint for another.

        Parameters
        ----------
        out, into : Term
            Of this engine.
        """

    def score(self, out: Term, into: Term, at_least: int | None) -> int:
        """Return the score with a term exchanged; the joint stays.

        Parameters
        ----------
        out, into : Term
            Of this engine.
        at_least : int or None
            A score below it need not be exact.

        Returns
        -------
        int
            The sum of the rows' integers; or, where that is less than `at_least`, some number
            from it up to ``at_least - 1``.
        """
