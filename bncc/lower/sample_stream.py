"""One sample at a time: C that updates the state of a front end, and computes its features."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bncc.discretize.feature import LARGEST_INT, SMALLEST_INT
from bncc.discretize.missing import MISSING_INT
from bncc.lower.c.c99 import LINE, cast, unsigned
from bncc.lower.raw import RawPlan
from bncc.lower.sample_state import Member, State, Wave, holder, key_of
from bncc.model.model import Model
from bncc.recordings.features import FEATURES, PARTIALS, Partial, Update
from bncc.recordings.front_end import FrontEnd
from bncc.recordings.recording import SampleFormat
from bncc.recordings.signal_feature import SignalFeature
from bncc.recordings.signals import KINDS

_INDENT = "    "
_ORDER = {"min": "<", "max": ">"}


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
    """Statements that compute some features of a signal over a window."""

    merge: tuple[str, ...]  # Variables of the window's partials, if it has several panes
    merge_pane: tuple[str, ...]  # Merge pane k into them
    fill: tuple[str, ...]  # Assign the features
    store: tuple[str, ...]  # Store the current pane in place of the other one of two


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


@dataclass(frozen=True)
class Output:
    """The place of a feature of a window in C."""

    place: str  # Expression to assign to
    c_type: str  # Its type
    # least and largest: Bounds of what it may be, to which a feature saturates, and a value outside
    # of them that stays as it is; None if the feature is always within
    least: int | None = None
    largest: int | None = None
    marker: int | None = None


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
        logarithm=_logarithm_type(front_end),
        push=tuple(_push(plan)),
        clear=tuple(_clear(plan)),
        results=tuple(result for wave in plan.waves for result in _results(plan, wave, outputs)),
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


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"{_INDENT}{line}" for line in lines]


def _if_first(statements: Iterable[str]) -> list[str]:
    """Return statements of the first sample of a segment, each once."""
    each = list(dict.fromkeys(statements))
    return ["if (s->is_first != 0U) {", *_indented(each), "}"] if each else []


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
        lines += _wrapped(f"{wave.offset} = {cast(value, wave.c_type)};")
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
        lines += ["/* For the next sample */", *dict.fromkeys(keeps)]
    if plan.has_phase:
        phase = plan.members["", "phase"]
        lines.append(f"s->phase = ({phase.c_type})(s->phase + 1U);")
    return lines


def _update(plan: State, wave: Wave, partial: Partial, key: str, update: Update) -> list[str]:
    """Return the statements that add a sample to the pane of a partial."""
    declared, part = list(update.locals), update.contribution
    if not part.isidentifier():
        c_type = holder(partial.most(wave.width))
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


def _lifting(plan: State, wave: Wave) -> Lifting:
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
            *([f"{_INDENT}least = mean;"] if level < top else []),
            "} else {",
            f"{_INDENT}detail = ({u_type})(mean - least);",
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


def _panes(wave: Wave) -> list[tuple[Partial, str, int]]:
    """Return the partials of a signal: the partial, the key of its pane, and the argument."""
    return [(PARTIALS[name], key_of(name, k), k) for name, k in wave.partials]


def _clear(plan: State) -> list[str]:
    """Return the statements that begin a pane."""
    return [
        f"{plan.state(wave, key)} = {partial.neutral(wave.width)}U;"
        for wave in plan.waves
        for partial, key, _ in _panes(wave)
    ]


def _pane_before(plan: State, wave: Wave, key: str) -> str:
    """Return the expression of a partial's value in pane k, or in the only one before."""
    return f"{plan.state(wave, f'{key}_panes')}[{'k' if plan.windows.n_panes > 2 else '0'}]"


def _store(plan: State) -> list[str]:
    """Return the statements that store the pane in place of pane k, if there are more than two."""
    if plan.windows.n_panes <= 2:
        return []
    return [
        f"{_pane_before(plan, wave, key)} = {plan.state(wave, key)};"
        for wave in plan.waves
        for _, key, _ in _panes(wave)
    ]


