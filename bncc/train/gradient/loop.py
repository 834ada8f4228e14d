"""The training loop: samples shuffled, steps that decay, quantization in its later part."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.fixed_point import QFormat
from bncc.structure.graph import Structure
from bncc.train.checkpoint.callbacks import Course
from bncc.train.checkpoint.snapshot import go_on, moment_of
from bncc.train.gradient.average import averaged
from bncc.train.gradient.class_tables import class_tables
from bncc.train.gradient.engine import Problem, check_converging
from bncc.train.gradient.engines import engine_for
from bncc.train.gradient.jitter import Jitter
from bncc.train.hyperparameters import Hyperparameters
from bncc.train.maximum_likelihood import LogTables
from bncc.train.weights import drawn_order

FormatChoice = Callable[[LogTables], QFormat]

DECAY = 1e-3
"""The step falls to this fraction over the run, geometrically per epoch (S0's code)."""


def descend(
    X: IntArray,
    y: IntArray,
    structure: Structure,
    n_states: Sequence[int],
    start: LogTables,
    hyper: Hyperparameters,
    choose_format: FormatChoice | None,
    course: Course | None = None,
    is_ordered: Sequence[bool] = (),
    weights: FloatArray | None = None,
) -> LogTables:
    """
    Train log-probability tables; those without the class stay as they begin.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int; `weights` (n_samples,) float64;
    returns log_prior (n_classes,) float64, natural log-probabilities before quantization, <= 0;
    those of the last epoch, or their average.
    """
    course = course or Course()
    part = class_tables(structure, start)
    if not part.n_tables:
        return start
    X, n_states, is_ordered = part.states(X), part.of(n_states), is_ordered and part.of(is_ordered)
    engine = engine_for(Problem(X, y, part.structure, n_states, part.start), hyper)
    rng = np.random.default_rng(hyper.seed)
    noise = np.zeros(X.shape, dtype=np.uint8)
    jitter = Jitter(X, n_states, is_ordered, hyper.jitter)
    switch = int(hyper.quantize_from * hyper.epochs)
    first, fmt, average = go_on(course.start, engine, rng, engine.log_tables)
    for epoch in range(first, hyper.epochs):
        if epoch == switch and choose_format is not None:
            fmt = choose_format(part.put_back(engine.log_tables()))
            engine.quantize(fmt)
        if hyper.jitter:
            engine.see(jitter.draw(rng))
        order = drawn_order(len(y), weights, rng)
        if hyper.dropped_below:
            noise = rng.integers(0, 256, X.shape, dtype=np.uint8)
        passed = engine.epoch(order, noise, hyper.lr * DECAY ** (epoch / max(hyper.epochs - 1, 1)))
        check_converging(passed, hyper.lr)
        if hyper.average:
            average = averaged(average, engine.log_tables(), hyper.average)
        moment = partial(moment_of, engine, epoch + 1, fmt, rng, average)
        if not course.goes_on(epoch + 1, hyper.epochs, passed, moment):
            break
    return part.put_back(average or engine.log_tables())
