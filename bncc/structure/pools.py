"""Who may become a parent of whom: the features before one in an order, or all others."""

from collections.abc import Iterator

import numpy as np

from bncc._types import IntArray

Pool = Iterator[tuple[int, IntArray]]
"""Each feature once, with the features that may become its parents."""


def earlier(order: IntArray) -> Pool:
    """
    Pair each feature with those that come before it, so that no choice has a cycle.

    Shapes: `order` (n_features,) int64; yields pool (k,) int64, the features before it, in their
    order.
    """
    for k, feature in enumerate(order):
        yield int(feature), order[:k]


def others(n_features: int) -> Pool:
    """
    Pair each feature with all others; choices among them may have cycles.

    Shapes: yields pool (n_features - 1,) int64, the others, ascending.

    References
    ----------
    S0, section 4 (pseudo-TAN).
    """
    everyone = np.arange(n_features)
    for feature in range(n_features):
        yield feature, np.delete(everyone, feature)
