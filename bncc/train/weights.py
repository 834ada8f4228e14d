"""How much rows count: by weights of their own, and with their classes in balance."""

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.data.dataset import Dataset


def counting_rows(dataset: Dataset) -> Dataset:
    """Leave out rows of weight 0, of which nothing is to be learned."""
    if dataset.weights is None or dataset.weights.all():
        return dataset
    return dataset.take(np.flatnonzero(dataset.weights))


def row_weights(dataset: Dataset, class_weight: str | None) -> FloatArray | None:
    r"""
    Return how much each row counts.

    With classes in balance, those of a class c together count as those of any other:

    .. math:: w_n' = w_n \frac{N}{C_{there} \sum_{m: c_m = c_n} w_m}

    Shapes: returns (n_rows,) float64 or None, weights of mean 1; None where all rows count alike.
    """
    if dataset.weights is None and class_weight is None:
        return None
    weights = np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights
    if class_weight is not None:
        weights = weights / np.bincount(dataset.y, weights)[dataset.y]
    return np.asarray(weights / weights.mean())


def drawn_order(n: int, weights: FloatArray | None, rng: np.random.Generator) -> IntArray:
    """
    Draw the samples of an epoch: each as often as it counts, rounded by chance.

    The mean over epochs is the weighted sum of the samples' slopes, whatever computes them; steps
    stay as large as they are without weights.

    Shapes: `weights` (n,) float64 or None; returns (n,) int64, samples in random order.
    """
    if weights is None:
        return rng.permutation(n)
    return rng.permutation(_drawn(weights, rng))


def typical_samples(
    X: IntArray, y: IntArray, weights: FloatArray | None, seed: int
) -> tuple[IntArray, IntArray, IntArray | None]:
    """
    Draw samples for what can only count whole ones.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int; `weights` (n_samples,) float64 or
    None; returns origin (n_samples,) int64 or None, which of the given ones each is; None where
    they are these.
    """
    if weights is None:
        return X, y, None
    drawn = _drawn(weights, np.random.default_rng(seed))
    return X[drawn], y[drawn], drawn


def _drawn(weights: FloatArray, rng: np.random.Generator) -> IntArray:
    """Return samples, each the floor or the ceiling of its weight times, as many as there are."""
    n = len(weights)
    ends = np.minimum(np.cumsum(weights), n)
    ends[-1] = n
    begun = np.floor(ends + rng.random())
    return np.repeat(np.arange(n), np.diff(begun, prepend=0.0).astype(np.int64))
