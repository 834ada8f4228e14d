"""The C of a model on a device: emitted here, then verified, measured and bounded in `device/`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bncc._types import IntArray
from bncc.data.dataset import Table
from bncc.device.agreement import Agreement, verify_sources
from bncc.device.batch import Batch
from bncc.device.bounds import measure_bounds
from bncc.device.cross import Toolchain, find_toolchain
from bncc.device.inputs.cases import Effort
from bncc.device.inputs.samples import Part, hostile_parts, metered_parts
from bncc.device.machine import HarnessError
from bncc.device.measure import (
    Measurement,
    as_resources,
    measure,
    measure_best,
    measure_memory,
    missing_cost,
)
from bncc.device.meter import METERED, Cost, Footprint, Inputs, Metered
from bncc.device.sample_agreement import SampleAgreement, verify_samples
from bncc.device.samples import (
    SampleTimes,
    StreamCost,
    StreamSources,
    stream_cost,
    times_of,
)
from bncc.device.simulators.unicorn import Clock
from bncc.device.sources import Sources, sources
from bncc.emit.emitter import Emission, EmitOptions, emit_as, emit_c
from bncc.emit.front_end import front_end_c
from bncc.emit.options import WRITTEN
from bncc.emit.provenance import code_digest, code_files
from bncc.emit.textbook import misfit, textbook_c
from bncc.errors import MisfitError, ModelError, OptionError, ToolchainError
from bncc.lower.cost_model import LEVELS
from bncc.lower.estimate import Estimate
from bncc.lower.sample_stream import sample_type_of
from bncc.model.model import Model
from bncc.program.pipeline import optimize, program_of
from bncc.recordings.front_end import FrontEnd
from bncc.resources import Counts, Optimize, ProvedBound, Resources, SampleCounts
from bncc.targets.base import Target, Unit
from bncc.toolchain.tools import Tool

BATCH_FLOW = "speed-256"
"""Tables are fewer and larger: their rows' positions are computed for a whole block at once."""


def sources_of(model: Model, emission: Emission) -> Sources:
    """Return the code of an emission, ready to be built."""
    checked = emission.layout.range_check
    limits = () if checked is None else checked.limits
    layout = emission.layout
    rules = (
        layout.filter, layout.confidence, layout.unknown, layout.counters, layout.adaptation,
    )  # fmt: skip
    largest = None if all(rule is None for rule in rules) else layout.largest_sum
    return sources(model, code_files(emission.files, emission.name), limits, largest)


def stream_sources(front_end: FrontEnd, name: str = "features") -> StreamSources:
    """Return the C of a front end, ready to be built."""
    sample_type = sample_type_of(front_end.form).removesuffix("_t")
    files = front_end_c(front_end, name)
    return StreamSources(name, files, len(front_end.channels), sample_type, front_end.types)


def decision_sources(front_end: FrontEnd, emission: Emission) -> StreamSources:
    """Return the C of a model with a front end, ready to be built."""
    sample_type = sample_type_of(front_end.form).removesuffix("_t")
    name, files = emission.name, code_files(emission.files, emission.name)
    is_rated = emission.layout.confidence is not None
    knows = emission.layout.unknown is not None
    counters = None if emission.layout.counters is None else emission.layout.counters.layout
    adapts = emission.layout.adaptation is not None
    types = ("int16", *("uint8",) * (2 * is_rated + knows + (counters is not None) + adapts))
    return StreamSources(
        name, files, len(front_end.channels), sample_type, types, True,
        is_filtered=emission.layout.filter is not None, is_rated=is_rated,
        knows=knows, counters=counters, n_classes=emission.program.n_classes, adapts=adapts,
    )  # fmt: skip


