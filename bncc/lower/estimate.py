"""
Estimated footprint of the classifier on a target, without a cross compiler.

The kernel is priced by `bncc.lower.cost_model`, readings by `bncc.lower.discretizers.choice`. The
constants below are of what surrounds them, fitted to measurements on Cortex-M0 with
arm-none-eabi-gcc 12.2.1 ``-mcpu=cortex-m0 -mthumb``: 29 random models, naive, forest and TAN, 4 to
256 features, 2 to 26 classes, costs of 4 to 24 bits, readings as int16, int32, float, codes and
structs. Flash is the object's text size from ``size``, stack the deepest chain of calls by
``-fstack-usage``, instructions the mean of 8 inputs, counted one by one in an emulator. For 29
models, compiled with -O2, with the kernels that are chosen for a balance:

============  ================  ===========
quantity      errors            within 15 %
============  ================  ===========
flash         -32 % .. +24 %    26
stack         -33 % .. +156 %   17
instructions  -29 % .. +57 %    18
============  ================  ===========

The cost model knows large tables best; models with few features or classes are estimated worst.
``benchmarks/fit/fit_estimate.py`` measures, fits and prints all of this again.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from bncc.lower.cost_model import LEVELS, Level, code_bytes, decision_cost
from bncc.lower.cycle_rates import span_in_cycles
from bncc.lower.gate import CODE as GATE_CODE
from bncc.lower.layout import Layout
from bncc.lower.raw import RawPlan
from bncc.lower.rule_cost import code_of_extras, extras_in, work_of_extras
from bncc.lower.state_cost import STATE_ENTRY, StateTerms, terms_of
from bncc.model.rules import EXTRAS
from bncc.resources import OF_READINGS, Optimize, Resources, Span
from bncc.targets import GENERIC, known_target
from bncc.targets.timing import CountedCore

MACHINE = "Cortex-M0"
"""Default target of the estimate; an AVR needs more code for the same tables."""

CODE = (139, STATE_ENTRY, 15, 15)
"""Bytes of code per entry of `code_terms`, without the kernel, the check and the discretizer's
comparisons."""
STREAM = (140, 90)
"""Bytes of code of the entry points for one feature at a time: all, and where states are held. From
the small models of the tests at -Os."""
MISSING = (230, 470)
"""Bytes of code that sums missing features out: for all networks, and for those with arcs. From the
small models of the tests at -Os, as is what follows."""
MISSING_FRAMES = (50, 70)
"""Bytes of stack, likewise, without arrays."""
CHECKED = (24, 28, 32, 14)
"""Bytes of code that checks readings: per kind, for floats, for a loop over an array, per member of
a struct. From the small models of the tests at -Os."""
FRAMES = (30, 17, -3, 9, 9)
"""Bytes of stack per entry of `frame_terms`."""


SCORES_RAW: Mapping[Level, int] = {"-Os": 20, "-O2": 60}
"""Bytes of code of ``scores_raw``, which calls others: 20 at -Os and 24 to 112 at -O2 in three
small models of the tests on Cortex-M0."""
_OF_SUMS = ("scores", "scores-raw")


@dataclass(frozen=True)
class Estimate:
    """Estimated cost of a classifier."""

    flash: int  # Bytes of code and constants
    # Bytes of stack of the deepest entry point; there is no static RAM. What a caller holds, an
    # array of states or a stream between two features, is the caller's.
    ram: int
    instructions: int  # Executed instructions of one ``predict``


def estimate(layout: Layout, target: str | None = None, level: Level = "-O2") -> Estimate:
    """Estimate flash, RAM and instructions."""
    kernel = layout.kernel
    flash = (
        constant_bytes(layout)
        + kernel_bytes(layout, target, level)
        + front_bytes(layout, target, level)
        + (0 if layout.gate is None else GATE_CODE)
        + _weighted(CODE, code_terms(layout))
        + _weighted(STREAM, stream_terms(layout))
        + _weighted(MISSING, missing_terms(layout))
        + _weighted(CHECKED, checked_terms(layout))
        + extras_bytes(layout, target, level)
        + scores_raw_bytes(layout, target, level)
    )
    raw_flash = raw_bytes(layout, target, level)
    return Estimate(
        flash=flash if raw_flash is None else max(flash, raw_flash),  # Fitted apart
        ram=max(
            buffer_bytes(layout) + _weighted(FRAMES, frame_terms(layout)),
            missing_buffer_bytes(layout) + _weighted(MISSING_FRAMES, missing_terms(layout)),
        ),
        instructions=decision_cost(kernel, target, level)
        + layout.check.work
        + front_work(layout, "predict", target, level)[1]
        + gate_work(layout, target),
    )


def entry_times(
    layout: Layout, target: str | None = None, level: Level = "-O2"
) -> Mapping[str, int]:
    """
    Estimate instructions, on AVR cycles, of one call of each entry point.

    Those of ``checked``, ``missing`` and ``stream`` are not estimated, so that they are absent.
    """
    decision = decision_cost(layout.kernel, target, level)
    checked = decision + layout.check.work
    times = {"predict": checked, "trusted": decision, "scores": checked}
    times |= work_of_extras(layout, target, level)
    if layout.raw is not None:
        if layout.direct:
            times["scores-raw"] = checked + layout.raw.instructions
            times["predict-raw"] = layout.direct_terms.instructions(target, level)
        else:
            times["predict-raw"] = _state_terms(layout, layout.raw).instructions(target, level)
            times["scores-raw"] = times["predict-raw"] + layout.check.work
    return times


def _state_terms(layout: Layout, raw: RawPlan) -> StateTerms:
    """Return the terms of ``predict_raw`` that finds states."""
    return terms_of(layout.program, layout.kernel, raw.counts, is_handed=layout.hands_over)


def raw_bytes(layout: Layout, target: str | None, level: Level) -> int | None:
    """Estimate the bytes that ``predict_raw`` alone needs; None where other functions are in it."""
    if layout.raw is None or layout.constant_time or extras_in(layout):
        return None
    terms = layout.direct_terms if layout.direct else _state_terms(layout, layout.raw)
    gate = 0 if layout.gate is None else GATE_CODE
    front = front_bytes(layout, target, level)
    return terms.rom_bytes + terms.code_bytes(target, level) + front + gate


def estimated_resources(
    layout: Layout,
    whole: Estimate,
    entries: tuple[str, ...],
    *,
    target: str | None,
    optimize: Optimize,
    core: CountedCore | None = None,
) -> Resources:
    """Return an estimate as resources, in cycles besides instructions if a core is given."""
    level = LEVELS[optimize]
    times = entry_times(layout, target, level)
    spans = {e: _span(layout, e, times[e], target, level) for e in entries if e in times}
    raw_flash = raw_bytes(layout, target, level) if entries == ("predict-raw",) else None
    machine = known_target(target)
    is_cycles = machine is not None and machine.unit == "cycles"
    cycles = spans if is_cycles else None
    if core is not None:
        family = layout.kernel.family
        cycles = {entry: span_in_cycles(span, family, core) for entry, span in spans.items()}
    return Resources(
        target=target or GENERIC,
        flash=whole.flash if raw_flash is None else raw_flash,
        ram=0,
        stack=whole.ram,
        instructions=None if is_cycles else spans,
        cycles=cycles,
        core=core,
        entries=entries,
        optimize=optimize,
        opt_level=level,
        how="estimated",
    )


def extras_bytes(layout: Layout, target: str | None, level: Level) -> int:
    """Return the bytes of rules, counters and adaptation; behind compared readings, of scores."""
    if not extras_in(layout):
        return 0
    code = code_of_extras(layout, target, level)
    if layout.direct is None:
        return code
    arrays = [] if layout.unknown is None else [*layout.unknown.arrays]
    arrays += [] if layout.filter is None else layout.filter.arrays
    code += code_bytes(layout.kernel, target, level) + layout.check.code
    # Cuts of states, while rows are shared
    cuts = max(0, layout.kernel.rom_bytes - layout.table_bytes)
    return code + cuts + sum(each.n_bytes for each in arrays)


def scores_raw_bytes(layout: Layout, target: str | None, level: Level) -> int:
    """Return the bytes of ``scores_raw``; where readings are compared, of states and scores."""
    if not layout.entries.scores_raw or layout.raw is None:
        return 0
    if layout.direct is None:
        return SCORES_RAW[level]
    scores = 0
    if not extras_in(layout):
        scores = code_bytes(layout.kernel, target, level) + layout.check.code
    arrays = sum(each.n_bytes for each in layout.raw.arrays)
    return SCORES_RAW[level] + scores + layout.raw.code_bytes + arrays


def front_bytes(layout: Layout, target: str | None = None, level: Level = "-O2") -> int:
    """Return the bytes of code of the front: that which compares readings, where there is one."""
    if layout.front is None:
        return 0
    return layout.front.code(target, level, from_readings=layout.raw is not None)


def front_work(
    layout: Layout, entry: str, target: str | None = None, level: Level = "-O2"
) -> tuple[int, int]:
    """Return what the front executes in an entry point, on average and at most."""
    if layout.front is None:
        return 0, 0
    return layout.front.work(target, level, from_readings=entry in OF_READINGS)


def gate_work(layout: Layout, target: str | None = None) -> int:
    """Return what the test of a gate executes."""
    return 0 if layout.gate is None else layout.gate.test(layout.program.n_classes, target)


def _gated_span(layout: Layout, entry: str, time: int, target: str | None) -> Span:
    """Return the time of an entry point; the first tables decide as often as in training."""
    assert layout.gate is not None
    test, answers = gate_work(layout, target), layout.gate.answers
    checked = layout.check.work if entry in ("predict", *_OF_SUMS) else 0
    first = round(checked + layout.gate.before * (time - checked)) + test
    whole = time + test
    if answers is None:
        return Span(first, whole, whole)
    return Span(first, answers * first + (1.0 - answers) * whole, whole)


def _span(layout: Layout, entry: str, time: int, target: str | None, level: Level) -> Span:
    """Return the time of an entry point; a front decides alone as often as in training."""
    if entry in EXTRAS:
        return Span(time, time, time)
    if layout.gate is not None:
        return _gated_span(layout, entry, time, target)
    usual, most = front_work(layout, entry, target, level)
    if layout.front is None or layout.front.answers is None or entry in _OF_SUMS:
        return Span(time + most, time + most, time + most)
    goes_on = 1.0 - layout.front.answers
    checked = layout.check.work if entry == "predict" else 0
    mean = checked + usual + goes_on * (time - checked)
    return Span(min(checked + usual, round(mean)), mean, max(time + most, round(mean)))


def functions_counted(layout: Layout) -> str:
    """Describe the functions that an estimate of flash counts."""
    if layout.direct is None:
        return "all functions"
    rules = extras_in(layout)
    of_scores = [*(["scores_raw"] if layout.entries.scores_raw else []), *rules]
    if not of_scores:
        return "predict_raw and labels"
    return ", ".join(["predict_raw", "scores", *of_scores])


def constant_bytes(layout: Layout) -> int:
    """
    Return the bytes of flash that are known: tables, addresses, thresholds, labels.

    Where readings are compared directly, those of a program that takes readings alone.
    """
    if layout.direct is None:
        return layout.table_bytes + layout.other_bytes
    lists = sum(each.n_bytes for each in layout.direct.arrays)
    if layout.range_check is not None:
        lists += sum(each.n_bytes for each in layout.range_check.arrays)
    return layout.table_bytes + lists + layout.labels.n_bytes + layout.labels.starts.n_bytes


def kernel_bytes(layout: Layout, target: str | None = None, level: Level = "-O2") -> int:
    """Return the bytes of code of the kernel, the check and the discretizer."""
    if layout.direct is not None:
        return layout.direct_terms.code_bytes(target, level)
    readings = layout.raw.code_bytes if layout.raw else 0
    decision = code_bytes(layout.kernel, target, level)
    if layout.hands_over:
        readings *= 2
        decision *= 2 + layout.entries.trusted + layout.entries.scores
    return decision + layout.check.code + readings


def code_terms(layout: Layout) -> tuple[int, ...]:
    """Return the terms of code size."""
    raw = None if layout.direct else layout.raw
    codes = [field for field in raw.fields if field.kind.startswith("code")] if raw else []
    return (
        int(layout.entries.scores),
        int(raw is not None),
        len({field.kind for field in codes}),
        0 if raw is None or raw.is_loop else len(codes),
    )


def stream_terms(layout: Layout) -> tuple[int, ...]:
    """Return the terms of code size for one feature at a time."""
    stream = layout.stream
    return (int(stream is not None), int(stream is not None and stream.holds_states))


def missing_terms(layout: Layout) -> tuple[int, ...]:
    """Return the terms of code size for missing features."""
    missing = layout.missing
    return (int(missing is not None), int(missing is not None and missing.has_arcs))


def checked_terms(layout: Layout) -> tuple[int, ...]:
    """Return the terms of code size for the check of readings."""
    checked = layout.range_check
    if checked is None:
        return (0, 0, 0, 0)
    is_loop = not checked.arguments
    return (len(checked.checks), int(checked.has_floats), int(is_loop), len(checked.arguments))


def missing_buffer_bytes(layout: Layout) -> int:
    """Return the bytes of stack of the arrays by which missing features are summed out."""
    if layout.missing is None:
        return 0
    states = len(layout.program.features) * layout.state_bits // 8 if layout.raw else 0
    return layout.missing.scratch_bytes + states


def buffer_bytes(layout: Layout) -> int:
    """Return the known bytes of stack: the kernel's arrays, and all states."""
    finds_states = layout.raw is not None and layout.direct is None
    has_states = finds_states or layout.constant_time is not None
    states = len(layout.program.features) * layout.state_bits // 8 if has_states else 0
    if layout.direct is not None:
        states += layout.direct_terms.key_bytes
    costs = layout.program.n_classes * layout.kernel.sum_bits // 8
    return costs + layout.kernel.scratch_bytes + states


def frame_terms(layout: Layout) -> tuple[int, ...]:
    """Return the terms of the frames on the deepest chain of calls."""
    return (
        1,
        int(layout.raw is not None),
        int(layout.raw is not None and layout.raw.is_array),
        int(any(len(table.features) > 1 for table in layout.program.tables)),
        int(layout.entries.scores),
    )


def _weighted(weights: tuple[float, ...], terms: tuple[int, ...]) -> int:
    return round(sum(weight * term for weight, term in zip(weights, terms, strict=True)))
