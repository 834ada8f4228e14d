"""Certificate of a proof: the states in which paths meet, for a checker that trusts nothing."""

import gzip
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bncc._types import IntArray
from bncc.model.model import Model
from bncc.prove.apart import MOST_GRID, Apart
from bncc.prove.gates import CLOSED, OPEN
from bncc.prove.regions import Box, breakpoints
from bncc.prove.run import Scale
from bncc.prove.slices import Deferred
from bncc.prove.specification import OF_READINGS, OF_SCORES, Specification
from bncc.prove.state import Cell, Content, Fact, Merged, State, read
from bncc.prove.values import Exact, Term, UndecidedError, Value, signed
from bncc.prove.verdict import Verdict
from bncc.prove.words import Words

_NUMBERS = ("return", "stack", "input", "output")


@dataclass(frozen=True)
class Trail:
    """The last recorded state on a path, or the edges from several to where they met."""

    origin: int = 0
    steps: int = 0  # Steps of that state
    edges: tuple[tuple[int, int], ...] = ()  # Recorded states with the number of steps from each


class Point:
    """A recorded state with what leads to the next ones."""

    def __init__(self, state: State | None = None) -> None:
        self.state = state  # None for the entry
        self.after: set[tuple[int, int]] = set()  # Number of steps, next point
        self.orders: dict[int, list[tuple[int, ...]]] = {}


class Trace:
    """Records the points of a run at which paths met."""

    points: "list[Point]"

    def begin(self, algebra: Words, of: Specification, scale: Scale) -> None:
        """Begin a run; what was recorded of another attempt is forgotten."""
        self.algebra, self.of, self._scale = algebra, of, scale
        self.restart()

    def restart(self) -> None:
        """Forget what was recorded of a run that begins once more."""
        self.points = [Point()]

    def met(self, one: State, other: State, merged: State) -> State:
        """Return two states as one, with the trails of both."""
        edges = tuple(sorted({*_edges(one), *_edges(other)}))
        return replace(merged, trail=Trail(edges=edges))

    def reached(self, states: list[State]) -> list[State]:
        """Return the states of one place, with trails that begin there if any paths met."""
        if any(_trail(state).edges for state in states):
            return [self._begun(state) for state in states]
        return states

    def _begun(self, state: State) -> State:
        k = len(self.points)
        for origin, n in _edges(state):
            self.points[origin].after.add((n, k))
        self.points.append(Point(state))
        return replace(state, trail=Trail(k, state.steps))

    def compared(self, state: State, fact: Fact, total: Exact) -> None:
        """Note what a comparison of sums is about, whose difference is given."""
        orders = self.points[_trail(state).origin].orders.setdefault(state.at, [])
        if (margin := _margin(fact, self.of.n_classes)) is not None:
            n, k = self._scale(total, state.region)
            order = (*margin, 1 << k if fact[2] else 1, n, k)
            if order not in orders:
                orders.append(order)


def _margin(fact: Fact, n_classes: int) -> tuple[int, int, int] | None:
    """
    Return two costs and by how much the first one is less at least; None for other facts.

    Costs by the tables before a gate follow those by all tables.
    """
    places = []
    for one in fact[:2]:
        if isinstance(one, int):
            places.append((one, 0))
        elif isinstance(one, tuple) and one[0] == "first":
            places.append((n_classes + one[1], one[2]))
    if len(places) < 2:
        return None
    (a, more), (b, more_than) = places
    return a, b, more - more_than + fact[2]


def _trail(state: State) -> Trail:
    return state.trail if isinstance(state.trail, Trail) else Trail()


def _edges(state: State) -> tuple[tuple[int, int], ...]:
    trail = _trail(state)
    return trail.edges or ((trail.origin, state.steps - trail.steps),)


def certificate(
    trace: Trace, model: Model, verdict: Verdict, symbol: str, score_bytes: int
) -> dict[str, Any]:
    """Return the certificate of a proof, as JSON."""
    writer = _Writer(trace, model, verdict.entry in OF_READINGS)
    written = [writer.point(point) for point in reversed(trace.points)][::-1]
    states = [one for own in written for one in own]
    ends = np.cumsum([len(own) for own in written]).tolist()
    for state in states:
        # Which of the states of a point follows one is not known yet.
        state["next"] = [
            [n, j] for n, k in state["next"] for j in range(ends[k] - len(written[k]), ends[k])
        ]
    axes = range(len(writer.starts))
    order = sorted(range(len(writer.maps)), key=lambda k: writer.maps[k][0])
    places = {k: place for place, k in enumerate(order)}
    for state in states[1:]:
        state["region"] = [[places[k] for k in box] for box in state["region"]]
    return {
        "format": 7,
        "elf": verdict.elf,
        "target": verdict.target,
        "entry": verdict.entry,
        "symbol": symbol,
        "instructions": verdict.instructions,
        "stack": verdict.stack,
        "score_bytes": score_bytes if verdict.entry in OF_SCORES else 0,
        "axes": [starts.tolist() for starts in writer.starts],
        "maps": [[levels for one, levels in writer.maps if one == axis] for axis in axes],
        "terms": [[[places[k] for k in maps], numbers] for maps, numbers in writer.terms],
        "values": list(writer.values),
        "states": states,
    }