def verify(
    model: Model,
    target: str = "host",
    *,
    table: Table | None = None,
    compiler: str | None = None,
    simulator: str | None = None,
    opt_level: str = "-O2",
    sanitize: bool = False,
    n_random: int = 1000,
    exhaustive: bool = False,
    seed: int = 0,
    emission: Emission | None = None,
    also: Emission | None = None,
) -> Agreement:
    """
    Build the emitted C for a target, run it there, and compare it with the integer model.

    Parameters
    ----------
    model : Model
        The reference.
    target : str
        ``host``, or a key of `bncc.targets.TARGETS`.
    table : Table or None
        Readings to test in addition to generated ones.
    compiler : str or None
        A compiler's name, or for ``host`` its path; ``"all"`` for every one found; None for the
        first.
    simulator : str or None
        Likewise; without effect on ``host``.
    opt_level : str
        ``-O0`` .. ``-O3`` or ``-Os``.
    sanitize : bool
        True to enable the address and undefined-behavior sanitizers; on ``host`` only.
    n_random : int
        Number of random states, and of random raw readings.
    exhaustive : bool
        True to test all joint states even if they are many.
    seed : int
        Random seed of the inputs.
    emission : Emission or None
        Emission to build; None emits all entry points.
    also : Emission or None
        Another emission, of which streams and the entry points for missing features are tested
        on a sample of the inputs.

    Returns
    -------
    Agreement
        The outcome over all compilers and simulators.

    Raises
    ------
    ToolchainError
        If a compiler or a simulator is missing or fails.
    OptionError
        If there is no such target, or an exhaustive check is requested and there are too many
        joint states.
    """
    if emission is None:
        options = EmitOptions(name="m", entries=frozenset({"scores", "trusted", "raw"}))
        emission = emit_c(model, options)
    return verify_sources(
        model,
        sources_of(model, emission),
        target,
        table=table,
        compiler=compiler,
        simulator=simulator,
        opt_level=opt_level,
        sanitize=sanitize,
        effort=Effort(n_random, exhaustive, seed),
        also=None if also is None else sources_of(model, also),
    )


def verify_decisions(
    model: Model,
    target: str,
    parts: Sequence[Part],
    emission: Emission,
    **how: Any,
) -> SampleAgreement:
    """Compare the C of a model with a front end with the model, see `verify_samples`."""
    assert model.front_end is not None
    return verify_samples(model, decision_sources(model.front_end, emission), target, parts, **how)


@dataclass(frozen=True)
class SampleReport:
    """Measurements of the whole C of a model with a front end, from samples to decisions."""

    target: str  # Name of the target
    unit: Unit  # Unit of time
    toolchain: str  # toolchain and simulator: Names, versions, processor
    simulator: str
    optimization: str  # The compiler's level
    cost: StreamCost
    times: SampleTimes
    hop: int  # Samples from a window to the next


def bench_samples(
    model: Model,
    target: Target,
    parts: Sequence[Part],
    emission: Emission,
    *,
    compiler: str | None = None,
    simulator: str | None = None,
    opt_level: str = "-O2",
) -> SampleReport:
    """Measure the C of a model with a front end on some of the segments."""
    assert model.front_end is not None
    (bench,) = find_toolchain(target, compiler=compiler, simulator=simulator)
    cost, times = _sample_cost(model, emission, bench, parts, opt_level)
    return SampleReport(
        target.name,
        target.unit,
        str(bench.compiler),
        bench.place,
        opt_level,
        cost,
        times,
        model.front_end.windows.hop,
    )


def _sample_cost(
    model: Model, emission: Emission, bench: Toolchain, parts: Sequence[Part], opt_level: str
) -> tuple[StreamCost, SampleTimes]:
    """Measure the C of a model with a front end on some of the segments."""
    assert model.front_end is not None
    windows = model.front_end.windows
    segments = [part.samples for part in metered_parts(parts, windows)]
    cost = stream_cost(decision_sources(model.front_end, emission), bench, segments, opt_level)
    return cost, times_of(cost, [len(each) for each in segments], windows)


def sample_counts(
    model: Model, emission: Emission, bench: Toolchain, opt_level: str
) -> SampleCounts | None:
    """Measure the C of a model on hostile samples; None without a front end."""
    if model.front_end is None:
        return None
    cost, times = hostile_cost(model, emission, bench, opt_level)
    every, deciding = (Counts(span.min, span.max) for span in (times.every, times.deciding))
    return SampleCounts(cost.flash, cost.state, every, deciding, times.n_samples, times.n_windows)


