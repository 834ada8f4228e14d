"""
One sample at a time: a front end as state between samples, and as C that updates it.

The state has, for each partial of each signal, the value of the current pane and those of the
panes before it, and what partials carry from sample to sample. Features that read the same partial
share it, and partials share what they carry by the same name. Types are the smallest for the
largest value, which `Partial.largest` proves.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bncc.lower.c.c99 import LINE, cast, unsigned
from bncc.lower.c.identifiers import c_comment, field_names
from bncc.recordings.features import (
    FEATURES,
    PARTIALS,
    Partial,
    SignalFeature,
    Terms,
    Update,
    bytes_of,
)
from bncc.recordings.front_end import FrontEnd
from bncc.recordings.recording import SampleFormat
from bncc.recordings.signals import KINDS, Signal

_INDENT = "    "
_ORDER = {"min": "<", "max": ">"}


@dataclass(frozen=True)
class Member:
    """A member of the state between two samples, all of unsigned numbers."""

    name: str
    largest: int  # Largest value
    length: int  # Elements; 0 where it is no array
    comment: str
    least_width: int = 1  # Bytes that an element has at least

    @property
    def width(self) -> int:
        """Bytes of an element."""
        return max(self.least_width, bytes_of(self.largest))

    @property
    def c_type(self) -> str:
        """Type of an element."""
        return unsigned(8 * self.width)

    @property
    def n_bytes(self) -> int:
        """Bytes of the member."""
        return max(self.length, 1) * self.width


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
class Result:
    """Statements that compute the features of one signal over a window."""

    merge: tuple[str, ...]  # Variables of the window's partials, if it has several panes
    merge_pane: tuple[str, ...]  # Merge pane k into them
    fill: tuple[str, ...]  # Assign the features


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
    members: tuple[Member, ...]  # The widest first, so that there is no padding between them
    has_phase: bool  # True if the member `phase` counts samples for liftings
    has_first: bool  # True if the first sample of a segment differs from others
    liftings: tuple[Lifting, ...]
    push: tuple[str, ...]  # Statements of a sample, until the pane may end
    clear: tuple[str, ...]  # Begin a pane
    results: tuple[Result, ...]
    store: tuple[str, ...]  # Store the pane among those before

    @property
    def n_bytes(self) -> int:
        """Bytes of the state on targets without alignment."""
        return sum(member.n_bytes for member in self.members)

    @property
    def aligned_bytes(self) -> int:
        """Bytes of the state on targets that align each number to its size."""
        step = self.members[0].width
        return -(-self.n_bytes // step) * step


@dataclass(frozen=True)
class _Wave:
    """A signal with the partials that are computed from it."""

    signal: Signal
    name: str  # Identifier
    width: int
    partials: tuple[tuple[str, int], ...] = ()  # Names and arguments

    @property
    def offset(self) -> str:
        """Variable of the offset of the current sample."""
        return f"u_{self.name}"

    @property
    def c_type(self) -> str:
        """Type of offsets."""
        return _holder(self.width)

    @property
    def title(self) -> str:
        """Name for comments."""
        return c_comment(self.signal.name)

    @property
    def levels(self) -> tuple[int, ...]:
        """Levels of the lifting whose details are summed."""
        return tuple(argument for name, argument in self.partials if PARTIALS[name].by_level)


class _Plan:
    """A front end's signals, and the members that its C keeps."""

    def __init__(self, front_end: FrontEnd, name: str) -> None:
        self.front_end, self.windows, self.name = front_end, front_end.windows, name
        self.channels, self.waves = _waves(front_end)
        self.top = max((level for wave in self.waves for level in wave.levels), default=0)
        self.has_phase = self.windows.hop % 2**self.top != 0
        self.has_first = any(
            KINDS[wave.signal.kind].uses_before
            or any(
                PARTIALS[name].carried(wave.width, argument) and not PARTIALS[name].by_level
                for name, argument in wave.partials
            )
            for wave in self.waves
        )
        self.members = self._members()

    def state(self, wave: _Wave, key: str) -> str:
        """Return the expression of a member."""
        return f"s->{self.members[wave.name, key].name}"

    def of(self, wave: _Wave) -> list[_Wave]:
        """Return the channels of a signal."""
        by_index = {channel.signal.channels[0]: channel for channel in self.channels}
        return [by_index[c] for c in wave.signal.channels]

    def terms(self, wave: _Wave, name: str, argument: int) -> Terms:
        """Return the C terms of a partial's update."""
        carried = PARTIALS[name].carried(wave.width, argument)
        members = {key: self.members[wave.name, key] for key in carried}
        return Terms(
            "detail" if PARTIALS[name].by_level else wave.offset,
            wave.c_type,
            argument,
            {key: f"s->{member.name}" for key, member in members.items()},
            {key: member.c_type for key, member in members.items()},
        )

    def updates(self, wave: _Wave) -> list[tuple[Partial, str, Update]]:
        """Return the partials of a signal that every sample updates, with their panes."""
        return [
            (
                PARTIALS[name],
                _key(name, argument),
                PARTIALS[name].update(self.terms(wave, name, argument)),
            )
            for name, argument in wave.partials
            if not PARTIALS[name].by_level
        ]

    def _members(self) -> dict[tuple[str, str], Member]:
        """Return all members by signal and key."""
        found: dict[tuple[str, str], tuple[int, int]] = {}
        windows = self.windows
        for wave in self.waves:
            if KINDS[wave.signal.kind].uses_before:
                for channel in self.of(wave):
                    found[channel.name, "before"] = (channel.width, 0)
            for name, argument in wave.partials:
                partial, key = PARTIALS[name], _key(name, argument)
                for carried, most in partial.carried(wave.width, argument).items():
                    found[wave.name, carried] = (most, 0)
                most = partial.largest(wave.width, argument, windows.hop, windows.hop)
                found[wave.name, key] = (most, 0)
                if windows.n_panes > 1:
                    found[wave.name, f"{key}_panes"] = (most, windows.n_panes - 1)
        counters = self._counters()
        found |= {("", key): (most, 0) for key, (most, _) in counters.items()}
        names = field_names("_".join(filter(None, each)) for each in found)
        members = {}
        for name, (place, (most, length)) in zip(names, found.items(), strict=True):
            text = f"at most {most}" if place[0] else counters[place[1]][1]
            # Compilers for AVR multiply to index wide numbers by one of 8 bits.
            members[place] = Member(name, most, length, text, 1 + (place == ("", "oldest")))
        return members

    def _counters(self) -> dict[str, tuple[int, str]]:
        """Return the largest value and the meaning of members that belong to no signal."""
        found: dict[str, tuple[int, str]] = {}
        hop, n_panes = self.windows.hop, self.windows.n_panes
        if hop > 1:
            found["position"] = (hop, "number of samples in the current pane")
        if self.has_phase:
            found["phase"] = (2**self.top - 1, "number of samples, modulo a power of 2")
        if n_panes > 2:
            found["oldest"] = (n_panes - 1, "index of the oldest complete pane")
        if n_panes > 1:
            found["lacking"] = (n_panes - 1, "number of panes that the first window lacks")
        if self.has_first:
            found["is_first"] = (1, "1 before the first sample of a segment, else 0")
        return found


