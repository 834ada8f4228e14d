"""Permutation importance of features, and recursive elimination by it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.boosting.sums import Samples, Scores, fold_of_samples, rows_of, taken
from bncc.progress import Progress, silence
from bncc.structure.decision_tables import GridTable

KEPT = 0.7
"""Fraction of the features that a step of the elimination keeps."""
BINS = 32
"""Bins of a feature in the elimination, apart from that of its smallest state."""

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


def elimination(
    samples: Samples,
    grow: Callable[[Samples], Grown],
    seed: int,
    progress: Progress = silence,
) -> tuple[IntArray, ...]:
    """
    Return ever fewer features, each time the most important ones first, until one is left.

    Recursive feature elimination: tables are grown without each fold of the samples in turn and
    evaluated on it, and the features of the least importance become constant.
    """
    rng, fold_of = np.random.default_rng([seed, 4]), fold_of_samples(samples, seed)
    samples = replace(samples, X=_binned(samples.X))
    ranked, found = varying(samples), []
    n_all = len(ranked)
    while len(ranked) > 1:
        total = np.zeros(samples.X.shape[1])
        for k in range(int(fold_of.max()) + 1):
            rest, held = taken(samples, fold_of != k), taken(samples, fold_of == k)
            if len(varying(rest)):
                total += permutation_importance(*grow(rest), held, rng)
        importance = total[ranked]
        order = np.argsort(-importance, kind="stable")
        found.append(ranked[order])
        n_kept = min(int(KEPT * len(ranked)), np.count_nonzero(importance))
        ranked = np.sort(found[-1][: max(1, n_kept)])
        samples = reading(samples, ranked)
        progress(1 - len(ranked) / n_all, f"columns, {len(ranked)} left")
    return (*found, ranked)


def _binned(X: IntArray) -> IntArray:
    """
    Return states (n_samples, n_features) in bins of nearly as many samples.

    The smallest state has a bin of its own, so that each column that varies does so in bins.
    """
    cuts = np.quantile(X, np.arange(BINS) / BINS, axis=0, method="lower")
    columns = zip(cuts.T, X.T, strict=True)
    binned = [np.searchsorted(np.unique(of), x).astype(X.dtype) for of, x in columns]
    return np.stack(binned, axis=1)


def varying(samples: Samples) -> IntArray:
    """Return the features of more than one state."""
    return np.flatnonzero(samples.X.min(axis=0) < samples.X.max(axis=0))


def most_important(eliminated: Sequence[IntArray], n: int) -> IntArray:
    """Return the n features that are left, by what was eliminated, or all if there are fewer."""
    *_, ranked = (each for each in eliminated if len(each) >= n or each is eliminated[0])
    return np.sort(ranked[:n])


def reading(samples: Samples, features: IntArray) -> Samples:
    """Return samples whose other features are constant."""
    X = np.zeros_like(samples.X)
    X[:, features] = samples.X[:, features]
    return replace(samples, X=X)
