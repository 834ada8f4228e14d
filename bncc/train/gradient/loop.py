"""The training loop: shuffled samples, step decay, and late quantization."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.fixed_point import QFormat
from bncc.structure.graph import Structure
from bncc.train.checkpoint.callbacks import Callbacks
from bncc.train.checkpoint.snapshot import go_on, moment_of
from bncc.train.gradient.engine import Problem, check_converging
from bncc.train.gradient.engines import engine_for
from bncc.train.gradient.layout import class_tables
from bncc.train.hyperparameters import Hyperparameters
from bncc.train.maximum_likelihood import LogTables
from bncc.train.weights import drawn_order


def averaged(past: LogTables | None, now: LogTables, weight: float) -> LogTables:
    r"""
    Return an exponential moving average after one more epoch.

    .. math:: \bar\theta \leftarrow w \bar\theta + (1 - w)\, \theta

    An average of log-probabilities is normalized only up to a factor near 1 for each
    distribution.
    """
    if past is None or weight == 0:
        return now
    prior = weight * past[0] + (1 - weight) * now[0]
    pairs = zip(past[1], now[1], strict=True)
    return prior, tuple(weight * old + (1 - weight) * new for old, new in pairs)


EVERY_WAY = 256
"""Number of values of a random byte."""


class Jitter:
    """
    States of which some are moved to a neighbor, sampled again for every epoch.

    The lowest and the highest state are not moved out of range.

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

        Shapes: returns (n_samples, n_features) int32, each at most one away from its original.
        """
        noise = rng.integers(0, EVERY_WAY, self._X.shape, dtype=np.uint8)
        moved = self._X.astype(np.int32) + (noise < self._n_up) - (noise >= EVERY_WAY - self._n_up)
        moved = np.clip(moved, 0, self._highest)
        moved[:, self._stays] = self._X[:, self._stays]
        return moved


FormatChoice = Callable[[LogTables], QFormat]


def descend(
    X: IntArray,
    y: IntArray,
    structure: Structure,
    n_states: Sequence[int],
    start: LogTables,
    hyper: Hyperparameters,
    choose_format: FormatChoice | None,
    callbacks: Callbacks | None = None,
    is_ordered: Sequence[bool] = (),
    weights: FloatArray | None = None,
) -> LogTables:
    """
    Train log-probability tables; those without the class keep their initial values.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int; `weights` (n_samples,) float64;
    returns log_prior (n_classes,) float64, natural log-probabilities before quantization, <= 0;
    those of the last epoch, or their average.
    """
    callbacks = callbacks or Callbacks()
    part = class_tables(structure, start)
    if not part.n_tables:
        return start
    X, n_states, is_ordered = part.states(X), part.of(n_states), is_ordered and part.of(is_ordered)
    engine = engine_for(Problem(X, y, part.structure, n_states, part.start), hyper)
    rng = np.random.default_rng(hyper.seed)
    noise = np.zeros(X.shape, dtype=np.uint8)
    jitter = Jitter(X, n_states, is_ordered, hyper.jitter)
    switch = int(hyper.quantize_from * hyper.epochs)
    first, fmt, average = go_on(callbacks.start, engine, rng, engine.log_tables)
    for epoch in range(first, hyper.epochs):
        if epoch == switch and choose_format is not None:
            fmt = choose_format(part.put_back(engine.log_tables()))
            engine.quantize(fmt)
        if hyper.jitter:
            engine.see(jitter.draw(rng))
        order = drawn_order(len(y), weights, rng)
        if hyper.dropped_below:
            noise = rng.integers(0, 256, X.shape, dtype=np.uint8)
        passed = engine.epoch(order, noise, hyper.step(epoch))
        check_converging(passed, hyper.lr)
        if hyper.average:
            average = averaged(average, engine.log_tables(), hyper.average)
        moment = partial(moment_of, engine, epoch + 1, fmt, rng, average)
        if not callbacks.goes_on(epoch + 1, hyper.epochs, passed, moment):
            break
    return part.put_back(average or engine.log_tables())