@dataclass(frozen=True)
class Output:
    """The place of a feature of a window in C."""

    place: str  # Expression to assign to
    c_type: str  # Its type


def plan_samples(front_end: FrontEnd, outputs: Sequence[Output], name: str) -> SampleStream:
    """Lay out the state of a front end, and write the statements that update it."""
    plan, windows = _Plan(front_end, name), front_end.windows
    channel_type = _holder(front_end.form.width)
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
        members=tuple(sorted(plan.members.values(), key=lambda each: -each.width)),
        has_phase=plan.has_phase,
        has_first=plan.has_first,
        liftings=tuple(_lifting(plan, wave) for wave in plan.waves if wave.levels),
        push=tuple(_push(plan)),
        clear=tuple(_clear(plan)),
        results=tuple(_result(plan, wave, outputs) for wave in plan.waves),
        store=tuple(_store(plan)),
    )


def sample_type_of(form: SampleFormat) -> str:
    """
    Return the C type of a sample.

    It has 8 bits if the format is such a type, and otherwise 16, so that the C can saturate samples
    outside the format.
    """
    exact = {(0, 255): "uint8_t", (-128, 127): "int8_t"}.get((form.least, form.largest))
    return exact or ("int16_t" if form.largest < 2**15 else "uint16_t")


def _holder(largest: int) -> str:
    """Return the smallest unsigned type of numbers up to a largest one."""
    return unsigned(8 * bytes_of(largest))


def _key(partial: str, argument: int) -> str:
    """Return the key of a partial's pane in the state."""
    return f"{partial.replace('-', '_')}{argument or ''}"