def reached(
    states: Sequence[Mapping[str, Any]], unused: Collection[tuple[int, ...]]
) -> list[dict[str, Any]]:
    """Return the states of a certificate that paths reach, with what follows and their steps."""
    steps = {0: 0}
    after = {}
    for k, state in enumerate(states):  # Each is before those that follow it
        if k in steps:
            shift = steps[k] - state.get("steps", 0)
            after[k] = [(n + shift, j) for n, j in state["next"] if (k, n, j) not in unused]
            for n, j in after[k]:
                steps[j] = max(n, steps.get(j, 0))
    places = {k: place for place, k in enumerate(after)}
    found = [{**states[k], "next": [[n, places[j]] for n, j in after[k]]} for k in places]
    return [
        found[0],
        *({**one, "steps": steps[k]} for k, one in zip(after, found, strict=True) if k),
    ]


def to_bytes(document: Mapping[str, Any]) -> bytes:
    """Return the content of a certificate's file; equal certificates give equal bytes."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return gzip.compress(text.encode("ascii") + b"\n", mtime=0)


class _Writer:
    """Writes values and regions over intervals of each input."""

    def __init__(self, trace: Trace, model: Model, is_raw: bool) -> None:
        self._algebra, self._n_classes = trace.algebra, trace.of.n_classes
        apart = Apart(trace.algebra)
        points = [point for point in trace.points if point.state is not None]
        self._states = {p: apart.states(p.state) for p in reversed(points) if p.state is not None}
        regions = [one.region for own in self._states.values() for one in own]
        partitions = list(trace.algebra.partitions)
        self.starts: list[IntArray] = []
        self._ends: list[IntArray] = []
        for axis, one in enumerate(trace.of.inputs):
            end = 1 << 8 * one.size
            edges = {0, *_state_edges(model, axis, end, is_raw), *breakpoints(regions, axis)}
            for partition in partitions:
                if axis in partition.scope:
                    edges |= partition.edges(axis)
            self.starts.append(np.array(sorted(e for e in edges if e < end), dtype=np.int64))
            self._ends.append(np.append(self.starts[-1][1:], end) - 1)
        self.maps: _Table = _Table()
        self.terms: _Table = _Table()
        self.values: _Table = _Table()
        self._of_terms: dict[tuple[Term, ...], int] = {}
        self._needed: set[Merged] = set()

    def point(self, point: Point) -> list[dict[str, Any]]:
        """Return the states of a point with what leads to the next ones."""
        start = 0 if point.state is None else point.state.steps
        found: dict[str, Any] = {
            "next": sorted([start + n, k] for n, k in point.after),
            "orders": {
                str(at): [list(one) for one in orders] for at, orders in point.orders.items()
            },
        }
        if point.state is None:
            return [found]
        return [found | self._state(state) for state in self._states[point]]

    def _state(self, state: State) -> dict[str, Any]:
        self._algebra.region = state.region
        contents = dict(state.registers)
        for part, (kind, operands) in state.flags.items():
            contents |= {f"{part} {kind} {k}": content for k, content in enumerate(operands)}
        registers = {name: self._content(content) for name, content in contents.items()}
        every = (_margin(fact, self._n_classes) for fact in state.facts)
        facts = [fact for fact in every if fact is not None and fact[0] != fact[1]]
        return {
            "at": state.at,
            "region": [self._box(box) for box in state.region],
            "registers": {name: k for name, k in registers.items() if k is not None},
            "memory": [*self._stack(state), *self._memory("output", state.output)],
            "facts": sorted(map(list, facts)),
            "gate": (OPEN in state.facts) - (CLOSED in state.facts),
            "steps": state.steps,
            "deepest": state.deepest,
        }

    def _stack(self, state: State) -> Iterator[list[str | int]]:
        """Yield what the stack has from its pointer on."""
        pointer = read(state.registers["sp"], self._algebra)
        own = {at: cell for at, cell in state.stack.items() if at >= signed(pointer.const)}
        return self._memory("stack", own)

    def _memory(self, base: str, memory: Mapping[int, Cell]) -> Iterator[list[str | int]]:
        """Yield region, offset, size and value of what was written."""
        for at, cell in memory.items():
            k = self._content(cell.content)
            if k is not None:
                yield [base, at, cell.size, k]

    def _box(self, box: Box) -> list[int]:
        found = [np.ones(len(starts), dtype=np.int64) for starts in self.starts]
        for axis, allowed in box:
            starts = self.starts[axis]
            inside = [(starts >= low) & (starts <= high) for low, high in allowed]
            found[axis] &= np.any(inside, axis=0)
        return [self.maps.of([k, one.repeat(2).tolist()]) for k, one in enumerate(found)]

    def _content(self, content: Content) -> int | None:
        """Return the number of a value; None if nothing reads it or it is not known."""
        if isinstance(content, Deferred) and not content.is_read:
            return None
        if isinstance(content, Merged):
            if not (content.is_read or content in self._needed):
                return None
            self._note(content)
        try:
            return self._value(read(content, self._algebra))
        except UndecidedError:
            return None

    def _note(self, content: Merged) -> None:
        """Note that values whose parts another has are needed where their paths met."""
        waiting = [content]
        while waiting:
            for source in waiting.pop().sources:
                if source not in self._needed:
                    self._needed.add(source)
                    waiting.append(source)

    def _value(self, value: Value) -> int | None:
        base = value.base
        if base is not None and base not in _NUMBERS and not base.startswith("initial "):
            return None
        # Functions of the same input are one: bits of each alone need not be constant anywhere.
        groups: dict[object, list[Term]] = {}
        for p, term in value.terms.items():
            groups.setdefault(p.scope if len(p.scope) == 1 else p, []).append(term)
        terms = []
        for group in map(tuple, groups.values()):
            if group not in self._of_terms:
                self._of_terms[group] = self._term(group)
            terms.append(self._of_terms[group])
        return self.values.of([value.const, base, terms])

    def _term(self, group: Sequence[Term]) -> int:
        """Return the number of a function, written by its numbers at first and last numbers."""
        scope = group[0].partition.scope
        maps, grid = self._grid(group[0])
        for term in group[1:]:
            (levels,), other = self._grid(term)
            grid = grid[maps[0]] + other[levels]
            maps = [np.arange(len(grid))]
        for k in range(len(scope)):
            rows = np.moveaxis(grid, k, 0).reshape(grid.shape[k], -1)
            _, first, levels = np.unique(rows, axis=0, return_index=True, return_inverse=True)
            grid, maps[k] = grid.take(first, axis=k), levels.ravel()[maps[k]]
        numbers = [
            self.maps.of([axis, one.tolist()]) for axis, one in zip(scope, maps, strict=True)
        ]
        return self.terms.of([numbers, grid.ravel().tolist()])

    def _grid(self, term: Term) -> tuple[list[IntArray], IntArray]:
        """Return the levels of each input of a function, and its numbers by level."""
        partition, values, slopes = term.partition, term.values, term.slopes
        scope = partition.scope
        starts = []
        for axis in scope:
            own = np.array(sorted({0, *partition.edges(axis)}), dtype=np.int64)
            starts.append(own[own <= self.starts[axis][-1]])
        if np.prod([len(one) for one in starts]) > MOST_GRID:
            raise UndecidedError("cells", "a value depends on too many inputs for a certificate")
        maps = [
            np.searchsorted(one, self.starts[axis], side="right").repeat(2) - 1
            for axis, one in zip(scope, starts, strict=True)
        ]
        if partition.is_single:
            index: IntArray = np.full(len(starts[0]), -1, dtype=np.int64)
            for k, cell in enumerate(partition.cells):
                for low, high in cell[0][0][1]:
                    first, last = np.searchsorted(starts[0], (low, high + 1))
                    index[first:last] = k
        else:
            index = partition.index(tuple(tuple(one.tolist()) for one in starts))
        grid = np.append(values, 0)[index]
        if slopes is not None:
            points = np.stack([self.starts[scope[0]], self._ends[scope[0]]], axis=1).ravel()
            grid = grid[maps[0]] + np.append(slopes, 0)[index][maps[0]] * points
            return [np.arange(len(points))], np.asarray(grid)
        return [*maps], grid


class _Table(list[Any]):
    """Different items, each once."""

    def __init__(self) -> None:
        super().__init__()
        self._places: dict[str, int] = {}

    def of(self, item: Any) -> int:
        """Return the place of an item."""
        key = json.dumps(item)
        if key not in self._places:
            self._places[key] = len(self)
            self.append(item)
        return self._places[key]


def _state_edges(model: Model, axis: int, end: int, is_raw: bool) -> set[int]:
    """Return where states may stop to ascend, or to descend, with the bits of an input."""
    feature = model.features[axis]
    n = len(feature.categories) if is_raw and feature.categories else feature.n_states
    numeric = {0x7F80_0001, 0xFF80_0001}
    return {end // 2, end // 2 + 1, *(numeric if is_raw and feature.is_numeric else {n})}
