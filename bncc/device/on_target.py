"""What each byte and each instruction buys on a target, beside the textbook classifier."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.data.dataset import Table
from bncc.device.cross import find_toolchain
from bncc.device.inputs.cover import random_states
from bncc.device.measure import (
    Measurement,
    as_resources,
    drawn_gaps,
    measure_ours,
    measure_textbook,
    missing_cost,
)
from bncc.device.meter import METERED, Cost, Inputs
from bncc.discretize.feature import states_of
from bncc.discretize.readings import raw_of_table, representatives, states_of_raw
from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.emit.options import WRITTEN
from bncc.lower.estimate import Estimate
from bncc.model.model import Model
from bncc.resources import Resources
from bncc.targets.base import Target, Unit

N_ROWS = 100
"""Inputs over which a decision is measured."""


@dataclass(frozen=True)
class TargetReport:
    """What was measured on one target."""

    target: str  # Its name
    unit: Unit  # What decisions are counted in
    toolchain: str  # toolchain and simulator: Names, versions, processor
    simulator: str
    ours: Measurement  # The classifier that bncc emits
    baseline: Measurement | None  # The textbook classifier; None where it does not fit
    baseline_misfit: str | None  # Why it does not fit
    estimate: Estimate  # What was estimated before anything was built
    missing: Cost | None = None  # Of a decision with missing features, where that was measured
    # Of the entry points that were asked for; None where none were named
    resources: Resources | None = None

    @property
    def ratio(self) -> Mapping[str, float | None]:
        """How many times the baseline needs what ours does: flash, and each entry point."""
        kinds = ("flash", "predict", "trusted", "raw")
        if self.baseline is None:
            return dict.fromkeys(kinds)
        ratios: dict[str, float | None] = {"flash": self.baseline.flash / self.ours.flash}
        for entry in kinds[1:]:
            both = self.ours.costs.get(entry), self.baseline.costs.get(entry)
            ratios[entry] = both[1].mean / both[0].mean if both[0] and both[1] else None
        return ratios


def bench_inputs(
    model: Model,
    table: Table | None = None,
    *,
    n_rows: int = N_ROWS,
    seed: int = 0,
    with_gaps: bool = False,
) -> Inputs:
    """Choose the inputs of a measurement."""
    if table is not None:
        part = bench_rows(table, n_rows=n_rows, seed=seed)
        return _inputs(
            states_of(model.features, part), raw_of_table(model.features, part), with_gaps
        )
    drawn = random_states(model, n_rows, np.random.default_rng(seed))
    values = [representatives(feature) for feature in model.features]
    R = np.column_stack([values[i][drawn[:, i]] for i in range(model.n_features)])
    # A state that no reading has is replaced by the one that its representative has.
    return _inputs(states_of_raw(model.features, R), R, with_gaps)


def _inputs(X: IntArray, R: FloatArray, with_gaps: bool) -> Inputs:
    return Inputs(X, R, drawn_gaps(X) if with_gaps else None)


def bench_rows(table: Table, *, n_rows: int = N_ROWS, seed: int = 0) -> Table:
    """Choose the rows of a measurement, whatever the model."""
    rng = np.random.default_rng(seed)
    return table.take(np.sort(rng.permutation(table.n_rows)[:n_rows]))


def bench_target(
    model: Model,
    target: Target,
    inputs: Inputs,
    *,
    compiler: str | None = None,
    simulator: str | None = None,
    opt_level: str = "-O2",
    options: EmitOptions = WRITTEN,
    emission: Emission | None = None,
    with_missing: bool = False,
    entries: tuple[str, ...] = (),
) -> TargetReport:
    """Measure the emitted classifier and the textbook's on a target, in the same way."""
    (bench,) = find_toolchain(target, compiler=compiler, simulator=simulator)
    emission = emission or emit_c(model, options)
    kept = tuple(METERED[entry] for entry in entries) or None
    ours = measure_ours(
        model, bench, inputs, opt_level=opt_level, options=options, emission=emission, kept=kept
    )
    baseline, reason = measure_textbook(model, bench, inputs, kept)
    return TargetReport(
        target=target.name,
        unit=target.unit,
        toolchain=str(bench.compiler),
        simulator=bench.place,
        ours=ours,
        baseline=baseline,
        baseline_misfit=reason,
        estimate=emission.estimate,
        missing=missing_cost(model, bench, inputs, opt_level=opt_level, options=options)
        if with_missing
        else None,
        resources=as_resources(ours, bench, entries, emission, options.optimize)
        if entries
        else None,
    )
