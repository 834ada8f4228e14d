"""First and second derivatives of the samples' losses by the sums of their classes."""

from typing import Protocol

import numpy as np

from bncc._types import AnyArray, FloatArray, IntArray
from bncc.boosting.sums import Samples


class Slopes(Protocol):
    """What finds derivatives of weighted cross-entropies of some samples."""

    def of(self, sums: AnyArray) -> AnyArray:
        """
        Return the derivatives: w (p - 1[y]), then w p (1 - p).

        Shapes: `sums` (n_samples, n_classes) float; returns (n_samples, 2 * n_classes) float, all
        first ones, then all second ones.
        """

    def by_row(self, slopes: AnyArray, row: IntArray, n_rows: int) -> tuple[FloatArray, FloatArray]:
        """
        Add up derivatives by the row of a table.

        Shapes: `slopes` (n_samples, 2 * n_classes) float; `row` (n_samples,) int; returns gradient,
        curvature (n_rows, n_classes) float64, sums of the first, and of the second ones.
        """


class NumpySlopes:
    """The reference."""

    def __init__(self, samples: Samples) -> None:
        self._samples = samples

    def of(self, sums: AnyArray) -> AnyArray:
        """Return the derivatives; see `Slopes`."""
        p = np.exp(sums - sums.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        slopes = np.concatenate([p, p * (1.0 - p)], axis=1)
        slopes[np.arange(len(p)), self._samples.y] -= 1.0
        slopes *= self._samples.weights.astype(slopes.dtype)[:, None]
        return slopes

    def by_row(self, slopes: AnyArray, row: IntArray, n_rows: int) -> tuple[FloatArray, FloatArray]:
        """Add up derivatives by the row of a table; see `Slopes`."""
        lanes = [np.bincount(row, lane, n_rows) for lane in slopes.T]
        sums: FloatArray = np.stack(lanes, axis=1, dtype=np.float64)
        gradient, curvature = np.split(sums, 2, axis=1)
        return gradient, curvature
