"""One descent to a soft margin: from counts of samples, by L-BFGS, iteration by iteration."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import fmin_l_bfgs_b
from scipy.sparse import csr_array

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.train.margin.layout import MarginLayout
from bncc.train.margin.loss import margin_loss
from bncc.train.maximum_likelihood import LogTables, ml_log_tables

MEMORY = 10
"""Pairs of steps and slopes that L-BFGS remembers."""
MOST_SEARCHED = 20
"""Evaluations in a line search, at most."""

Seen = Callable[[FloatArray], object]
"""Called with the logits after each iteration."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples, and what they read."""

    reads: csr_array  # (n, n_rows) csr_array: As `MarginLayout.reads` gives them
    X: IntArray  # (n, n_features) int: States
    y: IntArray  # (n,) int: Class indices
    # (n,) float64 or None: How much each sample counts; None where all count alike
    weights: FloatArray | None

    def among(self, chosen: BoolArray) -> "Samples":
        """
        Return some of the samples.

        Shapes: `chosen` (n,) bool.
        """
        weights = None if self.weights is None else self.weights[chosen]
        rows = np.flatnonzero(chosen)
        return Samples(self.reads[rows], self.X[rows], self.y[rows], weights)


class MarginDescent:
    """A descent on the logits of the tables of those classes that have samples."""

    def __init__(self, layout: MarginLayout, samples: Samples, n_classes: int) -> None:
        self._layout, self._samples = layout, samples
        self._classes, self._y = np.unique(samples.y, return_inverse=True)
        n = len(samples.y)
        total = n if samples.weights is None else samples.weights.sum()
        self._weights = (np.ones(n) if samples.weights is None else samples.weights) / total
        self._counted = ml_log_tables(
            samples.X, samples.y, layout.structure, layout.n_states, n_classes,
            weights=None if samples.weights is None else self._weights * n,
        )  # fmt: skip
        prior, tables = self._counted
        there = prior[self._classes], tuple(table[:, self._classes] for table in tables)
        self.begin = layout.pack(there)

    def run(self, lambda_: float, eta: float, iterations: int, seen: Seen) -> FloatArray:
        """Descend."""
        if len(self._classes) < 2:
            return self.begin
        logits, _, _ = fmin_l_bfgs_b(
            self.loss, self.begin, args=(lambda_, eta), m=MEMORY, factr=0.0, pgtol=0.0,
            maxiter=iterations, maxfun=iterations * MOST_SEARCHED + 1, maxls=MOST_SEARCHED,
            callback=seen,
        )  # fmt: skip
        return np.asarray(logits)

    def loss(self, logits: FloatArray, lambda_: float, eta: float) -> tuple[float, FloatArray]:
        """Return the mean Huber hinge of the samples, and its slope."""
        theta, prior = self._layout.log_probabilities(logits)
        log_joint = self._samples.reads @ theta + prior
        loss, rows, slopes = margin_loss(log_joint, self._y, self._weights, lambda_, eta)
        by_theta = self._samples.reads[rows].T @ slopes
        return loss, self._layout.slope(theta, by_theta, slopes.sum(axis=0))

    def right(self, logits: FloatArray, held: Samples) -> float:
        """Return how much of other samples is decided rightly, the first class on ties."""
        theta, prior = self._layout.log_probabilities(logits)
        decided = self._classes[(held.reads @ theta + prior).argmax(axis=1)]
        is_right = decided == held.y
        return float(is_right.sum() if held.weights is None else held.weights[is_right].sum())

    def tables(self, logits: FloatArray) -> LogTables:
        """Return the tables that logits stand for."""
        counted_prior, counted = self._counted
        of_classes, moved = self._layout.unpack(logits)
        prior, tables = counted_prior.copy(), [table.copy() for table in counted]
        prior[self._classes] = of_classes
        for i, table in moved.items():
            tables[i][:, self._classes] = table
        return prior, tuple(tables)
