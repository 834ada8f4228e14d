"""Cut points: of equal frequency, of equal width, by the entropy of the classes."""

import numpy as np

from bncc._types import AnyArray, FloatArray, IntArray


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


_TIE = 1e-10
"""Relative difference below which two sums of entropies are one; the first cut wins the tie."""


def mdl_cuts(values: AnyArray, y: IntArray, n_classes: int) -> FloatArray:
    """
    Return the cut points of one numeric column.

    Shapes: `values` (n,) int or float; `y` (n,) int; returns (n_cuts,) float64, ascending midpoints
    between consecutive distinct values; empty when no cut pays.
    """
    distinct, inverse = np.unique(values, return_inverse=True)
    if len(distinct) < 2:
        return np.zeros(0)
    cells = inverse.astype(np.int64) * n_classes + y
    counts = np.bincount(cells, minlength=len(distinct) * n_classes).reshape(-1, n_classes)
    starts = _block_starts(counts)
    sums = np.zeros((len(starts) + 1, n_classes), dtype=np.int64)
    np.cumsum(np.add.reduceat(counts, starts, axis=0), axis=0, out=sums[1:])
    splits = np.sort(_splits(sums, _xlogx(len(y))))
    after = starts[splits]
    cuts: FloatArray = (distinct[after - 1].astype(np.float64) + distinct[after]) / 2.0
    return cuts


def _block_starts(counts: IntArray) -> IntArray:
    """Return the first distinct value of each block; blocks meet at boundary points."""
    is_pure = (counts > 0).sum(axis=1) == 1
    label = counts.argmax(axis=1)
    same = is_pure[1:] & is_pure[:-1] & (label[1:] == label[:-1])
    return np.concatenate([[0], np.flatnonzero(~same) + 1])


def _xlogx(n: int) -> FloatArray:
    """Return x log2 x for the integers 0 .. n: all that an entropy of counts is made of."""
    x = np.arange(n + 1, dtype=np.float64)
    x[2:] *= np.log2(x[2:])
    x[1:2] = 0.0
    return x


def _splits(sums: IntArray, xlogx: FloatArray) -> IntArray:
    """
    Return the accepted block boundaries, in any order.

    `sums` are the class counts below each boundary. N E of a set of counts is
    ``xlogx[N] - sum(xlogx[counts])``.
    """
    accepted = []
    waiting = [(0, len(sums) - 1)]
    while waiting:
        first, last = waiting.pop()
        if last - first < 2:
            continue
        below = sums[first + 1 : last] - sums[first]
        above = sums[last] - sums[first + 1 : last]
        bits = _bits(below, xlogx) + _bits(above, xlogx)
        best = int(np.argmax(bits <= bits.min() * (1.0 + _TIE) + _TIE))
        if _pays(below[best], above[best], xlogx):
            middle = first + 1 + best
            accepted.append(middle)
            waiting += [(first, middle), (middle, last)]
    return np.array(accepted, dtype=np.int64)


def _bits(counts: IntArray, xlogx: FloatArray) -> FloatArray:
    """Return N E, the entropy in bits of all N readings together, of each row of counts."""
    return np.asarray(xlogx[counts.sum(axis=-1)] - xlogx[counts].sum(axis=-1))


def _pays(below: IntArray, above: IntArray, xlogx: FloatArray) -> bool:
    """Return whether a split saves more bits than it takes to describe."""
    n, n1, n2 = int((below + above).sum()), int(below.sum()), int(above.sum())
    k, k1, k2 = (int((c > 0).sum()) for c in (below + above, below, above))
    bits, bits1, bits2 = (float(_bits(c, xlogx)) for c in (below + above, below, above))
    # log2(3**k - 2), written so that k in the hundreds does not overflow.
    tree = k * np.log2(3.0) + np.log2(1.0 - 2.0 * 3.0**-k)
    delta = tree - (k * bits / n - k1 * bits1 / n1 - k2 * bits2 / n2)
    return bool(bits - bits1 - bits2 > np.log2(n - 1) + delta)
