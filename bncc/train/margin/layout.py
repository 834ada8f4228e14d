"""The logits of all tables as one vector, and samples as a sparse matrix of what they read."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from bncc._types import FloatArray, IntArray
from bncc.structure.counts import family_rows
from bncc.structure.graph import Structure, n_rows
from bncc.train.maximum_likelihood import LogTables


@dataclass(frozen=True, eq=False)
class MarginLayout:
    """Tables below one another, one column per class; the prior is behind them."""

    structure: Structure  # The graph; its arcs may form cycles
    n_states: Sequence[int]  # Cardinality of each feature
    # Those whose tables can move: with the class as a parent, and more than one state
    features: tuple[int, ...]
    offset: IntArray  # (n_features,) int64: First row of the table of each of `features`
    # (n_distributions,) int64: start and size: First row and rows of each distribution: a feature's
    # states given a state of its parents
    start: IntArray
    size: IntArray

    @property
    def n_rows(self) -> int:
        """Rows of all tables."""
        return int(self.size.sum())

    def reads(self, X: IntArray) -> csr_array:
        """
        Return which rows of the tables samples read, as a matrix of ones.

        Shapes: `X` (n_samples, n_features) int; returns (n_samples, n_rows) csr_array of float64,
        one entry per sample and table: 12 bytes each.
        """
        n, width = len(X), len(self.features)
        columns = np.empty((n, width), dtype=np.int32)
        for k, (i, first) in enumerate(zip(self.features, self.offset, strict=True)):
            columns[:, k] = first + family_rows(X, self.structure, self.n_states, i)
        entries = np.ones(n * width), columns.ravel(), np.arange(n + 1) * width
        return csr_array(entries, shape=(n, self.n_rows))

    def pack(self, tables: LogTables) -> FloatArray:
        """
        Return the vector of tables that are normalized.

        Shapes: returns ((n_rows + 1) * n_classes,) float64, logits.
        """
        prior, of_features = tables
        moving = [of_features[i] for i in self.features]
        return np.concatenate([*moving, prior[None, :]]).ravel()

    def log_probabilities(self, logits: FloatArray) -> tuple[FloatArray, FloatArray]:
        """
        Normalize.

        Shapes: `logits` ((n_rows + 1) * n_classes,) float64; returns theta (n_rows, n_classes)
        float64, log-probabilities of states given those of parents and class; returns prior
        (n_classes,) float64, log-probabilities of the classes.
        """
        rows = logits.reshape(self.n_rows + 1, -1)
        theta, prior = rows[:-1], rows[-1] - rows[-1].max()
        if self.features:
            theta = theta - np.repeat(np.maximum.reduceat(theta, self.start), self.size, axis=0)
            theta = theta - np.log(self._totals(np.exp(theta)))
        return np.minimum(theta, 0.0), np.minimum(prior - np.log(np.exp(prior).sum()), 0.0)

    def slope(self, theta: FloatArray, by_theta: FloatArray, by_prior: FloatArray) -> FloatArray:
        """
        Return the derivative by logits from that by log-probabilities.

        Shapes: `theta` (n_rows, n_classes) float64; returns ((n_rows + 1) * n_classes,) float64,
        derivative by the vector of `pack`.
        """
        if self.features:
            by_theta = by_theta - np.exp(theta) * self._totals(by_theta)
        return np.concatenate([by_theta, by_prior[None, :]]).ravel()

    def unpack(self, logits: FloatArray) -> tuple[FloatArray, dict[int, FloatArray]]:
        """
        Return the tables that can move.

        Shapes: `logits` ((n_rows + 1) * n_classes,) float64; returns prior (n_classes,) float64,
        natural log-probabilities.
        """
        theta, prior = self.log_probabilities(logits)
        ends = np.append(self.offset, self.n_rows)[1:]
        rows = zip(self.features, self.offset, ends, strict=True)
        return prior, {i: theta[first:end] for i, first, end in rows}

    def _totals(self, values: FloatArray) -> FloatArray:
        """Return in each row the sum over its distribution."""
        return np.repeat(np.add.reduceat(values, self.start), self.size, axis=0)


def margin_layout_of(structure: Structure, n_states: Sequence[int]) -> MarginLayout:
    """Lay out the tables of a structure."""
    features = tuple(
        i for i, has_class in enumerate(structure.class_is_parent) if has_class and n_states[i] > 1
    )
    rows = np.array([n_rows(structure, n_states, i) for i in features], dtype=np.int64)
    states = np.array([n_states[i] for i in features], dtype=np.int64)
    size = np.repeat(states, rows // np.maximum(states, 1))
    return MarginLayout(
        structure, n_states, features, np.cumsum(rows) - rows, np.cumsum(size) - size, size
    )
