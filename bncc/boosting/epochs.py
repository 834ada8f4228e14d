"""The epochs of a refit: parts that different engines compute, on one schedule of steps."""

from math import cos, pi

import numpy as np

from bncc.boosting.descent import SumEngine
from bncc.boosting.settings import BoostSettings
from bncc.progress import Watch


class Epochs:
    """
    What is left of a refit.

    The step falls from ``settings.lr`` to ``settings.last_lr`` along half a cosine.
    """

    def __init__(
        self, settings: BoostSettings, n_epochs: int, shape: tuple[int, int], watch: Watch
    ) -> None:
        self._settings, self._n_epochs, self._shape = settings, n_epochs, shape
        self._watch = watch
        self._rng = np.random.default_rng([settings.seed, 1])
        self._done = 0
        self._goes_on = True

    def run(self, engine: SumEngine, n_epochs: int) -> None:
        """Compute some of them, or none where an early end was asked for."""
        for _ in range(n_epochs):
            if not self._goes_on:
                return
            order = self._rng.permutation(self._shape[0])
            noise = self._rng.integers(0, 256, self._shape, dtype=np.uint8)
            engine.epoch(order, noise, self._lr())
            self._done += 1
            self._goes_on = self._watch.goes_on("epoch", self._done, self._n_epochs)

    def _lr(self) -> float:
        first, last = self._settings.lr, self._settings.last_lr
        share = self._done / max(1, self._n_epochs - 1)
        return last + (first - last) * (1.0 + cos(pi * share)) / 2.0
