"""The cut that gains most: second-order boosting of all classes at once."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bncc._types import AnyArray, FloatArray, IntArray
from bncc.boosting.bins import Bins


@dataclass(frozen=True)
class Cut:
    """Where a table may be cut next."""

    feature: int  # The feature
    bin: int  # Its last bin on the lower side
    gain: float  # How much lower it makes twice the loss, to second order; > 0


class BestCuts(Protocol):
    """Finds the best cut of each of some features."""

    def __call__(
        self, slopes: AnyArray, cells: IntArray, n_cells: int, features: IntArray
    ) -> list[Cut]:
        """
        Return the best cuts.

        Shapes: `slopes` (n_samples, 2 * n_classes) float32; `cells` (n_samples,) int64; `features`
        (m,) int.
        """


def numpy_best_cuts(bins: Bins, l2: float) -> BestCuts:
    """
    Return the reference, in numpy.

    A cell's samples with slopes G and H lower twice the loss by ``G**2 / (H + l2)`` in each class;
    a cut gains what both its sides do beyond what the cell does, summed over cells and classes.
    """

    def best_cuts(slopes: AnyArray, cells: IntArray, n_cells: int, features: IntArray) -> list[Cut]:
        found = []
        for f in features.tolist():
            n_bins = len(bins.cuts[f]) + 1
            sums = np.zeros((n_cells, n_bins, slopes.shape[1]))
            np.add.at(sums, (cells, bins.codes[f]), slopes)
            left = np.cumsum(sums, axis=1)
            whole = left[:, -1:]
            gain = _worth(left, l2) + _worth(whole - left, l2) - _worth(whole, l2)
            of_bins = gain.sum(axis=0)[:-1]
            if len(of_bins) and of_bins.max() > 0.0:
                best = int(of_bins.argmax())
                found.append(Cut(f, best, float(of_bins[best])))
        return found

    return best_cuts


def _worth(sums: FloatArray, l2: float) -> FloatArray:
    """Return how much lower leaves make twice the loss, summed over classes."""
    gradient, curvature = np.split(sums, 2, axis=-1)
    worth: FloatArray = (gradient**2 / (curvature + l2)).sum(axis=-1)
    return worth