def cost_on_samples(
    model: Model,
    emission: Emission,
    bench: Toolchain,
    opt_level: str,
    samples: Sequence[IntArray] = (),
) -> StreamCost:
    """
    Measure the C of a model with a front end: its times on some segments, if there are any.

    The memory does not depend on them: the stack is that of hostile samples.
    """
    assert model.front_end is not None
    hostile = metered_parts(hostile_samples(model), model.front_end.windows)
    every = [part.samples for part in (hostile[-1:] if samples else hostile)]
    sources = decision_sources(model.front_end, emission)
    cost = stream_cost(sources, bench, [*samples, *every], opt_level)
    n = sum(map(len, samples)) or len(cost.samples)
    return replace(cost, samples=cost.samples[:n])


def hostile_cost(
    model: Model, emission: Emission, bench: Toolchain, opt_level: str
) -> tuple[StreamCost, SampleTimes]:
    """Measure the C of a model with a front end on samples of every kind."""
    return _sample_cost(model, emission, bench, hostile_samples(model), opt_level)


def hostile_samples(model: Model) -> list[Part]:
    """Return samples of every kind for the front end of a model."""
    assert model.front_end is not None
    return hostile_parts(model.front_end, sample_type_of(model.front_end.form).removesuffix("_t"))


@dataclass(frozen=True)
class TargetReport:
    """Measurements on one target."""

    target: str  # Name of the target
    unit: Unit  # Unit of time
    toolchain: str  # toolchain and simulator: Names, versions, processor
    simulator: str
    ours: Measurement  # The classifier that bncc emits
    baseline: Measurement | None  # The textbook classifier; None if it does not fit
    baseline_misfit: str | None  # Reason why it does not fit
    estimate: Estimate  # Estimate before the build
    missing: Cost | None = None  # A decision with missing features, if measured
    # Resources of the requested entry points; None if none were named
    resources: Resources | None = None

    @property
    def ratio(self) -> Mapping[str, float | None]:
        """Ratios of the baseline's resources to ours: flash, and each entry point."""
        kinds = ("flash", "predict", "trusted", "raw")
        if self.baseline is None:
            return dict.fromkeys(kinds)
        ratios: dict[str, float | None] = {"flash": self.baseline.flash / self.ours.flash}
        for entry in kinds[1:]:
            both = self.ours.costs.get(entry), self.baseline.costs.get(entry)
            ratios[entry] = both[1].mean / both[0].mean if both[0] and both[1] else None
        return ratios


def bench_target(
    model: Model,
    target: Target,
    inputs: Inputs,
    *,
    compiler: str | None = None,
    simulator: str | None = None,
    opt_level: str = "-O2",
    emission: Emission | None = None,
    with_missing: bool = False,
    entries: tuple[str, ...] = (),
    clock: Clock | None = None,
) -> TargetReport:
    """Measure the emitted classifier and the textbook one on a target, in the same way."""
    (found,) = find_toolchain(target, compiler=compiler, simulator=simulator)
    bench = replace(found, clock=clock)
    emission = emission or emit_c(model, WRITTEN)
    kept = tuple(METERED[entry] for entry in entries) or None
    ours = measure_ours(model, bench, inputs, opt_level=opt_level, emission=emission, kept=kept)
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
        missing=measure_missing(model, bench, inputs, opt_level=opt_level, emission=emission)
        if with_missing
        else None,
        resources=as_resources(ours, bench, entries, emission.options.optimize, _digest(emission))
        if entries
        else None,
    )


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
    only_kept: bool = False,
) -> Measurement:
    """Measure the classifier that bncc emits, see `bncc.device.measure.measure`."""
    emission = emission or emit_c(model, options)
    built = sources_of(model, emission)
    trusting = None
    if with_trusted and "trusted" not in built.entries:
        # In a program of its own: at -Os an additional entry point makes gcc inline less.
        trusting = sources_of(model, _emitted_with(model, emission, "trusted"))
    return measure(
        model,
        built,
        bench,
        inputs,
        opt_level=opt_level,
        kept=_kept(model, emission) if kept is None else kept,
        others=others,
        trusting=trusting,
        only_kept=only_kept,
    )


