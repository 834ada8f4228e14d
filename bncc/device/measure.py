"""One classifier measured on one target: bncc's, the textbook's, and where features are missing."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from bncc._types import BoolArray, IntArray
from bncc.device.cross import Toolchain
from bncc.device.machine import HarnessError
from bncc.device.meter import METERED, Cost, Footprint, Inputs, Meter, Metered
from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.emit.options import WRITTEN
from bncc.emit.provenance import code_digest, code_files
from bncc.emit.textbook import misfit, textbook_c
from bncc.errors import MisfitError, ModelError, ToolchainError
from bncc.model import missing
from bncc.model.model import Model
from bncc.model.reference import costs
from bncc.resources import Optimize, Resources, Span

SPEED_LEVELS = ("-O2", "-O3")
"""Levels of which the baseline's better one counts for speed; -Os counts for its flash."""


@dataclass(frozen=True)
class Measurement:
    """One classifier on one target."""

    optimization: str  # The compiler's level, for the baseline one per figure
    # flash and ram: Bytes of the entry points in `kept` with every library routine that they pull
    # in
    flash: int
    ram: int
    stack: int  # Bytes of the deepest stack of these
    # By ``predict``, ``trusted`` and, where there is one, ``raw``, and what else was emitted
    costs: Mapping[str, Cost]
    kept: tuple[Metered, ...] = ("predict",)  # Entry points whose bytes are counted


def measure_ours(
    model: Model,
    bench: Toolchain,
    inputs: Inputs,
    *,
    opt_level: str = "-O2",
    options: EmitOptions = WRITTEN,
    emission: Emission | None = None,
    with_trusted: bool = True,
    kept: tuple[Metered, ...] | None = None,
    others: Inputs | None = None,
) -> Measurement:
    """Measure the classifier that bncc emits."""
    emission = emission or emit_c(model, options)
    kept = _kept(model, emission) if kept is None else kept
    with Meter(model, code_files(emission.files, emission.name), bench, opt_level) as meter:
        footprint, found = meter.footprint(kept), dict(meter.costs(inputs))
        if others is not None:
            more = _checked(meter.costs(others), model, others, bench)
            found = {entry: _wider(cost, more[entry]) for entry, cost in found.items()}
    if with_trusted and "trusted" not in found:
        # In a program of its own: at -Os one entry more is enough for gcc to inline less.
        second = emit_c(model, replace(options, entries=options.entries | {"trusted"}))
        with Meter(model, second.files, bench, opt_level) as meter:
            found["trusted"] = meter.costs(Inputs(inputs.X))["trusted"]
    return _measurement(opt_level, footprint, _checked(found, model, inputs, bench), kept)


def resources_of(
    model: Model,
    bench: Toolchain,
    inputs: Inputs,
    emission: Emission,
    entries: tuple[str, ...],
    *,
    optimize: Optimize,
    opt_level: str,
    others: Inputs | None = None,
) -> Resources:
    """Measure entry points of emitted C."""
    measured = measure_ours(
        model,
        bench,
        inputs,
        opt_level=opt_level,
        emission=emission,
        with_trusted=False,
        kept=tuple(METERED[entry] for entry in entries),
        others=others,
    )
    return as_resources(measured, bench, entries, emission, optimize)


def as_resources(
    measured: Measurement,
    bench: Toolchain,
    entries: tuple[str, ...],
    emission: Emission,
    optimize: Optimize,
) -> Resources:
    """Return a measurement of some entry points as resources."""
    costs = {entry: measured.costs[METERED[entry]] for entry in entries}
    spans = {entry: Span(cost.min, cost.mean, cost.max) for entry, cost in costs.items()}
    is_cycles = bench.target.unit == "cycles"
    return Resources(
        target=bench.target.name,
        flash=measured.flash,
        ram=measured.ram,
        stack=measured.stack,
        instructions=None if is_cycles else spans,
        cycles=spans if is_cycles else None,
        entries=entries,
        optimize=optimize,
        opt_level=measured.optimization,
        how="measured",
        toolchain=f"{bench.compiler}, {bench.place}",
        code=code_digest(emission.files, emission.name),
    )


