"""Joint training of boosted tables: Adam on the cross-entropy, finally of rounded costs."""

from dataclasses import dataclass
from math import cos, pi
from typing import Protocol

import numpy as np

from bncc._types import AnyArray, FloatArray, IntArray
from bncc.boosting.settings import BoostSettings
from bncc.boosting.sums import Scores, Unit
from bncc.progress import Watch

GATE_WEIGHT = 0.3
"""Weight of the loss of the tables before a gate; that of all tables has the remainder of 1."""


@dataclass(frozen=True, eq=False)
class SumProblem:
    """Samples and the rows that they read."""

    # (n_samples, n_tables) uint32: Indices of the rows of all tables, or of shared codewords
    rows: IntArray
    y: IntArray  # (n_samples,) int: Classes
    weights: FloatArray  # (n_samples,) float64: Weights with mean 1


@dataclass(frozen=True)
class Pace:
    """Settings of joint training, except the step size."""

    batch_size: int  # Samples per step
    dropout: float  # Probability that a table is dropped from a sample's sum
    weight_decay: float  # Fraction of lr by which a row shrinks in each step that reads it
    has_prior: bool  # True if the prior is trained too
    gate: int = 0  # Tables whose sum has a loss of its own, see `bncc.boosting.gate`; 0 for none

    @property
    def dropped_below(self) -> int:
        """Number of values of a noise byte, of 256, for which a table is dropped."""
        return round(256 * self.dropout)


class SumEngine(Protocol):
    """
    Boosted tables in training.

    A step moves only the rows that its batch has read; the moments of Adam of all others are kept.
    """

    def epoch(self, order: IntArray, noise: AnyArray, lr: float) -> float:
        """
        Take one step of Adam for each batch.

        Shapes: `order` (n,) int; `noise` (n, n_tables) uint8.
        """

    def quantize(self, unit: Unit) -> None:
        """Add up rounded costs from now on; gradients pass straight through the rounding."""

    def scores(self) -> Scores:
        """Return the scores before rounding."""


class Epochs:
    """
    The remaining epochs of a refit.

    The step size falls from ``settings.lr`` to ``settings.last_lr`` along half a cosine.
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
        """Compute some of the epochs, or none after a cancellation."""
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
