"""The reference of a sum in training: numpy in double precision, clear and slow."""

import numpy as np

from bncc._types import AnyArray, FloatArray, IntArray
from bncc.boosting.descent import Pace, SumProblem
from bncc.boosting.sums import Scores, Unit

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


class NumpySumEngine:
    """A sum in training, see `bncc.boosting.descent.SumEngine`."""

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
        sums = read[-1] + (read[rows] * is_kept[:, :, None]).sum(axis=1)
        losses, slopes = _cross_entropy(sums, self._problem.y[batch])
        slopes *= weights[:, None] / len(batch)
        gradient = np.zeros_like(self._free)
        sample, table = np.nonzero(is_kept)
        np.add.at(gradient, rows[sample, table], slopes[sample])
        gradient[-1] = slopes.sum(axis=0)
        is_read = np.zeros(len(gradient), dtype=bool)
        is_read[rows[sample, table]] = True
        self._free[is_read] *= 1.0 - lr * self._pace.weight_decay
        is_read[-1] = self._pace.has_prior
        self._adam(gradient, is_read, lr)
        return float(losses @ weights)

    def _read(self) -> FloatArray:
        """Return what is added up: the scores, or what rounding leaves of them."""
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
    """Return the losses of samples, and their derivatives by the sums."""
    at = np.arange(len(y)), y
    sums = sums - sums.max(axis=1, keepdims=True)
    powers = np.exp(sums)
    totals = powers.sum(axis=1)
    slopes = powers / totals[:, None]
    slopes[at] -= 1.0
    return np.log(totals) - sums[at], slopes
