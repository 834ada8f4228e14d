"""State of the abstract run on one path: registers, flags, memory; and how paths merge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

import numpy as np

from bncc.prove.diagrams import FALSE, TRUE
from bncc.prove.regions import Numbers, Region, added, both, joined, meets, outside
from bncc.prove.values import OpenOrderError, Term, UndecidedError, Value
from bncc.prove.words import Words

_MOST_OF_TREE = 512
"""Most cells of a sum over the inputs of one tree that is taken as one function."""

Fact: TypeAlias = tuple[object, object, bool]
"""Order of two sums a and b, by name: ``a < b`` if the last is true, else ``a <= b``."""


class ApartError(UndecidedError):
    """Paths that met have values that are no one function of few inputs."""

    def __init__(self, reason: UndecidedError, regions: "tuple[Region, ...]") -> None:
        super().__init__(reason.code, reason.detail)
        self.regions = regions  # Disjoint ones, in each of which the value is known


class Merged:
    """A value that differs between the paths that met: one for each region, joined when read."""

    __slots__ = ("_values", "is_apart", "parts", "sources", "within")

    def __init__(
        self,
        parts: "tuple[tuple[Region, Content], ...]",
        sources: "tuple[Merged, ...]" = (),
        within: Region | None = None,
    ) -> None:
        self.parts = parts
        self.sources = sources  # Those whose parts it has
        self.within = within  # A region that is known to have those of all parts
        self.is_apart = False  # True if a proof has looked at each part alone
        self._values: dict[tuple[int, ...], Value] = {}

    def equals(self, other: object) -> bool:
        """Return whether both are one object."""
        return self is other

    @property
    def is_read(self) -> bool:
        """True if any path has read it."""
        return bool(self._values)

    def inside(self, region: Region) -> "list[tuple[Region, Content]]":
        """Return the parts in a region, each with its inputs there."""
        return [(own, part) for of, part in self.parts if (own := both(of, region))]

    def value(self, algebra: Words) -> Value:
        """Return the function that has the value of each region there, in the current region."""
        here = algebra.region
        reached = tuple(k for k, (region, _) in enumerate(self.parts) if meets(region, here))
        if reached not in self._values:
            kept = [self.parts[k] for k in reached]
            orders = algebra.is_negative
            try:
                # Other paths read the same result, so it must not depend on this one's facts.
                algebra.is_negative = lambda _: None
                self._values[reached] = self._read(kept, algebra)
            except OpenOrderError:
                algebra.is_negative = orders
                return self._read(kept, algebra)
            except UndecidedError as reason:
                regions = _distinct(kept)
                if reason.code != "cells" or len(regions) == 1:
                    raise
                raise ApartError(reason, regions) from None
            finally:
                algebra.region, algebra.is_negative = here, orders
        return self._values[reached]

    def _read(self, kept: "Sequence[tuple[Region, Content]]", algebra: Words) -> Value:
        parts = tuple(_within(region, x, algebra) for region, x in kept)
        # Nor must it hold on this path alone, but wherever these parts do.
        algebra.region = tuple(box for region, _ in kept for box in region)
        return _union(algebra, parts) if len(parts) > 1 else parts[0][1]


def _distinct(parts: "Sequence[tuple[Region, Content]]") -> tuple[Region, ...]:
    """Return the region of each content."""
    found: list[tuple[Region, Content]] = []
    for region, content in parts:
        for k, (other, known) in enumerate(found):
            if same(known, content):
                found[k] = (*other, *region), known
                break
        else:
            found.append((region, content))
    return tuple(region for region, _ in found)


class Guarded:
    """A value that differs between two paths on either side of a condition on variables."""

    __slots__ = ("_values", "contents", "guard")

    def __init__(self, guard: int, contents: "tuple[Content, Content]") -> None:
        self.guard, self.contents = guard, contents
        self._values: dict[Region, Value] = {}

    def equals(self, other: object) -> bool:
        """Return whether both are one object."""
        return self is other

    def value(self, algebra: Words) -> Value:
        """Return the first content where the guard is 1, else the second."""
        region, orders = algebra.region, algebra.is_negative
        if region not in self._values:
            try:
                # Other paths read the same result, so it must not depend on this one's facts.
                algebra.is_negative = lambda _: None
                self._values[region] = self._read(algebra)
            except OpenOrderError:
                algebra.is_negative = orders
                return self._read(algebra)
            finally:
                algebra.is_negative = orders
        return self._values[region]

    def _read(self, algebra: Words) -> Value:
        a, b = (read(content, algebra) for content in self.contents)
        return algebra.guarded(self.guard, a, b)

    def known(self, algebra: Words) -> Value | None:
        """Return the value if it has been read."""
        return self._values.get(algebra.region)


def read(content: "Content", algebra: Words) -> Value:
    """Return a content as a value, for the current region."""
    return content if isinstance(content, Value) else content.value(algebra)


def within(content: "Content", guard: int, algebra: Words) -> "Content":
    """Return a content as it is simplest where a function of variables is 1."""
    diagrams = algebra.diagrams
    while isinstance(content, Guarded):
        value = content.known(algebra)
        if value is not None:
            content = value
        elif diagrams.both(guard, content.guard) == FALSE:
            content = content.contents[1]
        elif diagrams.both(guard, diagrams.no(content.guard)) == FALSE:
            content = content.contents[0]
        else:
            return content
    return algebra.known(content, guard) if isinstance(content, Value) else content


def _within(region: Region, content: "Content", algebra: Words) -> tuple[Region, Value]:
    algebra.region = region
    return region, read(content, algebra)


class Waiting(Protocol):
    """A content of another kind, which becomes a value when it is read."""

    def value(self, algebra: Words) -> Value:
        """Return the value in the current region."""

    def equals(self, other: object) -> bool:
        """Return whether both are certainly equal for every input."""


Content: TypeAlias = Value | Merged | Waiting


def same(x: Content, y: Content) -> bool:
    """Return whether two contents are certainly equal for every input."""
    return x is y or (type(x) is type(y) and x.equals(y))  # type: ignore[arg-type]


Flagged: TypeAlias = Mapping[str, tuple[str, tuple[Content, ...]]]
"""Kind and contents of what the flags are of, by part or flag."""
DEFERRED, SHIFTED = "deferred", "bit"
"""Kinds of flags that most code never tests: those that differ between paths are forgotten."""


@dataclass(frozen=True)
class Cell:
    """Bytes of memory that were written at once."""

    size: int
    content: Content


@dataclass(frozen=True)
class Frame:
    """A call in progress."""

    entry: int  # Address of the function
    after: int  # Address that it returns to
    call: int  # Address of the call
    key: tuple[int, ...]  # Order of the call among all steps
    counts: tuple[tuple[tuple[int, ...], int], ...] = ()  # Iterations of the loops around


@dataclass(frozen=True)
class State:
    """One path, or several that have met, before an instruction."""

    at: int  # Address of the instruction
    frames: tuple[Frame, ...]  # The entry's own frame first
    registers: Mapping[str, Content]
    flags: Flagged = field(default_factory=dict)
    stack: Mapping[int, Cell] = field(default_factory=dict)  # By offset from the entry's sp
    output: Mapping[int, Cell] = field(default_factory=dict)
    region: Region = ((),)  # Inputs that get here
    guard: int = TRUE  # What variables fulfil here: a diagram
    facts: frozenset[Fact] = frozenset()
    is_parted: bool = False  # Other paths may have inputs of this one, in the other order
    steps: int = 0  # Most instructions until here
    deepest: int = 0  # Lowest offset of the stack pointer until here
    trail: object = None  # Where the path has come from, for a recorder of the run

    def but(self, **changed: object) -> "State":
        """Return a state with some other fields, several times as fast as `replace` does."""
        found = object.__new__(State)
        found.__dict__.update(self.__dict__)
        found.__dict__.update(changed)
        return found

    @property
    def key(self) -> tuple[int, ...]:
        """Order among all steps, apart from the place in the current function."""
        return self.frames[-1].key


class Draft:
    """A state during one instruction."""

    def __init__(self, state: State) -> None:
        self.before = state
        self.registers = dict(state.registers)
        self.flags = state.flags
        self.stack = state.stack
        self.output = state.output
        self.guard = state.guard
        self.lowest = 0  # Smallest offset of a write to the stack

    def forget_below(self, lowest: int) -> None:
        """Drop the cells of the stack below an offset, which an interrupt may change."""
        if any(at < lowest for at in self.stack):
            self.stack = {at: cell for at, cell in self.stack.items() if at >= lowest}

    def state(self) -> State:
        """Return the state after the instruction, without temporaries."""
        kept = self.registers
        if len(kept) != len(self.before.registers):
            kept = {k: v for k, v in kept.items() if not k.startswith("tmp")}
        return self.before.but(
            registers=kept, flags=self.flags, stack=self.stack, output=self.output
        )


def merged(a: State, b: State, algebra: Words, full: Sequence[Numbers]) -> State | None:
    """Return two states at the same place as one; None if they must stay apart."""
    is_same = a.region is b.region or a.region == b.region
    region: Region | None = a.region if is_same else None
    join = _Join(None, None)
    if not is_same:
        if a.facts == b.facts and a.guard == b.guard and not _have_common_inputs(a, b):
            region = added(a.region, b.region, full)
            join = _Join(a.region, b.region, region)
    elif is_same and algebra.diagrams.both(a.guard, b.guard) == FALSE:
        join = _Join(None, None, guard=a.guard)
    try:
        registers = {
            name: join.content(content, b.registers[name])
            for name, content in a.registers.items()
            if name in b.registers
        }
        stack = _cells(a.stack, b.stack, join)
        output = _cells(a.output, b.output, join)
        flags = _flags(a.flags, b.flags, join)
    except _DifferError:
        return None
    if region is None:
        # Their boxes must be disjoint, as those of each one are.
        new = outside(b.region, a.region, full) if _have_common_inputs(a, b) else b.region
        region = added(a.region, new, full)
    return replace(
        a,
        registers=registers,
        stack=stack,
        output=output,
        flags=flags,
        region=region,
        guard=algebra.diagrams.either(a.guard, b.guard),
        facts=a.facts & b.facts,
        is_parted=a.is_parted or b.is_parted,
        steps=max(a.steps, b.steps),
        deepest=min(a.deepest, b.deepest),
    )


def _have_common_inputs(a: State, b: State) -> bool:
    """Return whether regions do not tell two states apart, as where facts were lost."""
    return a.is_parted and b.is_parted and meets(a.region, b.region)


class _DifferError(Exception):
    """Two states have different contents and no regions that tell them apart."""


class _Join:
    def __init__(
        self,
        a: Region | None,
        b: Region | None,
        whole: Region | None = None,
        *,
        guard: int | None = None,
    ) -> None:
        self._a, self._b, self._whole, self._guard = a, b, whole, guard

    def content(self, x: Content, y: Content) -> Content:
        if same(x, y):
            return x
        if self._guard is not None:
            return Guarded(self._guard, (x, y))
        if self._a is None or self._b is None:
            raise _DifferError
        sources = tuple(one for one in (x, y) if isinstance(one, Merged))
        parts = (*self._parts(x, self._a), *self._parts(y, self._b))
        return Merged(parts, sources, self._whole)

    @staticmethod
    def _parts(x: "Content", region: Region) -> "tuple[tuple[Region, Content], ...]":
        if not isinstance(x, Merged):
            return ((region, x),)
        if x.within is region:
            return x.parts
        if all(own is region or both(own, region) == own for own, _ in x.parts):
            x.within = region
            return x.parts
        return ((region, x),)  # It is older than what split the paths


def _flags(a: Flagged, b: Flagged, join: _Join) -> dict[str, tuple[str, tuple[Content, ...]]]:
    """Return what both states know of the flags."""
    found: dict[str, tuple[str, tuple[Content, ...]]] = {}
    for part, (kind, contents) in a.items():
        # Parts of one comparison stay those of one.
        known = next((p for p in found if a[p] is a[part] and b[p] is b.get(part)), None)
        if known is not None:
            found[part] = found[known]
        elif part in b and b[part][0] == kind:
            pairs = zip(contents, b[part][1], strict=True)
            try:
                found[part] = kind, tuple(join.content(x, y) for x, y in pairs)
            except _DifferError:
                if kind not in (DEFERRED, SHIFTED):
                    raise
    return found


def _cells(a: Mapping[int, Cell], b: Mapping[int, Cell], join: _Join) -> dict[int, Cell]:
    """Return what both stacks have; a cell of one path alone is never read after they met."""
    found = {}
    for at, cell in a.items():
        other = _part(b, at, cell.size)
        if other is not None:
            found[at] = Cell(cell.size, join.content(cell.content, other))
    for at, cell in b.items():
        own = None if at in a and a[at].size == cell.size else _part(a, at, cell.size)
        if own is not None and at not in found:
            found[at] = Cell(cell.size, join.content(own, cell.content))
    return found


def _part(memory: Mapping[int, Cell], at: int, size: int) -> Content | None:
    """Return the content of a cell, or a part of a constant that was written at once."""
    cell = memory.get(at)
    if cell is not None and cell.size == size:
        return cell.content
    for start in range(at - 3, at + 1):
        cell = memory.get(start)
        if cell is not None and start + cell.size >= at + size and isinstance(cell.content, Value):
            number = cell.content.number
            if number is not None:
                return Value(number >> 8 * (at - start) & (1 << 8 * size) - 1)
    return None


def _union(algebra: Words, parts: tuple[tuple[Region, Value], ...]) -> Value:
    if any(algebra.is_word(value) for _, value in parts):
        return algebra.united(parts)
    regions = [region for region, _ in parts]
    parts = _apart(parts)
    first = parts[0][1]
    if any(value.base != first.base for _, value in parts):
        raise UndecidedError("pointers", "paths meet with different addresses")
    shared = {
        p: term
        for p, term in first.terms.items()
        if all(p in value.terms and term.equals(value.terms[p]) for _, value in parts)
    }
    rest = [
        (region, Value(value.const, {p: t for p, t in value.terms.items() if p not in shared}))
        for region, value in parts
    ]
    base = Value(0, shared, first.base)
    if any(len(value.terms) > 1 for _, value in rest):
        rest = [
            (region, _of_one_tree(algebra, whole, value))
            for whole, (region, value) in zip(regions, rest, strict=True)
        ]
    if all(len(value.terms) <= 1 for _, value in rest):
        return algebra.add(base, algebra.value(0, [_one_term(algebra, rest)]))
    return _gated(algebra, base, rest)


def _apart(parts: tuple[tuple[Region, Value], ...]) -> tuple[tuple[Region, Value], ...]:
    """Return parts without restrictions that all have, which do not tell them apart."""
    boxes = [box for region, _ in parts for box in region]
    shared = set(boxes[0]).intersection(*boxes[1:])
    if not shared:
        return parts
    return tuple(
        (tuple(tuple(item for item in box if item not in shared) for box in region), value)
        for region, value in parts
    )


def _of_one_tree(algebra: Words, region: Region, value: Value) -> Value:
    """Return a sum as one term in a region if one of its terms is of the inputs of all."""
    terms = value.terms.values()
    if len(terms) < 2 or any(term.slopes is not None for term in terms):
        return value
    scopes = [set(term.partition.scope) for term in terms]
    if set().union(*scopes) != max(scopes, key=len):
        return value
    outside, algebra.region = algebra.region, region
    try:
        term = algebra.joint(map(algebra.inside, terms), "a tree", _MOST_OF_TREE)
    except UndecidedError:
        return value
    finally:
        algebra.region = outside
    return algebra.value(value.const, [term])


def _one_term(algebra: Words, rest: Sequence[tuple[Region, Value]]) -> Term:
    """Return values on disjoint regions as one term with the cells of all."""
    cells: dict[tuple[int, int], list[Region]] = {}
    axes = {axis for region, _ in rest for box in region for axis, _ in box}
    axes.update(axis for _, value in rest for p in value.terms for axis in p.scope)
    for region, value in rest:
        if not value.terms:
            cells.setdefault((value.const, 0), []).append(region)
            continue
        (term,) = value.terms.values()
        if term.slopes is not None and len(axes) > 1:
            algebra.region = region
            term = algebra.unit(term)
        for k, cell in enumerate(term.partition.cells):
            inside = both(cell, region)
            if inside:
                slope = 0 if term.slopes is None else int(term.slopes[k])
                number = int(term.values[k]) + value.const
                key = (number if slope else number % (1 << 32), slope)
                cells.setdefault(key, []).append(inside)
    regions = [
        joined([box for region in found for box in region], algebra.full)
        for found in cells.values()
    ]
    values = np.array([key[0] for key in cells], dtype=np.int64)
    slopes = np.array([key[1] for key in cells], dtype=np.int64)
    return Term(algebra.partitions.of(regions), values, slopes if slopes.any() else None)


def _gated(algebra: Words, base: Value, rest: Sequence[tuple[Region, Value]]) -> Value:
    partition = algebra.partitions.of(region for region, _ in rest)
    found = base
    for k, (_, value) in enumerate(rest):
        gate = np.zeros(len(rest), dtype=np.int64)
        gate[k] = 1
        found = algebra.add(found, algebra.gated(Term(partition, gate), value))
    return found
