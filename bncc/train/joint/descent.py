"""Descent on structure and tables together: S0's expected loss, one structure per minibatch."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from bncc._types import FloatArray
from bncc.fixed_point import QFormat, quantize
from bncc.structure.graph import Structure
from bncc.train.checkpoint.callbacks import Callbacks
from bncc.train.checkpoint.snapshot import go_on, moment_of
from bncc.train.gradient.engine import (
    Chance,
    Learned,
    StructureEngine,
    StructureProblem,
    check_converging,
)
from bncc.train.gradient.engines import structure_engine_for
from bncc.train.gradient.loop import Jitter, averaged
from bncc.train.hyperparameters import Hyperparameters
from bncc.train.joint.candidate_layout import entries_of, flash_bits_of
from bncc.train.maximum_likelihood import LogTables
from bncc.train.weights import drawn_order


def narrowed(tables: LogTables, widths: Sequence[int], fmt: QFormat) -> LogTables:
    """
    Bound tables so that their quantized costs have few bits relative to the smallest of each row.

    A constant common to all classes of a row changes no decision, and the compiler removes it. So a
    cost of w bits exceeds the smallest of its row by at most ``2**w - 1``.
    """
    prior, full = tables
    bounded = []
    for table, width in zip(full, widths, strict=True):
        least = quantize(table.max(axis=1, keepdims=True), fmt)
        bounded.append(np.maximum(table, -(least + 2.0**width - 1) * 2.0**-fmt.frac_bits))
    return prior, tuple(bounded)


FIRST_TAU, LAST_TAU = 10.0, 0.1
"""Temperature of the relaxed indicators, geometrically per epoch (S0, section 4.1)."""
GUMBEL_EPSILON = 1e-6
"""Keeps both logarithms finite (S0's code)."""

StructureFormat = Callable[[Structure, LogTables], QFormat]


def descend_structure(
    problem: StructureProblem,
    hyper: Hyperparameters,
    rng: np.random.Generator,
    choose_format: StructureFormat | None,
    callbacks: Callbacks | None = None,
) -> Learned:
    r"""
    Learn a structure and its tables.

    .. math::
       L = E_{s \sim \phi}[L_{HYB}(\theta, s)]
           + \lambda_{MS} \sum_{ik} p_{ik} |\theta_{ik}|

    The size :math:`|\theta_{ik}|` of a table is in entries, or in bits of flash with its entries
    from the start of the epoch. The prior is left out, since its size is constant.

    References
    ----------
    S0, sections 3.1 to 3.3; S3, equations 17 and 18.
    """
    callbacks = callbacks or Callbacks()
    engine = structure_engine_for(problem, hyper)
    jitter = Jitter(problem.X, problem.n_states, problem.is_ordered, hyper.jitter)
    switch = int(hyper.quantize_from * hyper.epochs)
    first, fmt, average = go_on(callbacks.start, engine, rng, lambda: engine.learned()[1])
    learned = None if average is None else (engine.learned()[0], average)
    for epoch in range(first, hyper.epochs):
        if epoch == switch and choose_format is not None:
            fmt = choose_format(*engine.learned())
            engine.quantize(fmt)
        if hyper.jitter:
            engine.see(jitter.draw(rng))
        tau = FIRST_TAU * (LAST_TAU / FIRST_TAU) ** hyper.done(epoch)
        prices = _prices(problem, engine, fmt)
        passed = engine.epoch(chance_of(problem, hyper, rng), hyper.step(epoch), tau, prices)
        check_converging(passed, hyper.lr)
        if hyper.average:
            learned = _averaged(learned, engine.learned(), hyper.average)
        average = None if learned is None else learned[1]
        moment = partial(moment_of, engine, epoch + 1, fmt, rng, average)
        if not callbacks.goes_on(epoch + 1, hyper.epochs, passed, moment):
            break
    structure, tables = learned or engine.learned()
    if problem.widths and choose_format is not None:
        widths = engine.widths()
        if fmt is None:
            # It ended before widths were learned: the largest one loses least accuracy.
            fmt, widths = choose_format(structure, tables), (problem.widths[-1],) * len(widths)
        tables = narrowed(tables, widths, fmt)
    return structure, tables


def _prices(problem: StructureProblem, engine: StructureEngine, fmt: QFormat | None) -> FloatArray:
    """Return the penalty of the table of each slot in the next epoch."""
    sizes = entries_of(problem.layout, problem.n_classes)
    if problem.priced_bits is not None and problem.size_weight > 0:
        # Without a format all tables have the same bits: only rounding shows which need few.
        sizes = (
            sizes * problem.priced_bits
            if fmt is None
            else flash_bits_of(problem.layout, engine.costs())
        )
    return (problem.size_weight * sizes).astype(np.float32)


def _averaged(past: Learned | None, now: Learned, weight: float) -> Learned:
    """Return the average of tables since the structure last changed."""
    structure, tables = now
    before = past[1] if past is not None and past[0] == structure else None
    return structure, averaged(before, tables, weight)


def chance_of(
    problem: StructureProblem, hyper: Hyperparameters, rng: np.random.Generator
) -> Chance:
    """Sample the random numbers of an epoch."""
    n_samples = len(problem.X)
    order = drawn_order(n_samples, problem.weights, rng)
    noise = np.zeros(problem.X.shape, dtype=np.uint8)
    if hyper.dropped_below:
        noise = rng.integers(0, 256, problem.X.shape, dtype=np.uint8)
    n_batches = -(-n_samples // hyper.batch_size)
    uniform = rng.random((n_batches, *problem.layout.offset.shape))
    gumbel = -np.log(-np.log(uniform + GUMBEL_EPSILON) + GUMBEL_EPSILON)
    return Chance(order, noise, gumbel)