def measure_textbook(
    model: Model, bench: Toolchain, inputs: Inputs, kept: tuple[Metered, ...] | None = None
) -> tuple[Measurement | None, str | None]:
    """Measure the textbook classifier of a model, or return why there is none."""
    reason = misfit(model)
    if reason is not None:
        return None, reason
    kept = tuple(dict.fromkeys(_counterpart(entry) for entry in kept or _kept(model)))
    book = textbook_c(model, "m", raw="raw" in kept)
    if bench.target.address_bits == 16 and book.avr_misfit:
        return None, book.avr_misfit
    try:
        return measure_best(model, sources(model, book.files), bench, inputs, kept), None
    except HarnessError:
        raise
    except ToolchainError as error:
        return None, str(error)


def measure_missing(
    model: Model, bench: Toolchain, inputs: Inputs, *, opt_level: str, emission: Emission
) -> Cost | None:
    """
    Measure a decision with missing features in the layout of an emission.

    None if they cannot be marginalized.
    """
    try:
        emission = _emitted_with(model, emission, "missing")
        return missing_cost(model, sources_of(model, emission), bench, inputs, opt_level=opt_level)
    except (MisfitError, ModelError):
        return None


def _emitted_with(model: Model, emission: Emission, entry: str) -> Emission:
    """Return an emission with a further entry point, in the same layout."""
    options = emission.options
    more = replace(options, entries=options.entries | {entry})
    return emission if more == options else emit_as(model, more, emission)


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
        only_kept=True,
    )
    return as_resources(measured, bench, entries, optimize, _digest(emission))


def memory_of(
    model: Model, bench: Toolchain, emission: Emission, entries: tuple[str, ...], opt_level: str
) -> Footprint:
    """Measure the memory of entry points of emitted C, without running them."""
    kept = tuple(METERED[entry] for entry in entries)
    return measure_memory(sources_of(model, emission), bench, opt_level, kept)


def emit_bounded(
    model: Model,
    emission: Emission,
    options: EmitOptions,
    bench: Toolchain,
    *,
    proved: Sequence[tuple[str, ProvedBound]] = (),
    undecided: Sequence[tuple[str, str]] = (),
    timing: str | None = None,
) -> Emission:
    """Measure emitted C, and emit it again with the results and proved bounds in its header."""
    level, is_exact = LEVELS[options.optimize], options.constant_time
    found = measure_bounds(model, sources_of(model, emission), bench, level, is_exact=is_exact)
    samples = sample_counts(model, emission, bench, level)
    found = replace(found, proved=tuple(proved), undecided=tuple(undecided), samples=samples)
    found = replace(found, timing=timing)
    bounded = emit_as(model, replace(options, bounds=found), emission)
    lowered = replace(bounded.lowered, resources=emission.resources)
    return replace(bounded, lowered=lowered, whole=emission.whole)


def batch_of(model: Model, compiler: Tool | None = None) -> Batch:
    """Return the decisions of a model on arrays of states, computed in batches."""
    if model.gate is not None:
        raise OptionError(
            "the model has a gate, which batches do not have; train with --structure-option gate=0"
        )
    return Batch(optimize(program_of(model), BATCH_FLOW)[0], compiler)


def _digest(emission: Emission) -> str:
    return code_digest(emission.files, emission.name)


def _kept(model: Model, emission: Emission | None = None) -> tuple[Metered, ...]:
    """
    Return the entry points included in the flash size.

    If readings are compared directly, those that take states form another classifier.
    """
    if emission is not None and emission.layout.direct:
        return ("raw",)
    has_raw = any(feature.thresholds for feature in model.features)
    return ("predict", "raw") if has_raw else ("predict",)


def _counterpart(entry: Metered) -> Metered:
    """Return the textbook classifier's entry point with the same input as an entry point."""
    if entry == "raw_checked":
        return "raw"
    return entry if entry in ("predict", "trusted", "raw") else "predict"
