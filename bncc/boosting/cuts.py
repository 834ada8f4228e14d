"""Candidate cuts of features, and the cut with the largest gain: second-order boosting."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bncc._types import AnyArray, FloatArray, IntArray

MOST_BINS = 256
"""Number of values of a byte: features with more states get bins of equal frequency."""


@dataclass(frozen=True, eq=False)
class Bins:
    """The bin of every state in the training samples."""

    # (n_features, n_samples) uint8: Bins; a feature's follow the order of its states
    codes: AnyArray
    # End of bin b by feature: a state halfway to the next one in the samples. Empty if all states
    # are equal.
    cuts: tuple[IntArray, ...]

    @property
    def n_bins(self) -> IntArray:
        """Bins of each feature, (n_features,) int64, 1 .. 256."""
        return np.array([len(cuts) + 1 for cuts in self.cuts], dtype=np.int64)


def bins_of(X: IntArray) -> Bins:
    """
    Sort states into bins.

    Shapes: `X` (n_samples, n_features) int.
    """
    cuts = tuple(_cuts(X[:, f]) for f in range(X.shape[1]))
    codes = np.empty(X.shape[::-1], dtype=np.uint8)
    for f, of_feature in enumerate(cuts):
        codes[f] = np.searchsorted(of_feature, X[:, f], side="left")
    return Bins(codes, cuts)


def _cuts(x: IntArray) -> IntArray:
    states, counts = np.unique(x.astype(np.int64), return_counts=True)
    halfway = (states[:-1] + states[1:]) // 2
    if len(states) <= MOST_BINS:
        return halfway
    share = np.cumsum(counts)[:-1] / len(x)
    wanted = np.arange(1, MOST_BINS) / MOST_BINS
    return np.unique(halfway[np.minimum(np.searchsorted(share, wanted), len(halfway) - 1)])


@dataclass(frozen=True)
class Cut:
    """A candidate cut of a table."""

    feature: int  # The feature
    bin: int  # Its last bin on the lower side
    gain: float  # Reduction of twice the loss, to second order; > 0


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

    A cell whose samples have slopes G and H lowers twice the loss by ``G**2 / (H + l2)`` in each
    class; the gain of a cut is that of both sides minus that of the cell, over cells and classes.
    """

    def best_cuts(slopes: AnyArray, cells: IntArray, n_cells: int, features: IntArray) -> list[Cut]:
        found = []
        for f in features.tolist():
            n_bins = len(bins.cuts[f]) + 1
            sums = np.zeros((n_cells, n_bins, slopes.shape[1]))
            np.add.at(sums, (cells, bins.codes[f]), slopes)
            left = np.cumsum(sums, axis=1)
            whole = left[:, -1:]
            gain = worth_of(left, l2) + worth_of(whole - left, l2) - worth_of(whole, l2)
            of_bins = gain.sum(axis=0)[:-1]
            if len(of_bins) and of_bins.max() > 0.0:
                best = int(of_bins.argmax())
                found.append(Cut(f, best, float(of_bins[best])))
        return found

    return best_cuts


def worth_of(sums: FloatArray, l2: float) -> FloatArray:
    """Return the reduction of twice the loss by leaves, summed over classes."""
    gradient, curvature = np.split(sums, 2, axis=-1)
    worth: FloatArray = (gradient**2 / (curvature + l2)).sum(axis=-1)
    return worth