def _clear_panes(plan: State) -> list[str]:
    """Return the statements that clear the other one of two panes."""
    if plan.windows.n_panes != 2:
        return []
    return [
        f"{_pane_before(plan, wave, key)} = {partial.neutral(wave.width)}U;"
        for wave in plan.waves
        for partial, key, _ in _panes(wave)
    ]


def _window_type(plan: State, wave: Wave, partial: Partial, argument: int) -> str:
    """Return the type of a partial of a window."""
    windows = plan.windows
    return holder(partial.largest(wave.width, argument, windows.length, windows.hop))


def _variable(plan: State, wave: Wave, key: str) -> str:
    """Return the variable of a window's partial: the member of the pane if it is the window."""
    return plan.members[wave.name, key].name if plan.windows.n_panes > 1 else plan.state(wave, key)


def _results(plan: State, wave: Wave, outputs: Sequence[Output]) -> list[Result]:
    """
    Write the features of a signal over a window.

    With two panes, partials that no feature reads together are merged, used and stored one after
    the other: fewer variables live at once, which halves the code on AVR.
    """
    named = list(zip(plan.front_end.columns, outputs, strict=True))
    own = [(column, output) for column, output in named if column.signal == wave.signal]
    groups = [_panes(wave)] if plan.windows.n_panes != 2 else _groups(plan, wave)
    results = []
    for group in groups:
        keys = {key for _, key, _ in group}
        fill = [
            line
            for column, output in own
            if _keys(plan, column) <= keys
            for line in _fill(plan, wave, column, output)
        ]
        merge, merge_pane = _merge(plan, wave, group)
        store = [
            f"{_pane_before(plan, wave, key)} = {plan.state(wave, key)};"
            for _, key, _ in group
            if plan.windows.n_panes == 2
        ]
        results.append(Result(tuple(merge), tuple(merge_pane), tuple(fill), tuple(store)))
    return results


def _keys(plan: State, column: SignalFeature) -> set[str]:
    """Return the keys of the partials that a feature reads."""
    scope = column.scope(plan.front_end.form, plan.windows)
    return {key_of(name, argument) for name, argument in column.partials(scope)}


def _groups(plan: State, wave: Wave) -> list[list[tuple[Partial, str, int]]]:
    """Return the partials of a signal in groups of those that features read together."""
    groups: list[set[str]] = []
    for column in plan.front_end.columns:
        if column.signal == wave.signal:
            keys = _keys(plan, column)
            joined = [group for group in groups if group & keys]
            groups = [group for group in groups if not group & keys]
            groups.append(keys.union(*joined))
    found: dict[int, list[tuple[Partial, str, int]]] = {}
    for pane in _panes(wave):
        place = next(k for k, group in enumerate(groups) if pane[1] in group)
        found.setdefault(place, []).append(pane)
    return list(found.values())


def _merge(
    plan: State, wave: Wave, group: Sequence[tuple[Partial, str, int]]
) -> tuple[list[str], list[str]]:
    """Return the variables of partials of a window, and statements that merge a pane into them."""
    merge: list[str] = []
    merge_pane: list[str] = []
    if plan.windows.n_panes == 1:
        return merge, merge_pane
    for partial, key, argument in group:
        c_type = _window_type(plan, wave, partial, argument)
        variable, value = _variable(plan, wave, key), _pane_before(plan, wave, key)
        if plan.windows.n_panes > 2:
            merge.append(f"{c_type} {variable} = {plan.state(wave, key)};")
            merge_pane += _merged(variable, value, partial, c_type)
        elif partial.merge == "add":
            pane = plan.state(wave, key)
            if plan.members[wave.name, key].c_type != c_type:
                pane = f"({c_type}){pane}"  # AVR adds two numbers of 16 bits in 16 bits
            both = f"({c_type})({pane} + {value})"
            merge += _wrapped(f"const {c_type} {variable} = {both};")
        else:
            merge.append(f"{c_type} {variable} = {plan.state(wave, key)};")
            merge_pane += _merged(variable, value, partial, c_type)
    return merge, merge_pane