def _saturation(form: SampleFormat, sample_type: str) -> tuple[str, ...]:
    """Return the statements that bring `value` into the format."""
    is_unsigned = sample_type.startswith("u")
    bits = _bits(sample_type)
    low = 0 if is_unsigned else -(2 ** (bits - 1))
    high = low + 2**bits - 1
    bounds = [("<", form.least, form.least > low), (">", form.largest, form.largest < high)]
    lines = []
    for sign, bound, is_needed in bounds:
        if is_needed:
            number = f"{bound}{'U' if is_unsigned else ''}"
            lines += [f"if (value {sign} {number}) {{", f"{_INDENT}value = {number};", "}"]
    return tuple(lines)


def _offset(form: SampleFormat, sample_type: str, channel_type: str) -> str:
    """Return the expression of the offset of `value`, in modular arithmetic."""
    modular = f"({unsigned(_bits(sample_type))})value"
    if form.least:
        modular += f" {'+' if form.least < 0 else '-'} {abs(form.least)}U"
    return cast(modular, channel_type)


def _bits(c_type: str) -> int:
    return int(c_type.removesuffix("_t").lstrip("uint"))


def _waves(front_end: FrontEnd) -> tuple[tuple[_Wave, ...], tuple[_Wave, ...]]:
    """Return the channels that are read, and the signals of the columns with their partials."""
    wanted: dict[Signal, dict[tuple[str, int], None]] = {}
    form = front_end.form
    for column in front_end.columns:
        argument = column.partial_argument(column.scope(form, front_end.windows))
        for name in FEATURES[column.feature].partials:
            wanted.setdefault(column.signal, {})[name, argument] = None
    derived = [signal for signal in wanted if signal.kind != "channel"]
    n = len(front_end.channels)
    names = field_names([*front_end.channels, *(signal.name for signal in derived)])
    by_signal = dict(zip(derived, names[n:], strict=True))
    waves = []
    for signal, partials in wanted.items():
        least, largest = signal.bounds(form)
        name = by_signal[signal] if signal in by_signal else names[signal.channels[0]]
        waves.append(_Wave(signal, name, largest - least, tuple(partials)))
    read = sorted({channel for signal in wanted for channel in signal.channels})
    channels = [
        _Wave(Signal(front_end.channels[c], "channel", (c,)), names[c], form.width) for c in read
    ]
    return tuple(channels), tuple(waves)


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"{_INDENT}{line}" for line in lines]


def _if_first(statements: Iterable[str]) -> list[str]:
    """Return statements of the first sample of a segment, each once."""
    each = list(dict.fromkeys(statements))
    return ["if (s->is_first != 0U) {", *_indented(each), "}"] if each else []