def measure_textbook(
    model: Model, bench: Toolchain, inputs: Inputs, kept: tuple[Metered, ...] | None = None
) -> tuple[Measurement | None, str | None]:
    """Measure the textbook classifier of a model, each figure at the level that suits it best."""
    reason = misfit(model)
    if reason is not None:
        return None, reason
    kept = tuple(dict.fromkeys(_counterpart(entry) for entry in kept or _kept(model)))
    book = textbook_c(model, "m", raw="raw" in kept)
    if bench.target.name == "avr" and book.avr_misfit:
        return None, book.avr_misfit
    measured = {}
    for level in (*SPEED_LEVELS, "-Os"):
        try:
            with Meter(model, book.files, bench, level) as meter:
                found = _checked(meter.costs(inputs), model, inputs, bench)
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
    level = f"flash -Os, {words}"
    return Measurement(level, footprint.flash, footprint.ram, stack, fastest, kept), None


def _kept(model: Model, emission: Emission | None = None) -> tuple[Metered, ...]:
    """
    Return the entry points whose bytes are counted.

    Where readings are compared directly, those that take states are another classifier.
    """
    if emission is not None and emission.layout.direct:
        return ("raw",)
    has_raw = any(feature.thresholds for feature in model.features)
    return ("predict", "raw") if has_raw else ("predict",)


def _counterpart(entry: Metered) -> Metered:
    """Return the entry point of the textbook classifier that takes what an entry point takes."""
    if entry == "raw_checked":
        return "raw"
    return entry if entry in ("predict", "trusted", "raw") else "predict"


def _measurement(
    level: str, footprint: Footprint, found: Mapping[str, Cost], kept: tuple[Metered, ...]
) -> Measurement:
    stack = max(found[entry].stack for entry in kept)
    return Measurement(level, footprint.flash, footprint.ram, stack, found, kept)


def _wider(cost: Cost, other: Cost) -> Cost:
    """Return the figures of some inputs, with the extremes of others as well."""
    return replace(
        cost,
        min=min(cost.min, other.min),
        max=max(cost.max, other.max),
        stack=max(cost.stack, other.stack),
    )


def _checked(
    found: Mapping[str, Cost], model: Model, inputs: Inputs, bench: Toolchain
) -> Mapping[str, Cost]:
    """Refuse figures of a program that decides otherwise than the model."""
    reference = costs(model, inputs.X).argmin(axis=1)
    for entry, cost in found.items():
        expected = reference
        if entry == "missing" and inputs.gaps is not None:
            expected = missing.predict(model, inputs.X, inputs.gaps)
        # A checked entry point answers readings beyond its limits with an error.
        refused = (cost.classes < 0) & (entry == "raw_checked")
        wrong = int(((cost.classes != expected) & ~refused).sum())
        if wrong:
            raise HarnessError(
                f"{entry} on {bench.place} differs from the model on {wrong} of {len(reference)} "
                "inputs; run `bncc verify` for this target"
            )
    return found


SHARE = 0.3
"""Part of the features that is missing by chance."""


def drawn_gaps(X: IntArray) -> BoolArray:
    """Return which features of which rows are missing by chance, the same for equal shapes."""
    return np.random.default_rng(0).random(X.shape) < SHARE


def missing_cost(
    model: Model, bench: Toolchain, inputs: Inputs, *, opt_level: str, options: EmitOptions
) -> Cost | None:
    """Measure ``m_predict_missing``, 30 % of the features missing by chance."""
    gaps = drawn_gaps(inputs.X)
    try:
        emission = emit_c(model, replace(options, entries=options.entries | {"missing"}))
        with Meter(model, emission.files, bench, opt_level) as meter:
            cost = meter.costs(Inputs(inputs.X, gaps=gaps))["missing"]
    except (MisfitError, ModelError):
        return None
    wrong = int((cost.classes != missing.predict(model, inputs.X, gaps)).sum())
    if wrong:
        raise HarnessError(
            f"missing on {bench.place} differs from the model on {wrong} of {len(gaps)} inputs; "
            "run `bncc verify --with missing` for this target"
        )
    return cost
