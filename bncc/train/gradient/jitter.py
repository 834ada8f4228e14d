"""Readings that fall beside their bin: what a sensor's noise does to states, done in training."""

from collections.abc import Sequence

import numpy as np

from bncc._types import IntArray

EVERY_WAY = 256
"""Values of a byte of chance."""


class Jitter:
    """
    States of which some are moved to a neighbour, anew for every epoch.

    What the lowest or the highest state would become stays as it is.

    Shapes: `X` (n_samples, n_features) int.
    """

    def __init__(
        self, X: IntArray, n_states: Sequence[int], is_ordered: Sequence[bool], chance: float
    ) -> None:
        self._X = X
        self._highest = np.array(n_states, dtype=np.int32) - 1
        self._n_up = round(EVERY_WAY * chance / 2)
        self._stays = np.flatnonzero(~np.array(is_ordered or [True] * X.shape[1]))

    def draw(self, rng: np.random.Generator) -> IntArray:
        """
        Return the states of an epoch.

        Shapes: returns (n_samples, n_features) int32, each at most one from where it was.
        """
        noise = rng.integers(0, EVERY_WAY, self._X.shape, dtype=np.uint8)
        moved = self._X.astype(np.int32) + (noise < self._n_up) - (noise >= EVERY_WAY - self._n_up)
        moved = np.clip(moved, 0, self._highest)
        moved[:, self._stays] = self._X[:, self._stays]
        return moved
