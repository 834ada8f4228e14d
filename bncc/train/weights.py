"""Row weights: given ones, and balanced classes."""

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.data.dataset import Dataset


def counting_rows(dataset: Dataset) -> Dataset:
    """Remove rows of weight 0, which do not affect training."""
    if dataset.weights is None or dataset.weights.all():
        return dataset
    return dataset.take(np.flatnonzero(dataset.weights))


def row_weights(dataset: Dataset, class_weight: str | None) -> FloatArray | None:
    r"""
    Return the weight of each row.

    Balanced classes have equal total weights:

    .. math:: w_n' = w_n \frac{N}{C_{there} \sum_{m: c_m = c_n} w_m}

    Shapes: returns (n_rows,) float64 or None, weights of mean 1; None for equal weights.
    """
    if dataset.weights is None and class_weight is None:
        return None
    weights = np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights
    if class_weight is not None:
        weights = weights / np.bincount(dataset.y, weights)[dataset.y]
    return np.asarray(weights / weights.mean())


def drawn_order(n: int, weights: FloatArray | None, rng: np.random.Generator) -> IntArray:
    """
    Sample the rows of an epoch: each in proportion to its weight, with random rounding.

    The mean over epochs is the weighted sum of the samples' gradients, in any engine; step sizes
    are the same as without weights.

    Shapes: `weights` (n,) float64 or None; returns (n,) int64, samples in random order.
    """
    if weights is None:
        return rng.permutation(n)
    return rng.permutation(_drawn(weights, rng))


def typical_samples(
    X: IntArray, y: IntArray, weights: FloatArray | None, seed: int
) -> tuple[IntArray, IntArray, IntArray | None]:
    """
    Sample rows for learners that support only whole counts.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int; `weights` (n_samples,) float64 or
    None; returns origin (n_samples,) int64 or None, the given row of each sample; None if they are
    identical.
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
