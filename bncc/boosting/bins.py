"""States in bins: each feature's candidate cuts, few enough to be counted for every table."""

from dataclasses import dataclass

import numpy as np

from bncc._types import AnyArray, IntArray

MOST_BINS = 256
"""A bin is a byte. Features with more states get bins of about as many samples."""


@dataclass(frozen=True, eq=False)
class Bins:
    """The bin of every state that has been seen."""

    # (n_features, n_samples) uint8: Bins; a feature's follow the order of its states
    codes: AnyArray
    # Of each feature: the state at which bin b ends, halfway to the next one seen. Empty where all
    # states are equal.
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
