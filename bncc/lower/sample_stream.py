"""One sample at a time: C that updates the state of a front end."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bncc.discretize.feature import LARGEST_INT, SMALLEST_INT
from bncc.discretize.missing import MISSING_INT
from bncc.lower.c.c99 import INDENT, cast, indented, unsigned, wrapped
from bncc.lower.raw import RawPlan
from bncc.lower.sample_state import Member, State, Wave, holder, key_of
from bncc.lower.window_features import (
    Output,
    Result,
    bits_of,
    logarithm_type,
    merged,
    pane_before,
    panes_of,
    results_of,
)
from bncc.model.model import Model
from bncc.recordings.features import PARTIALS, Partial, Update
from bncc.recordings.front_end import FrontEnd
from bncc.recordings.recording import SampleFormat
from bncc.recordings.signals import KINDS


@dataclass(frozen=True)
class Lifting:
    """A function that adds to the Haar details of a signal."""

    name: str  # Ends the function's name
    c_type: str  # Type of offsets
    title: str
    phase: str  # Member of the state that has the position of the sample
    phase_type: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class SampleStream:
    """Template data for the functions that take one sample at a time."""

    n_channels: int
    sample_type: str  # Type of a channel's sample
    channel_type: str  # Type of the offset of a sample within the format
    least: int  # least and largest: Bounds of the sample format
    largest: int
    saturation: tuple[str, ...]  # Statements that bring `value` into the format
    offset: str  # Expression of the offset of `value`
    window: int
    hop: int
    n_panes: int
    members: tuple[Member, ...]  # In the order of the struct
    has_phase: bool  # True if the member `phase` counts samples for liftings
    has_first: bool  # True if the first sample of a segment differs from others
    rings: tuple[tuple[str, str], ...]  # Suffixes of functions that fill a ring, and its types
    liftings: tuple[Lifting, ...]
    logarithm: str  # Type of the numbers whose logarithms ratios take; empty without a ratio
    counts_panes: bool  # True if a feature is of one of more than two panes, but the last
    push: tuple[str, ...]  # Statements of a sample, until the pane may end
    clear: tuple[str, ...]  # Begin a pane
    results: tuple[Result, ...]
    store: tuple[str, ...]  # Store the pane in place of pane k, if there are more than two
    clear_panes: tuple[str, ...]  # Clear the other one of two panes

    @property
    def n_bytes(self) -> int:
        """Bytes of the state on targets without alignment."""
        return sum(member.n_bytes for member in self.members)

    @property
    def aligned_bytes(self) -> int:
        """Bytes of the state on targets that align each number to its size."""
        return self.aligned_with(())

    def aligned_with(self, parts: Sequence[tuple[int, int]]) -> int:
        """Return these bytes with further ones behind them, and the bytes of their numbers."""
        at = 0
        members = [(member.n_bytes, member.width) for member in self.members]
        for n_bytes, width in (*members, *parts):
            at = aligned(at, width) + n_bytes
        return aligned(at, max(width for _, width in (*members, *parts)))


def aligned(n_bytes: int, step: int) -> int:
    """Return the next multiple of a number of bytes."""
    return -(-n_bytes // step) * step


def _order(member: Member) -> tuple[bool, int]:
    """
    Return the sort key of a member.

    Those of every sample come first, the narrowest at the start: instructions reach fewer bytes by
    an offset than words, and on AVR 64 bytes in all. Those of complete panes come last, the widest
    first, so that there is no padding between them.
    """
    return bool(member.length), -member.width if member.length else member.width


def outputs_of_model(model: Model, raw: RawPlan) -> tuple[Output, ...]:
    """Return the readings of a model, which its front end computes."""
    outputs = []
    for k, (feature, field) in enumerate(zip(model.inputs, raw.inputs, strict=True)):
        kind = feature.kind
        place = f"x[{k}]" if raw.is_array else f"x->{field.field}"
        limits = SMALLEST_INT[kind], LARGEST_INT[kind], MISSING_INT.get(kind)
        outputs.append(Output(place, field.c_type, *limits))
    return tuple(outputs)


def plan_samples(front_end: FrontEnd, outputs: Sequence[Output], name: str) -> SampleStream:
    """Lay out the state of a front end, and write the statements that update it."""
    plan, windows = State(front_end, name), front_end.windows
    channel_type = holder(front_end.form.width)
    sample_type = sample_type_of(front_end.form)
    return SampleStream(
        n_channels=len(front_end.channels),
        sample_type=sample_type,
        channel_type=channel_type,
        least=front_end.form.least,
        largest=front_end.form.largest,
        saturation=_saturation(front_end.form, sample_type),
        offset=_offset(front_end.form, sample_type, channel_type),
        window=windows.length,
        hop=windows.hop,
        n_panes=windows.n_panes,
        members=tuple(sorted(plan.members.values(), key=_order)),
        has_phase=plan.has_phase,
        has_first=plan.has_first,
        rings=tuple((c_type.removesuffix("_t"), c_type) for c_type in plan.ring_types),
        liftings=tuple(_lifting(plan, wave) for wave in plan.waves if wave.levels),
        logarithm=logarithm_type(front_end),
        counts_panes=any(0 < each.pane < windows.n_panes > 2 for each in front_end.columns),
        push=tuple(_push(plan)),
        clear=tuple(_clear(plan)),
        results=tuple(result for wave in plan.waves for result in results_of(plan, wave, outputs)),
        store=tuple(_store(plan)),
        clear_panes=tuple(_clear_panes(plan)),
    )


def sample_type_of(form: SampleFormat) -> str:
    """
    Return the C type of a sample.

    It has 8 bits if the format is such a type, and otherwise 16, so that the C can saturate samples
    outside the format.
    """
    exact = {(0, 255): "uint8_t", (-128, 127): "int8_t"}.get((form.least, form.largest))
    return exact or ("int16_t" if form.largest < 2**15 else "uint16_t")


def _saturation(form: SampleFormat, sample_type: str) -> tuple[str, ...]:
    """Return the statements that bring `value` into the format."""
    is_unsigned = sample_type.startswith("u")
    bits = bits_of(sample_type)
    low = 0 if is_unsigned else -(2 ** (bits - 1))
    high = low + 2**bits - 1
    bounds = [("<", form.least, form.least > low), (">", form.largest, form.largest < high)]
    lines = []
    for sign, bound, is_needed in bounds:
        if is_needed:
            number = f"{bound}{'U' if is_unsigned else ''}"
            lines += [f"if (value {sign} {number}) {{", f"{INDENT}value = {number};", "}"]
    return tuple(lines)


def _offset(form: SampleFormat, sample_type: str, channel_type: str) -> str:
    """Return the expression of the offset of `value`, in modular arithmetic."""
    modular = f"({unsigned(bits_of(sample_type))})value"
    if form.least:
        modular += f" {'+' if form.least < 0 else '-'} {abs(form.least)}U"
    return cast(modular, channel_type)


def _if_first(statements: Iterable[str]) -> list[str]:
    """Return statements of the first sample of a segment, each once."""
    each = list(dict.fromkeys(statements))
    return ["if (s->is_first != 0U) {", *indented(each), "}"] if each else []


def _push(plan: State) -> list[str]:
    """Return the statements of a sample: offsets, carried numbers, updates of panes."""
    lines = [
        f"const {each.c_type} {each.offset} = {plan.name}_offset_of(sample[{c}]);"
        for each in plan.channels
        for (c,) in [each.signal.channels]
    ]
    derived = [wave for wave in plan.waves if wave.signal.kind != "channel"]
    lines += [f"{wave.c_type} {wave.offset};" for wave in derived]
    lines.append("")
    keeps: list[str] = []
    for wave in derived:
        if KINDS[wave.signal.kind].uses_before:
            channels = plan.of(wave)
            keeps += [f"{plan.state(each, 'before')} = {each.offset};" for each in channels]
    lines += _if_first(keeps)
    for wave in derived:
        kind, channels = KINDS[wave.signal.kind], plan.of(wave)
        before = [plan.state(each, "before") for each in channels] if kind.uses_before else []
        offsets = [each.offset for each in channels]
        value = kind.expression(offsets, before, plan.front_end.form.width, wave.c_type)
        lines += wrapped(f"{wave.offset} = {cast(value, wave.c_type)};")
    updates = [(wave, plan.updates(wave)) for wave in plan.waves]
    first = [
        line
        for _, found in updates
        for _, _, update in found
        for line in update.first
        if line not in keeps
    ]
    if plan.has_first:
        lines += _if_first([*first, "s->is_first = 0U;"])
    for wave, of_wave in updates:
        lines.append(f"/* {wave.title} */")
        for partial, key, update in of_wave:
            lines += _update(plan, wave, partial, key, update)
            keeps += update.last
        if wave.levels:
            lines.append(f"{plan.name}_lift_{wave.name}(s, {wave.offset});")
    if keeps:
        # Where several partials have a statement, what others read may change after the last one.
        lines.append("/* For the next sample */")
        for line in reversed(dict.fromkeys(reversed(keeps))):
            lines += wrapped(line)
    if plan.has_phase:
        phase = plan.members["", "phase"]
        lines.append(f"s->phase = ({phase.c_type})(s->phase + 1U);")
    return lines


def _update(plan: State, wave: Wave, partial: Partial, key: str, update: Update) -> list[str]:
    """Return the statements that add a sample to the pane of a partial."""
    declared, part = (
        [line for each in update.locals for line in wrapped(each)],
        update.contribution,
    )
    if not part.isidentifier():
        c_type = holder(partial.most(wave.width))
        declared += wrapped(f"const {c_type} part = {cast(part, c_type)};")
        part = "part"
    lines = [*merged(plan.state(wave, key), part, partial, plan.members[wave.name, key].c_type)]
    if declared:
        return ["{", *indented([*declared, "", *lines, *update.after]), "}"]
    return [*lines, *update.after]


def _lifting(plan: State, wave: Wave) -> Lifting:
    """Write the Haar lifting of a signal, a level after the other, until a pair is incomplete."""
    lines: list[str] = []
    u_type, top = wave.c_type, max(wave.levels)
    for level in range(1, top + 1):
        first = plan.state(wave, f"first{level}")
        lines += [
            f"if ((phase & {2 ** (level - 1)}U) == 0U) {{",
            f"{INDENT}{first} = mean;",
            f"{INDENT}return;",
            "}",
            f"least = {first};",
            "if (mean < least) {",
            f"{INDENT}detail = ({u_type})(least - mean);",
            *([f"{INDENT}least = mean;"] if level < top else []),
            "} else {",
            f"{INDENT}detail = ({u_type})(mean - least);",
            "}",
        ]
        if level in wave.levels:
            partial, key = PARTIALS["haar"], key_of("haar", level)
            update = partial.update(plan.terms(wave, "haar", level))
            lines += _update(plan, wave, partial, key, update)
        if level < top:
            lines.append(f"mean = ({u_type})(least + (detail >> 1));")
    phase = plan.members["", plan.counter]
    return Lifting(wave.name, u_type, wave.title, phase.name, phase.c_type, tuple(lines))


def _clear(plan: State) -> list[str]:
    """Return the statements that begin a pane."""
    return [
        f"{plan.state(wave, key)} = {partial.neutral(wave.width)}U;"
        for wave in plan.waves
        for partial, key, _ in panes_of(wave)
    ]


def _store(plan: State) -> list[str]:
    """Return the statements that store the pane in place of pane k, if there are more than two."""
    if plan.windows.n_panes <= 2:
        return []
    return [
        f"{pane_before(plan, wave, key)} = {plan.state(wave, key)};"
        for wave in plan.waves
        for _, key, _ in panes_of(wave)
    ]


def _clear_panes(plan: State) -> list[str]:
    """Return the statements that clear the other one of two panes."""
    if plan.windows.n_panes != 2:
        return []
    return [
        f"{pane_before(plan, wave, key)} = {partial.neutral(wave.width)}U;"
        for wave in plan.waves
        for partial, key, _ in panes_of(wave)
    ]
