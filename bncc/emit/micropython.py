"""A model as a module in plain MicroPython, and its test vectors: additions and comparisons."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from struct import pack

from bncc._types import FloatArray, IntArray
from bncc.discretize.feature import LARGEST_INT, Feature
from bncc.discretize.float_order import float_key
from bncc.discretize.missing import MISSING_INT
from bncc.discretize.readings import n_known
from bncc.emit.options import EmitOptions
from bncc.emit.summation import Summand, Summation, Term, summation_of
from bncc.emit.vectors import drawn_vectors
from bncc.lower.c.c99 import wrap_words
from bncc.lower.c.identifiers import c_comment
from bncc.model.model import Model
from bncc.structure.decision_tables import BranchingTable

MICROPYTHON = "micropython"
"""Name of the package."""

_MODULES = """
    array asyncio binascii bluetooth btree builtins cmath collections cryptolib deflate errno esp
    esp32 framebuf gc gzip hashlib heapq io json lwip machine math micropython neopixel network
    openamp os platform pyb random re requests rp2 select socket ssl stm struct sys time uctypes vfs
    zephyr zlib"""
_KEYWORDS = """
    and as assert async await break class continue def del elif else except finally for from global
    if import in is lambda none nonlocal not or pass raise return true false try while with yield"""
RESERVED = frozenset(f"{_MODULES} {_KEYWORDS}".split())
"""Modules of MicroPython and words that no module may be called."""

_FORMATS = {
    "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
    "float32": "f",
}  # fmt: skip
"""Letters of `struct` and `array`."""
_PER_LINE = 20
"""Bytes of a line."""


@dataclass(frozen=True)
class Constant:
    """A constant of the module, ready for the template."""

    comment: str
    name: str
    lines: tuple[str, ...]  # Its value


@dataclass(frozen=True)
class PlainModule:
    """A model as plain MicroPython, ready for the templates."""

    card: tuple[str, ...]
    labels: tuple[str, ...]  # Literals
    constants: tuple[Constant, ...]
    has_arrays: bool
    has_floats: bool
    has_bins: bool
    has_trees: bool
    sums: tuple[str, ...]  # Statements
    prior: str
    states: tuple[str, ...]  # Expressions, one per feature
    checks: tuple[str, ...]  # Expressions that are an error or 0, one per reading
    ranges: tuple[tuple[int, int, str], ...]  # Least and largest integer, and of which readings
    most: int | None  # Cost of all other classes behind a sure leaf; None without a front
    format: str  # Row of the vectors, as `struct` describes it
    rows: tuple[str, ...]  # Lines
    classes: tuple[str, ...]


def module_names(model: Model, options: EmitOptions) -> dict[str, object]:
    """Return the names of the templates of the package."""
    summation = summation_of(model, options)
    takes_readings = summation.request.entries.raw
    states = tuple(_states(summation)) if takes_readings else ()
    checks = tuple(_checks(summation))
    constants = tuple(_constants(summation, raw=takes_readings))
    inputs = options.vectors or drawn_vectors(model)
    kinds = summation.reading_types if takes_readings else _state_types(summation)
    values: FloatArray | IntArray = inputs.readings if takes_readings else inputs.states
    text = " ".join((*states, *checks))
    module = PlainModule(
        card=tuple(summation.card),
        labels=tuple(ascii(label.partition("\0")[0]) for label in model.classes),
        constants=constants,
        has_arrays=any(line.startswith("array(") for each in constants for line in each.lines),
        has_floats="_float" in text,
        has_bins="_bin(" in text or "_float" in text,
        has_trees=any("_leaf(" in line for line in _sums(summation)) or summation.front is not None,
        sums=tuple(_sums(summation)),
        prior=str(summation.program.prior.tolist()),
        states=states,
        checks=checks,
        ranges=tuple(_ranges(summation.reading_types)) if takes_readings else (),
        most=None if summation.front is None else summation.front.most,
        format="<" + "".join(_FORMATS[kind] for kind in kinds),
        rows=tuple(line for row in values.tolist() for line in _row(kinds, row)),
        classes=tuple(_bytes_lines(inputs.classes.tolist())),
    )
    return {"plain": module}


def _state_types(summation: Summation) -> tuple[str, ...]:
    return (f"uint{summation.state_bits}",) * len(summation.features)


def _constants(summation: Summation, *, raw: bool) -> Iterator[Constant]:
    """Yield limits of states, thresholds, trees and tables."""
    last = summation.last_states
    yield Constant("Largest state of each feature.", "_LAST", _packed(last))
    for i, feature in enumerate(summation.features):
        if raw and feature.thresholds and i not in summation.unread:
            comment = f"Thresholds of {c_comment(feature.name)}"
            if feature.kind == "float32":
                keys = [float_key(float(t)) for t in feature.thresholds]
                yield Constant(
                    f"{comment}, as integers of the same order.", f"_C{i}", _packed(keys)
                )
            else:
                yield Constant(f"{comment}.", f"_C{i}", _packed(map(int, feature.thresholds)))
    if summation.front_tree is not None:
        yield from _tree("_FRONT", "Front", summation.front_tree)
        comment = "Class that each leaf of the front decides for, or 255."
        yield Constant(comment, "_SURE", _packed(summation.sure_classes))
    for t, summand in enumerate(summation.summands):
        if summand.tree is not None:
            yield from _tree(f"_N{t}", f"Table {t}", summand.tree)
        rows = summand.costs.tolist()
        yield Constant(f"Costs of {_scope(summation, summand)}.", f"_T{t}", _table(rows))


def _scope(summation: Summation, summand: Summand) -> str:
    read = summand.tree.read if summand.tree is not None else [t.feature for t in summand.terms]
    return ", ".join(c_comment(summation.features[f].name) for f in read)


def _tree(name: str, title: str, tree: BranchingTable) -> Iterator[Constant]:
    """Yield the nodes of a tree; the numbers of leaves follow those of nodes."""
    n = tree.n_cuts
    successors = (
        tuple(place if place >= 0 else n - 1 - place for place in places)
        for places in (tree.below, tree.above)
    )
    below, above = successors
    parts = (tree.features, tree.cuts, below, above)
    titles = ("feature of each node", "its cut", "what follows up to the cut", "and above it")
    for letter, part, what in zip("fcba", parts, titles, strict=True):
        yield Constant(f"{title}: {what}.", f"{name}{letter}", _packed(part))


def _packed(values: Iterable[int]) -> tuple[str, ...]:
    """Return numbers as bytes where they are, else as an array."""
    numbers = list(values)
    low, high = min(numbers), max(numbers)
    if low >= 0 and high < 256:
        return tuple(_bytes_lines(numbers))
    if low >= 0:
        kind = "H" if high < 2**16 else "I"
    else:
        kind = next(
            _FORMATS[kind]
            for kind in ("int8", "int16", "int32")
            if MISSING_INT[kind] <= low and high <= LARGEST_INT[kind]
        )
    lines = wrap_words(f"{number}," for number in numbers)
    return (f'array("{kind}", (', *(f"    {line}" for line in lines), "))")


def _table(rows: Sequence[Sequence[int]]) -> tuple[str, ...]:
    if max(map(max, rows)) < 256:
        return ("(", *(f"    {line}" for row in rows for line in _bytes_lines(row)), ")")
    return _packed(cost for row in rows for cost in row)


def _bytes_lines(values: Sequence[int]) -> list[str]:
    """Return literals of bytes; several, in parentheses, are one."""
    return [_bytes(values[k : k + _PER_LINE]) for k in range(0, len(values), _PER_LINE)]


def _bytes(values: Iterable[int]) -> str:
    return 'b"' + "".join(f"\\x{value:02x}" for value in values) + '"'


def _row(kinds: Sequence[str], values: Sequence[float]) -> list[str]:
    """Return the values of a row in their types, as the lines of an item of a tuple."""
    packed = b"".join(
        pack(f"<{_FORMATS[kind]}", value if kind == "float32" else int(value))
        for kind, value in zip(kinds, values, strict=True)
    )
    lines = _bytes_lines(list(packed))
    return [*lines[:-1], f"{lines[-1]},"]


def _sums(summation: Summation) -> Iterator[str]:
    """Yield the statements that add a row of every table."""
    gate = summation.program.gate
    for t, summand in enumerate(summation.summands):
        yield f"_add(s, _T{t}, {_row_number(t, summand)})"
        if gate is not None and t + 1 == gate.tables:
            yield f"if _margin(s) >= {gate.margin}:"
            yield "    return s"


def _row_number(t: int, summand: Summand) -> str:
    if summand.tree is not None:
        return f"_leaf(x, _N{t}f, _N{t}c, _N{t}b, _N{t}a)"
    return " + ".join(
        _level(term) if term.stride == 1 else f"{_level(term)} * {term.stride}"
        for term in summand.terms
    )


def _level(term: Term) -> str:
    state = f"x[{term.feature}]"
    if term.cuts is None:
        return state
    levels = " + ".join(f"({state} > {cut})" for cut in term.cuts)
    return f"({levels})" if len(term.cuts) > 1 and term.stride > 1 else levels


def _states(summation: Summation) -> Iterator[str]:
    for i in range(len(summation.features)):
        yield "0" if i in summation.unread else _state(summation, i)


def _state(summation: Summation, i: int) -> str:
    """Return the expression of a state."""
    feature = summation.features[i]
    missing = feature.missing_state
    if feature.difference is not None:
        first, second = feature.difference
        return f"_bin(_C{i}, r[{first}] - r[{second}])" if feature.thresholds else "0"
    if not feature.is_numeric:
        return f"r[{i}] if r[{i}] < {n_known(feature)} else {missing}"
    if feature.kind == "float32":
        cuts = f"_C{i}" if feature.thresholds else "()"
        return f"_float({cuts}, r[{i}], {missing})"
    found = f"_bin(_C{i}, r[{i}])" if feature.thresholds else "0"
    # No threshold is below a marker: its bin is 0.
    if feature.kind not in MISSING_INT or missing == 0:
        return found
    return f"{missing} if r[{i}] == {MISSING_INT[feature.kind]} else {found}"


def _checks(summation: Summation) -> Iterator[str]:
    for i, limits in enumerate(summation.limits or ()):
        feature = summation.model.inputs[i]
        if feature.kind == "float32":
            # -0.0 is as large as 0.0, and its key is one less.
            low = float_key(limits.low) - (limits.low == 0)
            yield f"_float_limits(r[{i}], {low}, {float_key(limits.high)})"
        else:
            marker = _marker(feature, summation.reading_types[i])
            yield f"_limits(r[{i}], {marker}, {int(limits.low)}, {int(limits.high)})"


def _marker(feature: Feature, kind: str) -> int | None:
    if not feature.has_marker:
        return None
    return MISSING_INT[feature.kind] if feature.kind in MISSING_INT else _ends(kind)[1]


def _ends(kind: str) -> tuple[int, int]:
    """Return the least and the largest number of an integer type."""
    if kind.startswith("uint"):
        return 0, 2 ** int(kind[4:]) - 1
    return MISSING_INT[kind], LARGEST_INT[kind]


def _ranges(kinds: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the range of each type of integers, with the numbers of its readings."""
    for kind in dict.fromkeys(kinds):
        if kind == "float32":
            continue
        of_kind = [i for i, each in enumerate(kinds) if each == kind]
        indices = f"range({len(kinds)})" if len(of_kind) == len(kinds) else f"{tuple(of_kind)}"
        yield (*_ends(kind), indices)


Names = Callable[[Model, EmitOptions], dict[str, object]]
"""Names of the templates of a package beyond those of all."""
