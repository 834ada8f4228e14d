"""Features of a window in C: the merge of its panes, and statements that assign features."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bncc.lower.c.c99 import INDENT, cast, indented, unsigned, wrapped
from bncc.lower.sample_state import State, Wave, holder, key_of
from bncc.recordings.features import FEATURES, PARTIALS, Partial
from bncc.recordings.front_end import FrontEnd
from bncc.recordings.signal_feature import SignalFeature

_ORDER = {"min": "<", "max": ">"}


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


@dataclass(frozen=True)
class Result:
    """Statements that compute some features of a signal over a window."""

    merge: tuple[str, ...]  # Variables of the window's partials, if it has several panes
    merge_pane: tuple[str, ...]  # Merge pane k into them
    fill: tuple[str, ...]  # Assign the features
    store: tuple[str, ...]  # Store the current pane in place of the other one of two


def results_of(plan: State, wave: Wave, outputs: Sequence[Output]) -> list[Result]:
    """
    Write the features of a signal over a window.

    With two panes, partials that no feature reads together are merged, used and stored one after
    the other: fewer variables live at once, which halves the code on AVR.
    """
    named = list(zip(plan.front_end.columns, outputs, strict=True))
    own = [(column, output) for column, output in named if column.signal == wave.signal]
    groups = [panes_of(wave)] if plan.windows.n_panes != 2 else _groups(plan, wave)
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
            f"{pane_before(plan, wave, key)} = {plan.state(wave, key)};"
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
    for pane in panes_of(wave):
        place = next(k for k, group in enumerate(groups) if pane[1] in group)
        found.setdefault(place, []).append(pane)
    return list(found.values())


def panes_of(wave: Wave) -> list[tuple[Partial, str, int]]:
    """Return the partials of a signal: the partial, the key of its pane, and the argument."""
    return [(PARTIALS[name], key_of(name, k), k) for name, k in wave.partials]


def pane_before(plan: State, wave: Wave, key: str) -> str:
    """Return the expression of a partial's value in pane k, or in the only one before."""
    return f"{plan.state(wave, f'{key}_panes')}[{'k' if plan.windows.n_panes > 2 else '0'}]"


def _window_type(plan: State, wave: Wave, partial: Partial, argument: int) -> str:
    """Return the type of a partial of a window."""
    windows = plan.windows
    return holder(partial.largest(wave.width, argument, windows.length, windows.hop))


def _variable(plan: State, wave: Wave, key: str) -> str:
    """Return the variable of a window's partial: the member of the pane if it is the window."""
    return plan.members[wave.name, key].name if plan.windows.n_panes > 1 else plan.state(wave, key)


def _merge(
    plan: State, wave: Wave, group: Sequence[tuple[Partial, str, int]]
) -> tuple[list[str], list[str]]:
    """Return the variables of partials of a window, and statements that merge a pane into them."""
    whole = [column for column in plan.front_end.columns if not column.pane]
    read = set().union(*(_keys(plan, each) for each in whole if each.signal == wave.signal))
    merge: list[str] = []
    merge_pane: list[str] = []
    if plan.windows.n_panes == 1:
        return merge, merge_pane
    for partial, key, argument in group:
        if key not in read:
            continue
        c_type = _window_type(plan, wave, partial, argument)
        variable, value = _variable(plan, wave, key), pane_before(plan, wave, key)
        if plan.windows.n_panes > 2:
            merge.append(f"{c_type} {variable} = {plan.state(wave, key)};")
            merge_pane += merged(variable, value, partial, c_type)
        elif partial.merge == "add":
            pane = plan.state(wave, key)
            if plan.members[wave.name, key].c_type != c_type:
                pane = f"({c_type}){pane}"  # AVR adds two numbers of 16 bits in 16 bits
            both = f"({c_type})({pane} + {value})"
            merge += wrapped(f"const {c_type} {variable} = {both};")
        else:
            merge.append(f"{c_type} {variable} = {plan.state(wave, key)};")
            merge_pane += merged(variable, value, partial, c_type)
    return merge, merge_pane


def merged(place: str, value: str, partial: Partial, c_type: str) -> list[str]:
    """Return the statements that merge a value into a variable."""
    if partial.merge == "add":
        return wrapped(f"{place} = ({c_type})({place} + {value});")
    return [f"if ({value} {_ORDER[partial.merge]} {place}) {{", f"{INDENT}{place} = {value};", "}"]


