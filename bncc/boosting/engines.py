"""Engines of the expensive steps: C on one core if it can be built, or numpy."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from bncc._types import AnyArray, FloatArray, IntArray
from bncc.boosting.branches import LeafCuts, numpy_leaf_cuts
from bncc.boosting.cuts import BestCuts, Bins, numpy_best_cuts
from bncc.boosting.descent import GATE_WEIGHT, Pace, SumEngine, SumProblem
from bncc.boosting.native_engine import (
    NativeLeafCuts,
    NativeSlopes,
    NativeSumEngine,
    native_best_cuts,
)
from bncc.boosting.settings import BoostSettings
from bncc.boosting.sums import NumpySlopes, Samples, Scores, Slopes, Unit
from bncc.errors import ToolchainError

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


class NumpySumEngine:
    """Boosted tables in training, see `bncc.boosting.descent.SumEngine`."""

    def __init__(self, problem: SumProblem, start: Scores, pace: Pace) -> None:
        self._problem, self._pace = problem, pace
        self._free = np.vstack([start.rows, start.prior])
        self._first, self._second = np.zeros((2, *self._free.shape))
        self._n_steps = 0
        self._unit: Unit | None = None

    def epoch(self, order: IntArray, noise: AnyArray, lr: float) -> float:
        """Take one step of Adam for each batch; see `SumEngine`."""
        size, total = self._pace.batch_size, 0.0
        for begin in range(0, len(order), size):
            batch = order[begin : begin + size]
            is_kept = noise[begin : begin + size] >= self._pace.dropped_below
            total += self._step(batch, is_kept, lr)
        return total / len(order)

    def quantize(self, unit: Unit) -> None:
        """Add up rounded costs from now on; see `SumEngine`."""
        self._unit = unit

    def scores(self) -> Scores:
        """Return the scores before rounding; see `SumEngine`."""
        return Scores(self._free[:-1].copy(), self._free[-1].copy())

    def _step(self, batch: IntArray, is_kept: AnyArray, lr: float) -> float:
        """Take one step, and return the sum of the losses."""
        rows, weights = self._problem.rows[batch], self._problem.weights[batch]
        read = self._read()
        y, terms, gate = self._problem.y[batch], read[rows] * is_kept[:, :, None], self._pace.gate
        losses, slopes = _cross_entropy(read[-1] + terms.sum(axis=1), y)
        early = np.zeros_like(slopes)
        if gate:
            sooner, early = _cross_entropy(read[-1] + terms[:, :gate].sum(axis=1), y)
            losses = (1.0 - GATE_WEIGHT) * losses + GATE_WEIGHT * sooner
            slopes, early = (1.0 - GATE_WEIGHT) * slopes, GATE_WEIGHT * early
        shares = weights[:, None] / len(batch)
        slopes, early = slopes * shares, early * shares
        gradient = np.zeros_like(self._free)
        sample, table = np.nonzero(is_kept)
        of_table = slopes[sample] + early[sample] * (table < gate)[:, None]
        np.add.at(gradient, rows[sample, table], of_table)
        gradient[-1] = (slopes + early).sum(axis=0)
        is_read = np.zeros(len(gradient), dtype=bool)
        is_read[rows[sample, table]] = True
        self._free[is_read] *= 1.0 - lr * self._pace.weight_decay
        is_read[-1] = self._pace.has_prior
        self._adam(gradient, is_read, lr)
        return float(losses @ weights)

    def _read(self) -> FloatArray:
        """Return the terms of a sum: the scores, or the scores after rounding."""
        if self._unit is None:
            return self._free
        tables = self._unit.costs(self._free[:-1], self._unit.most)
        return np.vstack([tables, self._unit.costs(self._free[-1])]) * -self._unit.nats

    def _adam(self, gradient: FloatArray, is_read: AnyArray, lr: float) -> None:
        self._n_steps += 1
        slopes = gradient[is_read]
        first = BETA1 * self._first[is_read] + (1.0 - BETA1) * slopes
        second = BETA2 * self._second[is_read] + (1.0 - BETA2) * slopes**2
        root = np.sqrt(second / (1.0 - BETA2**self._n_steps)) + EPSILON
        self._free[is_read] -= lr / (1.0 - BETA1**self._n_steps) * first / root
        self._first[is_read], self._second[is_read] = first, second


def _cross_entropy(sums: FloatArray, y: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the losses of samples, and their derivatives with respect to the sums."""
    at = np.arange(len(y)), y
    sums = sums - sums.max(axis=1, keepdims=True)
    powers = np.exp(sums)
    totals = powers.sum(axis=1)
    slopes = powers / totals[:, None]
    slopes[at] -= 1.0
    return np.log(totals) - sums[at], slopes


T = TypeVar("T")


def best_cuts_for(bins: Bins, settings: BoostSettings, n_classes: int) -> BestCuts:
    """Return the search for the best cuts."""
    return _quicker(
        settings.engine,
        lambda: native_best_cuts(bins, settings.l2, n_classes, settings.rows),
        lambda: numpy_best_cuts(bins, settings.l2),
    )


def leaf_cuts_for(bins: Bins, settings: BoostSettings, n_classes: int) -> LeafCuts:
    """Return the search for the best cut of a leaf."""

    def native() -> LeafCuts:
        return NativeLeafCuts(bins, settings.l2, n_classes)

    return _quicker(settings.engine, native, lambda: numpy_leaf_cuts(bins, settings.l2))


def slopes_for(samples: Samples, engine: str | None) -> Slopes:
    """Return the derivatives of losses."""

    def native() -> Slopes:
        return NativeSlopes(samples)

    def reference() -> Slopes:
        return NumpySlopes(samples)

    return _quicker(engine, native, reference)


def sum_engine_for(problem: SumProblem, start: Scores, pace: Pace, engine: str | None) -> SumEngine:
    """Return the training engine of boosted tables."""

    def native() -> SumEngine:
        return NativeSumEngine(problem, start, pace)

    def reference() -> SumEngine:
        return NumpySumEngine(problem, start, pace)

    return _quicker(engine, native, reference)


def _quicker(engine: str | None, native: Callable[[], T], reference: Callable[[], T]) -> T:
    """Return the requested engine, or C if it can be built."""
    if engine != "numpy":
        try:
            return native()
        except ToolchainError:
            if engine == "native":
                raise
    return reference()
