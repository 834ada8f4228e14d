"""Cut points that look at the readings alone: equal frequency, equal width, two halves."""

import numpy as np

from bncc._types import AnyArray, FloatArray


def quantile_cuts(values: AnyArray, n_bins: int) -> FloatArray:
    """
    Return cut points that put about equally many readings into each bin.

    Each cut is the midpoint between consecutive distinct values whose count of readings below
    comes nearest to its share; of two equally near, the upper. Cuts that coincide are one.

    Shapes: `values` (n,) int or float; returns (n_cuts,) float64, ascending, at most ``n_bins -
    1``.
    """
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) < 2:
        return np.zeros(0)
    below = np.cumsum(counts)[:-1]
    shares = np.arange(1, n_bins) * (len(values) / n_bins)
    upper = np.minimum(np.searchsorted(below, shares), len(below) - 1)
    lower = np.maximum(upper - 1, 0)
    is_lower = np.abs(shares - below[lower]) < np.abs(below[upper] - shares)
    chosen = np.unique(np.where(is_lower, lower, upper))
    cuts: FloatArray = (distinct[chosen].astype(np.float64) + distinct[chosen + 1]) / 2.0
    return cuts


def width_cuts(values: AnyArray, n_bins: int) -> FloatArray:
    """
    Return cut points that divide the range of the readings into bins of equal width.

    Shapes: `values` (n,) int or float; returns (n_cuts,) float64, ascending, ``n_bins - 1`` of
    them, or none when all readings are equal.
    """
    if not len(values) or values.min() == values.max():
        return np.zeros(0)
    return np.linspace(float(values.min()), float(values.max()), n_bins + 1)[1:-1]


def median_cuts(values: AnyArray) -> FloatArray:
    """
    Return the one cut that comes nearest to halving the readings.

    Shapes: `values` (n,) int or float; returns (n_cuts,) float64, one cut, or none when all
    readings are equal.
    """
    return quantile_cuts(values, 2)