def _push(plan: _Plan) -> list[str]:
    """Return the statements of a sample: offsets, carried numbers, updates of panes."""
    lines = [
        f"const {each.c_type} {each.offset} = {plan.name}_offset(sample[{c}]);"
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
        lines += _wrapped(f"{wave.offset} = {cast(value, wave.c_type)};")
    updates = [(wave, plan.updates(wave)) for wave in plan.waves]
    first = [line for _, found in updates for _, _, update in found for line in update.first]
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
        lines += ["/* For the next sample */", *dict.fromkeys(keeps)]
    if plan.has_phase:
        phase = plan.members["", "phase"]
        lines.append(f"s->phase = ({phase.c_type})(s->phase + 1U);")
    return lines


def _update(plan: _Plan, wave: _Wave, partial: Partial, key: str, update: Update) -> list[str]:
    """Return the statements that add a sample to the pane of a partial."""
    declared, part = list(update.locals), update.contribution
    if not part.isidentifier():
        c_type = _holder(partial.most(wave.width))
        declared += _wrapped(f"const {c_type} part = {cast(part, c_type)};")
        part = "part"
    lines = [*_merged(plan.state(wave, key), part, partial, plan.members[wave.name, key].c_type)]
    if declared:
        return ["{", *_indented([*declared, "", *lines, *update.after]), "}"]
    return [*lines, *update.after]


def _merged(place: str, value: str, partial: Partial, c_type: str) -> list[str]:
    """Return the statements that merge a value into a variable."""
    if partial.merge == "add":
        return _wrapped(f"{place} = ({c_type})({place} + {value});")
    return [f"if ({value} {_ORDER[partial.merge]} {place}) {{", f"{_INDENT}{place} = {value};", "}"]


def _lifting(plan: _Plan, wave: _Wave) -> Lifting:
    """Write the Haar lifting of a signal, a level after the other, until a pair is incomplete."""
    lines: list[str] = []
    u_type, top = wave.c_type, max(wave.levels)
    for level in range(1, top + 1):
        first = plan.state(wave, f"first{level}")
        lines += [
            f"if ((phase & {2 ** (level - 1)}U) == 0U) {{",
            f"{_INDENT}{first} = mean;",
            f"{_INDENT}return;",
            "}",
            f"least = {first};",
            "if (mean < least) {",
            f"{_INDENT}detail = ({u_type})(least - mean);",
            f"{_INDENT}least = mean;",
            "} else {",
            f"{_INDENT}detail = ({u_type})(mean - least);",
            "}",
        ]
        if level in wave.levels:
            partial, key = PARTIALS["haar"], _key("haar", level)
            update = partial.update(plan.terms(wave, "haar", level))
            lines += _update(plan, wave, partial, key, update)
        if level < top:
            lines.append(f"mean = ({u_type})(least + (detail >> 1));")
    counter = "phase" if plan.has_phase else "position"
    return Lifting(
        wave.name, u_type, wave.title, counter, plan.members["", counter].c_type, tuple(lines)
    )


def _panes(wave: _Wave) -> list[tuple[Partial, str, int]]:
    """Return the partials of a signal: the partial, the key of its pane, and the argument."""
    return [(PARTIALS[name], _key(name, k), k) for name, k in wave.partials]


def _clear(plan: _Plan) -> list[str]:
    """Return the statements that begin a pane."""
    return [
        f"{plan.state(wave, key)} = {partial.neutral(wave.width)}U;"
        for wave in plan.waves
        for partial, key, _ in _panes(wave)
    ]


def _store(plan: _Plan) -> list[str]:
    """Return the statements that store the pane in place of the oldest."""
    if plan.windows.n_panes == 1:
        return []
    return [
        f"{plan.state(wave, f'{key}_panes')}[k] = {plan.state(wave, key)};"
        for wave in plan.waves
        for _, key, _ in _panes(wave)
    ]


def _window_type(plan: _Plan, wave: _Wave, partial: Partial, argument: int) -> str:
    """Return the type of a partial of a window."""
    windows = plan.windows
    return _holder(partial.largest(wave.width, argument, windows.length, windows.hop))


def _variable(plan: _Plan, wave: _Wave, key: str) -> str:
    """Return the variable of a window's partial: the member of the pane if it is the window."""
    return plan.members[wave.name, key].name if plan.windows.n_panes > 1 else plan.state(wave, key)


def _result(plan: _Plan, wave: _Wave, outputs: Sequence[Output]) -> Result:
    """Write the features of a signal over a window."""
    merge, merge_pane = [], []
    if plan.windows.n_panes > 1:
        for partial, key, argument in _panes(wave):
            c_type = _window_type(plan, wave, partial, argument)
            variable = _variable(plan, wave, key)
            merge.append(f"{c_type} {variable} = {plan.state(wave, key)};")
            value = f"{plan.state(wave, f'{key}_panes')}[k]"
            merge_pane += _merged(variable, value, partial, c_type)
    fill: list[str] = []
    for column, output in zip(plan.front_end.columns, outputs, strict=True):
        if column.signal == wave.signal:
            fill += _fill(plan, wave, column, output)
    return Result(tuple(merge), tuple(merge_pane), tuple(fill))


def _fill(plan: _Plan, wave: _Wave, column: SignalFeature, output: Output) -> list[str]:
    """Return the statement that assigns a feature."""
    feature = FEATURES[column.feature]
    scope = column.scope(plan.front_end.form, plan.windows)
    argument = column.partial_argument(scope)
    *less, last = feature.partials
    value = _variable(plan, wave, _key(last, argument))
    of_type = _window_type(plan, wave, PARTIALS[last], argument)
    if less:
        minus = (_variable(plan, wave, _key(name, argument)) for name in less)
        value, of_type = " - ".join([value, *minus]), ""
    value = _based(value, of_type, feature.base(scope), output.c_type)
    return _wrapped(f"{output.place} = {value};")


def _wrapped(statement: str) -> list[str]:
    """Break a statement before its operators where it is too long for a line."""
    if len(statement) <= LINE - 8:
        return [statement]
    return re.sub(r" (?=[?:+] )", f"\n{_INDENT}", statement).split("\n")


def _based(value: str, of_type: str, base: int, c_type: str) -> str:
    """Return the expression of an unsigned value plus a base, without signed overflow."""
    wide = unsigned(_bits(c_type))
    if base == 0:
        return value if of_type == c_type else cast(value, c_type)
    wider = value if of_type == wide else cast(value, wide)
    if base > 0:
        return f"({c_type})({wider} + {base}U)"
    below = f"({c_type})(-1 - ({c_type})({-base - 1}U - {wider}))"
    return f"({wider} < {-base}U) ? {below} : ({c_type})({wider} - {-base}U)"
