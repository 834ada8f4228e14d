"""Permutation importance of features, and recursive elimination by it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.boosting.sums import Samples, Scores, rows_of
from bncc.structure.decision_tables import GridTable

KEPT = 0.7
"""Fraction of the features that a step of the elimination keeps."""

Grown = tuple[Sequence[GridTable], Scores]
"""Boosted tables and their scores."""


def permutation_importance(
    tables: Sequence[GridTable], scores: Scores, samples: Samples, rng: np.random.Generator
) -> FloatArray:
    """
    Return by how much the log-loss rises if the values of a feature are permuted.

    Shapes: returns (n_features,) float64, in nats; 0 for a feature that no table reads.
    """
    rows = rows_of(tables, samples.X)
    total = scores.prior + sum(scores.rows[row] for row in rows.T)
    before = _log_loss(total, samples)
    found = np.zeros(samples.X.shape[1])
    for feature in sorted({feature for grid in tables for feature in grid.features}):
        X, other, begin = samples.X.copy(), total.copy(), 0
        X[:, feature] = rng.permutation(X[:, feature])
        for row, grid in zip(rows.T, tables, strict=True):
            if feature in grid.features:
                other += scores.rows[begin + grid.rows(X)] - scores.rows[row]
            begin += grid.n_rows
        found[feature] = _log_loss(other, samples) - before
    return found


def _log_loss(sums: FloatArray, samples: Samples) -> float:
    """Return the weighted mean loss of sums (n_samples, n_classes)."""
    above = sums - sums.max(axis=1, keepdims=True)
    losses = np.log(np.exp(above).sum(axis=1)) - above[np.arange(len(above)), samples.y]
    return float((losses * samples.weights).sum() / len(losses))


def most_important(
    samples: Samples, n_inputs: int, grow: Callable[[Samples], Grown], rng: np.random.Generator
) -> Samples:
    """
    Return samples in which only the most important features vary.

    Recursive feature elimination: tables are grown and evaluated on the same samples, and of the
    features that they read, the least important ones become constant, until `n_inputs` are left.
    """
    varying = np.flatnonzero(samples.X.min(axis=0) < samples.X.max(axis=0))
    while len(varying) > n_inputs:
        found = permutation_importance(*grow(samples), samples, rng)[varying]
        n_kept = min(int(KEPT * len(varying)), np.count_nonzero(found))
        best = np.argsort(-found, kind="stable")[: max(n_inputs, n_kept)]
        varying = varying[np.sort(best)]
        samples = _reading(samples, varying)
    return samples


def _reading(samples: Samples, features: IntArray) -> Samples:
    """Return samples whose other features are constant."""
    X = np.zeros_like(samples.X)
    X[:, features] = samples.X[:, features]
    return replace(samples, X=X)
