"""What each byte and each instruction buys on a target, beside the textbook classifier."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bncc._types import IntArray
from bncc.build.cross import Bench, find_bench
from bncc.build.inputs.cover import random_states
from bncc.build.inputs.raw import raw_of_table, representatives, states_of_raw
from bncc.build.machine import HarnessError
from bncc.build.meter import Cost, Footprint, Inputs, Meter, Metered
from bncc.build.targets import Target, Unit
from bncc.data.dataset import Table
from bncc.discretize.feature import states_of
from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.emit.estimate import Estimate
from bncc.emit.textbook import misfit, textbook_c
from bncc.errors import ToolchainError
from bncc.model.model import Model
from bncc.model.reference import costs

N_ROWS = 100
"""Inputs over which a decision is measured."""
SPEED_LEVELS = ("-O2", "-O3")
"""Levels of which the baseline's better one counts for speed; -Os counts for its flash."""


@dataclass(frozen=True)
class Measurement:
    """One classifier on one target.

    Parameters
    ----------
    optimization : str
        The compiler's level, for the baseline one per figure.
    flash, ram : int
        Bytes of the classifier with every library routine it pulls in.
    stack : int
        Bytes of the deepest stack of ``predict`` and, where there is one, ``raw``.
    costs : mapping of str to Cost
        By ``predict``, ``trusted`` and, where there is one, ``raw``.
    """

    optimization: str
    flash: int
    ram: int
    stack: int
    costs: Mapping[str, Cost]


@dataclass(frozen=True)
class TargetReport:
    """What was measured on one target.

    Parameters
    ----------
    target : str
        Its name.
    unit : {"instructions", "cycles"}
        What decisions are counted in.
    toolchain, simulator : str
        Names, versions, processor.
    ours : Measurement
        The classifier that bncc emits.
    baseline : Measurement or None
        The textbook classifier; None where it does not fit.
    baseline_misfit : str or None
        Why it does not fit.
    estimate : Estimate
        What was estimated before anything was built.
    """

    target: str
    unit: Unit
    toolchain: str
    simulator: str
    ours: Measurement
    baseline: Measurement | None
    baseline_misfit: str | None
    estimate: Estimate

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
    model: Model, table: Table | None = None, *, n_rows: int = N_ROWS, seed: int = 0
) -> Inputs:
    """Choose the inputs of a measurement.

    Parameters
    ----------
    model : Model
        The classifier.
    table : Table or None
        Readings to choose from; without, states are drawn uniformly and readings follow them.
    n_rows : int
        How many, at most all rows of the table.
    seed : int
        Of the choice.

    Returns
    -------
    Inputs
        The same for the same arguments.

    Raises
    ------
    DataError
        If a column is absent or its cells do not fit the feature.
    """
    rng = np.random.default_rng(seed)
    if table is not None:
        chosen = np.sort(rng.permutation(table.n_rows)[:n_rows])
        part = table.take(chosen)
        return Inputs(states_of(model.features, part), raw_of_table(model.features, part))
    drawn = random_states(model, n_rows, rng)
    values = [representatives(feature) for feature in model.features]
    R = np.column_stack([values[i][drawn[:, i]] for i in range(model.n_features)])
    # A state that no reading has is replaced by the one that its representative has.
    return Inputs(states_of_raw(model.features, R), R)


def bench_target(
    model: Model,
    target: Target,
    inputs: Inputs,
    *,
    compiler: str | None = None,
    simulator: str | None = None,
    opt_level: str = "-O2",
    emission: Emission | None = None,
) -> TargetReport:
    """Measure the emitted classifier and the textbook's on a target, in the same way.

    Parameters
    ----------
    model : Model
        The classifier.
    target : Target
        The machine.
    inputs : Inputs
        From `bench_inputs`.
    compiler, simulator : str or None
        Names; None for the preferred ones.
    opt_level : str
        Level of bncc's own C, for flash and speed alike; the baseline gets the best for each.
    emission : Emission or None
        What to measure; None for what ``bncc emit-c`` writes. Where it has no ``trusted``, that
        is measured in a second emission.

    Returns
    -------
    TargetReport
        Identical in every run with the same tools.

    Raises
    ------
    ToolchainError
        If a tool is missing, or bncc's C does not fit the target.
    HarnessError
        If a measured decision is not the model's.
    """
    (bench,) = find_bench(target, compiler=compiler, simulator=simulator)
    emission = emission or emit_c(model, EmitOptions(name="m"))
    reference = costs(model, inputs.X).argmin(axis=1)
    has_raw = any(feature.thresholds for feature in model.features)
    kept: tuple[Metered, ...] = ("predict", "raw") if has_raw else ("predict",)
    with Meter(model, emission.files, bench, opt_level) as meter:
        footprint, found = meter.footprint(kept), dict(meter.costs(inputs))
    if "trusted" not in found:
        # In a program of its own: at -Os one entry more is enough for gcc to inline less.
        more = emit_c(model, EmitOptions(name="m", entries=frozenset({"trusted"})))
        with Meter(model, more.files, bench, opt_level) as meter:
            found["trusted"] = meter.costs(Inputs(inputs.X))["trusted"]
    ours = _measurement(opt_level, footprint, _checked(found, reference, bench), kept)
    reason = misfit(model)
    baseline = None
    if reason is None:
        baseline, reason = _baseline(model, bench, inputs, kept, reference)
    return TargetReport(
        target=target.name,
        unit=target.unit,
        toolchain=str(bench.compiler),
        simulator=bench.place,
        ours=ours,
        baseline=baseline,
        baseline_misfit=reason,
        estimate=emission.estimate,
    )


def _baseline(
    model: Model, bench: Bench, inputs: Inputs, kept: Sequence[Metered], reference: IntArray
) -> tuple[Measurement | None, str | None]:
    """Measure the textbook classifier, or say why it does not fit."""
    book = textbook_c(model, "m", raw="raw" in kept)
    if bench.target.name == "avr" and book.avr_misfit:
        return None, book.avr_misfit
    measured = {}
    for level in (*SPEED_LEVELS, "-Os"):
        try:
            with Meter(model, book.files, bench, level) as meter:
                found = _checked(meter.costs(inputs), reference, bench)
                measured[level] = meter.footprint(kept), found
        except HarnessError:
            raise
        except ToolchainError as error:
            return None, str(error)
    footprint, small = measured["-Os"]
    best = {}
    for entry in small:
        means = {level: measured[level][1][entry].mean for level in SPEED_LEVELS}
        best[entry] = min(means, key=means.__getitem__)
    fastest = {entry: measured[level][1][entry] for entry, level in best.items()}
    words = ", ".join(f"{entry} {level}" for entry, level in best.items())
    stack = _measurement("-Os", footprint, small, kept).stack
    return Measurement(f"flash -Os, {words}", footprint.flash, footprint.ram, stack, fastest), None


def _measurement(
    level: str, footprint: Footprint, found: Mapping[str, Cost], kept: Iterable[Metered]
) -> Measurement:
    stack = max(found[entry].stack for entry in kept)
    return Measurement(level, footprint.flash, footprint.ram, stack, found)


def _checked(found: Mapping[str, Cost], reference: IntArray, bench: Bench) -> Mapping[str, Cost]:
    """Refuse figures of a program that decides otherwise than the model."""
    for entry, cost in found.items():
        wrong = int((cost.classes != reference).sum())
        if wrong:
            raise HarnessError(
                f"{entry} on {bench.place} decides {wrong} of {len(reference)} inputs otherwise "
                "than the model; run `bncc verify` for this target"
            )
    return found
