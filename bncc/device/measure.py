"""Measurement of one classifier on one target, rejected if its decisions are wrong."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.data.dataset import Table
from bncc.device.cross import Toolchain
from bncc.device.inputs.cover import random_states
from bncc.device.machine import HarnessError
from bncc.device.meter import METERED, Cost, Footprint, Inputs, Meter, Metered
from bncc.device.sources import Sources
from bncc.discretize.feature import states_of
from bncc.discretize.readings import raw_of_table, representatives, states_of_raw
from bncc.model import missing
from bncc.model.adapted import taught
from bncc.model.model import Model
from bncc.model.reference import costs, scores
from bncc.model.rules import RULES, own_entries
from bncc.resources import OF_SCORES, Optimize, Resources, Span

N_ROWS = 100
"""Number of inputs over which a decision is measured."""
SHARE = 0.3
"""Fraction of randomly missing features."""
SPEED_LEVELS = ("-O2", "-O3")
"""Optimization levels of the baseline, the faster of which counts; -Os counts for its flash."""


def bench_inputs(
    model: Model,
    table: Table | None = None,
    *,
    n_rows: int = N_ROWS,
    seed: int = 0,
    some_missing: bool = False,
) -> Inputs:
    """Choose the inputs of a measurement."""
    if table is not None:
        part = bench_rows(table, n_rows=n_rows, seed=seed)
        return _inputs(
            model, states_of(model.features, part), raw_of_table(model.features, part), some_missing
        )
    drawn = random_states(model, n_rows, np.random.default_rng(seed))
    values = [representatives(feature) for feature in model.inputs]
    R = np.column_stack([values[i][drawn[:, i]] for i in range(len(model.inputs))])
    # A state without readings is replaced by that of its representative.
    return _inputs(model, states_of_raw(model.features, R), R, some_missing)


def _inputs(model: Model, X: IntArray, R: FloatArray, some_missing: bool) -> Inputs:
    steps = scores(model, X) if own_entries(model) else None
    return Inputs(X, R, drawn_missing(X) if some_missing else None, steps)


def bench_rows(table: Table, *, n_rows: int = N_ROWS, seed: int = 0) -> Table:
    """Choose the rows of a measurement, whatever the model."""
    rng = np.random.default_rng(seed)
    return table.take(np.sort(rng.permutation(table.n_rows)[:n_rows]))


def drawn_missing(X: IntArray) -> BoolArray:
    """Return the mask of randomly missing features, the same for equal shapes."""
    return np.random.default_rng(0).random(X.shape) < SHARE


@dataclass(frozen=True)
class Measurement:
    """One classifier on one target."""

    optimization: str  # The compiler's level; for the baseline, one per figure
    # flash and ram: Bytes of the entry points in `kept` with all library routines that they link
    flash: int
    ram: int
    stack: int  # Largest stack of these, in bytes
    # By ``predict``, ``trusted``, ``raw`` if available, and other emitted entry points
    costs: Mapping[str, Cost]
    kept: tuple[Metered, ...] = ("predict",)  # Entry points included in flash


def measure(
    model: Model,
    built: Sources,
    bench: Toolchain,
    inputs: Inputs,
    *,
    opt_level: str,
    kept: tuple[Metered, ...],
    others: Inputs | None = None,
    trusting: Sources | None = None,
    only_kept: bool = False,
) -> Measurement:
    """
    Measure the C of a model, with ``trusted`` from another program if given.

    With `only_kept`, other entry points than those in `kept` are not timed.
    """
    only = _called(kept) if only_kept else None
    with Meter(built, bench, opt_level) as meter:
        footprint, found = meter.footprint(kept), dict(meter.costs(inputs, only))
        if others is not None:
            more = _checked(meter.costs(others, only), model, others, bench)
            found = {entry: _wider(cost, more[entry]) for entry, cost in found.items()}
    if trusting is not None:
        with Meter(trusting, bench, opt_level) as meter:
            found["trusted"] = meter.costs(Inputs(inputs.X))["trusted"]
    return _measurement(opt_level, footprint, _checked(found, model, inputs, bench), kept)


def measure_memory(
    built: Sources, bench: Toolchain, opt_level: str, kept: tuple[Metered, ...]
) -> Footprint:
    """Measure the memory of C alone, of which `measure` would build a program."""
    with Meter(built, bench, opt_level) as meter:
        meter.link()
        return meter.footprint(kept)


def measure_best(
    model: Model, built: Sources, bench: Toolchain, inputs: Inputs, kept: tuple[Metered, ...]
) -> Measurement:
    """Measure the C of a model, each figure at the optimization level that suits it best."""
    measured = {}
    for level in (*SPEED_LEVELS, "-Os"):
        with Meter(built, bench, level) as meter:
            found = _checked(meter.costs(inputs), model, inputs, bench)
            measured[level] = meter.footprint(kept), found
    footprint, small = measured["-Os"]
    best = {}
    for entry in small:
        means = {level: measured[level][1][entry].mean for level in SPEED_LEVELS}
        best[entry] = min(means, key=means.__getitem__)
    fastest = {entry: measured[level][1][entry] for entry, level in best.items()}
    words = ", ".join(f"{entry} {level}" for entry, level in best.items())
    stack = _measurement("-Os", footprint, small, kept).stack
    level = f"flash -Os, {words}"
    return Measurement(level, footprint.flash, footprint.ram, stack, fastest, kept)


def as_resources(
    measured: Measurement,
    bench: Toolchain,
    entries: tuple[str, ...],
    optimize: Optimize,
    code: str,
) -> Resources:
    """Return a measurement of some entry points as resources of the C with a digest."""
    costs = {entry: measured.costs[METERED[entry]] for entry in entries}
    spans = {entry: Span(cost.min, cost.mean, cost.max) for entry, cost in costs.items()}
    is_cycles = bench.target.unit == "cycles"
    cycles = spans if is_cycles else None
    if bench.clock is not None:
        timed = {entry: cost.cycles for entry, cost in costs.items() if cost.cycles is not None}
        cycles = {entry: Span(each.min, each.mean, each.max) for entry, each in timed.items()}
    return Resources(
        target=bench.target.name,
        flash=measured.flash,
        ram=measured.ram,
        stack=measured.stack,
        instructions=None if is_cycles else spans,
        cycles=cycles,
        entries=entries,
        optimize=optimize,
        opt_level=measured.optimization,
        how="measured",
        toolchain=f"{bench.compiler}, {bench.place}",
        code=code,
        core=None if bench.clock is None else bench.clock.counted,
    )


def missing_cost(
    model: Model, built: Sources, bench: Toolchain, inputs: Inputs, *, opt_level: str
) -> Cost:
    """Measure ``m_predict_missing``, with 30 % of the features missing at random."""
    is_missing = drawn_missing(inputs.X)
    with Meter(built, bench, opt_level) as meter:
        cost = meter.costs(Inputs(inputs.X, is_missing=is_missing))["missing"]
    wrong = int((cost.classes != missing.predict(model, inputs.X, is_missing)).sum())
    if wrong:
        raise HarnessError(
            f"missing on {bench.place} differs from the model on {wrong} of {len(is_missing)} "
            "inputs; run `bncc verify --with missing` for this target"
        )
    return cost


def _measurement(
    level: str, footprint: Footprint, found: Mapping[str, Cost], kept: tuple[Metered, ...]
) -> Measurement:
    stack = max(found[entry].stack for entry in _called(kept))
    return Measurement(level, footprint.flash, footprint.ram, stack, found, kept)


def _called(kept: tuple[Metered, ...]) -> tuple[Metered, ...]:
    """Return the entry points that a caller of some calls: with scores, if these take any."""
    takes_scores = not {METERED[entry] for entry in OF_SCORES}.isdisjoint(kept)
    return (*kept, "scores") if takes_scores and "scores" not in kept else kept


def _wider(cost: Cost, other: Cost) -> Cost:
    """Return the figures of some inputs, with the extremes of others as well."""
    return replace(
        cost,
        min=min(cost.min, other.min),
        max=max(cost.max, other.max),
        stack=max(cost.stack, other.stack),
        cycles=cost.cycles.wider(other.cycles) if cost.cycles and other.cycles else None,
    )


def _checked(
    found: Mapping[str, Cost], model: Model, inputs: Inputs, bench: Toolchain
) -> Mapping[str, Cost]:
    """Reject figures of a program whose decisions differ from the model's."""
    reference = costs(model, inputs.X).argmin(axis=1)
    for entry, cost in found.items():
        expected = reference
        if entry == "missing" and inputs.is_missing is not None:
            expected = missing.predict(model, inputs.X, inputs.is_missing)
        if entry in RULES:
            assert inputs.steps is not None
            expected = RULES[entry].decide(model, inputs.steps, inputs.R)
        if entry == "adaptation":
            assert inputs.steps is not None
            expected = taught(model, inputs.X, inputs.steps)
        # A checked entry point returns an error for readings beyond its limits.
        refused = (cost.classes < 0) & (entry == "raw_checked")
        wrong = int(((cost.classes != expected) & ~refused).sum())
        if wrong:
            raise HarnessError(
                f"{entry} on {bench.place} differs from the model on {wrong} of {len(reference)} "
                "inputs; run `bncc verify` for this target"
            )
    return found