def _fill(plan: State, wave: Wave, column: SignalFeature, output: Output) -> list[str]:
    """Return the statement that assigns a feature."""
    bounds = column.bounds(plan.front_end.form, plan.windows)
    declared: list[str] = []
    if column.divisor is None:
        value, of_type = _difference(plan, wave, column)
        base = FEATURES[column.feature].base(column.scope(plan.front_end.form, plan.windows))
        if 0 < column.pane < plan.windows.n_panes > 2:
            declared = [f"const uint16_t at = {plan.name}_pane(s, {column.pane - 1}U);"]
    else:
        value, of_type, base = "of - by", "", 0
        declared = _logarithms(plan, wave, column)
    if column.shift:
        shifted, of_type, base = _shifted(plan, value, of_type, column, base)
        value = "shifted"
        declared += wrapped(f"const {of_type} shifted = {shifted};")
    exact = f"{column.column_type(plan.front_end.form, plan.windows)}_t"
    # Compilers compare unsigned numbers with less code.
    if of_type and base == 0:
        exact = of_type
    narrowing = _narrowing(output, bounds, exact)
    if not narrowing:
        lines = wrapped(f"{output.place} = {_based(value, of_type, base, output.c_type)};")
        return ["{", *indented([*declared, "", *lines]), "}"] if declared else lines
    lines = [
        *declared,
        *wrapped(f"{exact} value = {_based(value, of_type, base, exact)};"),
        "",
        *narrowing,
        f"{output.place} = {cast('value', output.c_type)};",
    ]
    return ["{", *indented(lines), "}"]


def _difference(plan: State, wave: Wave, column: SignalFeature) -> tuple[str, str]:
    """Return a feature without its base and shift: an expression, and its type if it is known."""
    argument = column.partial_argument(column.scope(plan.front_end.form, plan.windows))
    names = FEATURES[column.feature].partials
    keys = [key_of(name, argument) for name in names]
    values = [_of_pane(plan, wave, key, column.pane) for key in keys]
    if len(names) > 1:
        return " - ".join(reversed(values)), ""
    if column.pane:
        return values[0], plan.members[wave.name, keys[0]].c_type
    return values[0], _window_type(plan, wave, PARTIALS[names[0]], argument)


def _of_pane(plan: State, wave: Wave, key: str, pane: int) -> str:
    """Return the expression of a partial's value in a pane, or in the window."""
    if not pane:
        return _variable(plan, wave, key)
    if pane == plan.windows.n_panes:
        return plan.state(wave, key)
    return f"{plan.state(wave, f'{key}_panes')}[{'at' if plan.windows.n_panes > 2 else '0'}]"


def _logarithms(plan: State, wave: Wave, column: SignalFeature) -> list[str]:
    """Return the declarations of the logarithms of both features of a ratio."""
    wide, lines = logarithm_type(plan.front_end), []
    for variable, term in zip(("of", "by"), column.terms, strict=True):
        value, of_type = _difference(plan, wave, term)
        exact = value if of_type == wide else cast(value, wide)
        lines += wrapped(f"const int16_t {variable} = {plan.name}_logarithm({exact});")
    return lines


def logarithm_type(front_end: FrontEnd) -> str:
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
        lines += [f"if ({test}) {{", f"{INDENT}value = {output.least};", "}"]
    if output.largest is not None and high > output.largest:
        number = f"{output.largest}{suffix}"
        lines += [f"if (value > {number}) {{", f"{INDENT}value = {number};", "}"]
    return lines


def _based(value: str, of_type: str, base: int, c_type: str) -> str:
    """Return the expression of an unsigned value plus a base, without signed overflow."""
    wide = unsigned(bits_of(c_type))
    if base == 0:
        return value if of_type == c_type else cast(value, c_type)
    wider = value if of_type == wide else cast(value, wide)
    if base > 0:
        return f"({c_type})({wider} + {base}U)"
    below = f"({c_type})(-1 - ({c_type})({-base - 1}U - {wider}))"
    return f"({wider} < {-base}U) ? {below} : ({c_type})({wider} - {-base}U)"


def bits_of(c_type: str) -> int:
    """Return the width of an integer type."""
    return int(c_type.removesuffix("_t").lstrip("uint"))