def _fill(plan: State, wave: Wave, column: SignalFeature, output: Output) -> list[str]:
    """Return the statement that assigns a feature."""
    bounds = column.bounds(plan.front_end.form, plan.windows)
    declared: list[str] = []
    if column.divisor is None:
        value, of_type = _difference(plan, wave, column)
        base = FEATURES[column.feature].base(column.scope(plan.front_end.form, plan.windows))
    else:
        value, of_type, base = "of - by", "", 0
        declared = _logarithms(plan, wave, column)
    if column.shift:
        shifted, of_type, base = _shifted(plan, value, of_type, column, base)
        value, declared = "shifted", _wrapped(f"const {of_type} shifted = {shifted};")
    exact = f"{column.column_type(plan.front_end.form, plan.windows)}_t"
    # Compilers compare unsigned numbers with less code.
    if of_type and base == 0:
        exact = of_type
    narrowing = _narrowing(output, bounds, exact)
    if not narrowing:
        lines = _wrapped(f"{output.place} = {_based(value, of_type, base, output.c_type)};")
        return ["{", *_indented([*declared, "", *lines]), "}"] if declared else lines
    lines = [
        *declared,
        *_wrapped(f"{exact} value = {_based(value, of_type, base, exact)};"),
        "",
        *narrowing,
        f"{output.place} = {cast('value', output.c_type)};",
    ]
    return ["{", *_indented(lines), "}"]


def _difference(plan: State, wave: Wave, column: SignalFeature) -> tuple[str, str]:
    """Return a feature without its base and shift: an expression, and its type if it is known."""
    argument = column.partial_argument(column.scope(plan.front_end.form, plan.windows))
    *less, last = FEATURES[column.feature].partials
    value = _variable(plan, wave, key_of(last, argument))
    if less:
        minus = (_variable(plan, wave, key_of(name, argument)) for name in less)
        return " - ".join([value, *minus]), ""
    return value, _window_type(plan, wave, PARTIALS[last], argument)


def _logarithms(plan: State, wave: Wave, column: SignalFeature) -> list[str]:
    """Return the declarations of the logarithms of both features of a ratio."""
    wide, lines = _logarithm_type(plan.front_end), []
    for variable, term in zip(("of", "by"), column.terms, strict=True):
        value, of_type = _difference(plan, wave, term)
        exact = value if of_type == wide else cast(value, wide)
        lines += _wrapped(f"const int16_t {variable} = {plan.name}_logarithm({exact});")
    return lines


def _logarithm_type(front_end: FrontEnd) -> str:
    """Return the type of the numbers whose logarithms ratios take; empty without a ratio."""
    most = [
        term.bounds(front_end.form, front_end.windows)[1]
        for column in front_end.columns
        for term in column.terms
        if column.divisor is not None
    ]
    return holder(max(most)) if most else ""


def _shifted(
    plan: State, value: str, of_type: str, column: SignalFeature, base: int
) -> tuple[str, str, int]:
    """Return an unsigned value, its type, and a base, whose sum is a feature shifted right."""
    low, high = replace(column, shift=0).bounds(plan.front_end.form, plan.windows)
    # base = more + rest, where `rest` is a multiple of 2**shift: shifting it separately is exact.
    more = base % 2**column.shift
    wide = holder(high - low + more)
    if of_type != wide:
        value = f"({wide})({value})" if " " in value else f"({wide}){value}"
    if more:
        value = f"({value} + {more}U)"
    shifted = f"({wide})({value} >> {column.shift}U)"
    return shifted, wide, base >> column.shift


def _narrowing(output: Output, bounds: tuple[int, int], c_type: str) -> list[str]:
    """Return the statements that limit `value`, of a type, to what an output may be."""
    low, high = bounds
    suffix = "U" if c_type.startswith("u") else ""
    lines = []
    if output.least is not None and low < output.least and low != output.marker:
        kept = "" if output.marker is None else f") && (value != {output.marker}"
        test = f"value < {output.least}" if not kept else f"(value < {output.least}{kept})"
        lines += [f"if ({test}) {{", f"{_INDENT}value = {output.least};", "}"]
    if output.largest is not None and high > output.largest:
        number = f"{output.largest}{suffix}"
        lines += [f"if (value > {number}) {{", f"{_INDENT}value = {number};", "}"]
    return lines


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
