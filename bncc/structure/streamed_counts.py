"""Counts of all pairs of features from rows in parts, so that files need not fit memory."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bncc._types import IntArray
from bncc.structure.counts import BLOCK_ROWS, PairBlock, blocks_of_equal_states, class_counts
from bncc.structure.scores import TableSums, Term, sum_tables


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Sufficient statistics of Chow-Liu and ETAN, in memory independent of the number of rows."""

    n_states: tuple[int, ...]  # Cardinality of each feature
    of_class: IntArray  # (n_classes,) int64: Rows of each class
    # (n_classes, width, width) int64: ``joint[c, a, b]``: number of rows of class c with states a
    # and b, where the states of all features are concatenated to ``width = sum(n_states)``.
    # 640 KB for 50 features of 4 states and 2 classes.
    joint: IntArray

    @property
    def n_samples(self) -> int:
        """Rows counted."""
        return int(self.of_class.sum())

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.of_class)

    def sums(self, terms: Sequence[Term], *, with_marginal: bool = True) -> tuple[TableSums, ...]:
        """Sum terms over the tables of all pairs."""
        blocks = self._blocks(with_marginal)
        return sum_tables(
            self.of_class, self._singles(), blocks, terms, with_marginal=with_marginal
        )

    def _singles(self) -> Iterator[IntArray]:
        counts = np.diagonal(self.joint, axis1=1, axis2=2).T
        yield from np.split(counts, np.cumsum(self.n_states)[:-1])

    def _blocks(self, with_marginal: bool) -> Iterator[PairBlock]:
        first = np.cumsum(self.n_states) - self.n_states
        blocks = list(blocks_of_equal_states(self.n_states))
        for a, (left, r) in enumerate(blocks):
            rows = (first[left, None] + np.arange(r)).ravel()
            for right, s in blocks[: a + 1]:
                columns = (first[right, None] + np.arange(s)).ravel()
                shape = (len(left), r, len(right), s)
                tables = [counts[np.ix_(rows, columns)].reshape(shape) for counts in self.joint]
                for table in tables:
                    yield PairBlock(left, right, r * s * self.n_classes, table, True)
                if with_marginal:
                    yield PairBlock(left, right, r * s, sum(tables, np.zeros(shape, int)), False)


def count_pairs(
    parts: Iterable[tuple[IntArray, IntArray]], n_states: Sequence[int], n_classes: int
) -> PairCounts:
    """Count all pairs from rows that arrive in parts."""
    limits, width = np.asarray(n_states, dtype=np.int64), sum(n_states)
    of_class = np.zeros(n_classes, dtype=np.int64)
    joint = np.zeros((n_classes, width, width), dtype=np.int64)
    for X, y in parts:
        if len(X) and (X.min(initial=0) < 0 or (X.max(axis=0) >= limits).any()):
            raise ValueError("a state is not below its feature's number of states")
        if len(y) and not 0 <= y.min() <= y.max() < n_classes:
            raise ValueError("a class index is not below the number of classes")
        of_class += class_counts(y, n_classes)
        for begin in range(0, len(X), BLOCK_ROWS):
            rows = slice(begin, begin + BLOCK_ROWS)
            for c in range(n_classes):
                joint[c] += _products(X[rows][y[rows] == c], limits)
    return PairCounts(tuple(map(int, n_states)), of_class, joint)


def _products(X: IntArray, n_states: IntArray) -> IntArray:
    """Count pairs of states in rows few enough for exact float32 counts."""
    first = np.repeat(np.cumsum(n_states) - n_states, n_states)
    state = np.arange(n_states.sum()) - first
    feature = np.repeat(np.arange(len(n_states)), n_states)
    narrow = np.min_scalar_type(max(1, int(n_states.max(initial=1)) - 1))
    hot = np.empty((len(X), len(state)), dtype=np.float32)
    np.equal(X.astype(narrow)[:, feature], state.astype(narrow), out=hot, casting="unsafe")
    return (hot.T @ hot).astype(np.int64)
