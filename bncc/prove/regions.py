"""
Regions of inputs: sets of values of each input, boxes of them, and partitions into cells.

An input is a reading or a state by its bits, an unsigned number. A set of such numbers is a tuple
of intervals, a box restricts some inputs to sets, and a region is a union of disjoint boxes.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from typing import TypeAlias

import numpy as np

from bncc._types import BoolArray, IntArray

Numbers: TypeAlias = tuple[tuple[int, int], ...]
"""A set of numbers: ascending intervals, first and last included, none next to another."""
Box: TypeAlias = tuple[tuple[int, Numbers], ...]
"""Restrictions of some inputs, by ascending input; others can have any value."""
Region: TypeAlias = tuple[Box, ...]
"""A union of disjoint boxes; the empty tuple is no input at all, ``((),)`` every input."""

EVERYWHERE: Region = ((),)


def numbers(intervals: Iterable[tuple[int, int]]) -> Numbers:
    """Return the union of intervals."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(intervals):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return tuple(found)


def common(a: Numbers, b: Numbers) -> Numbers:
    """Return the numbers in both sets."""
    if a is b or a == b:
        return a
    found = []
    i = j = 0
    while i < len(a) and j < len(b):
        low, high = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if low <= high:
            found.append((low, high))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return tuple(found)


def is_in(a: Numbers, x: int) -> bool:
    """Return whether a number is in a set."""
    return any(low <= x <= high for low, high in a)


def are_in(a: Numbers, x: IntArray) -> BoolArray:
    """Return which numbers (n,) int64 are in a set."""
    ends = np.array([(low, high + 1) for low, high in a], dtype=np.int64).ravel()
    return np.asarray(np.searchsorted(ends, x, side="right") % 2 == 1)


def count_numbers(a: Numbers) -> int:
    """Return how many numbers a set has."""
    return sum(high - low + 1 for low, high in a)


def without(a: Numbers, b: Numbers) -> Numbers:
    """Return the numbers of the first set that are not in the second."""
    edges = [-1, *(edge for low, high in b for edge in (low, high)), 1 << 64]
    gaps = [(edges[k] + 1, edges[k + 1] - 1) for k in range(0, len(edges), 2)]
    return common(a, tuple(gap for gap in gaps if gap[0] <= gap[1]))


def box_in(a: Box, b: Box) -> Box | None:
    """Return what two boxes have in common; None if nothing."""
    if not a or a == b:
        return b
    if not b:
        return a
    found = dict(a)
    for axis, allowed in b:
        if axis in found:
            allowed = common(found[axis], allowed)
            if not allowed:
                return None
        found[axis] = allowed
    return tuple(sorted(found.items()))


def both(a: Region, b: Region) -> Region:
    """Return what two regions have in common."""
    if a == EVERYWHERE or a is b:
        return b
    if b == EVERYWHERE:
        return a
    return tuple(box for p in a for q in b if (box := box_in(p, q)) is not None)


def meets(a: Region, b: Region) -> bool:
    """Return whether two regions have an input in common."""
    return any(_meet(p, q) for p in a for q in b)


def _meet(a: Box, b: Box) -> bool:
    if not a or not b:
        return True
    of_b = dict(b)
    return all(axis not in of_b or common(allowed, of_b[axis]) for axis, allowed in a)


def outside(region: Region, other: Region, full: Sequence[Numbers]) -> Region:
    """Return the inputs of a region that are not in another one, as disjoint boxes."""
    found = region
    for box in other:
        found = tuple(part for own in found for part in _outside(own, box, full))
    return found


def _outside(box: Box, other: Box, full: Sequence[Numbers]) -> Iterator[Box]:
    """Yield what a box has outside of another one: a box for each input that this restricts."""
    if not _meet(box, other):
        yield box
        return
    inside = dict(box)
    for axis, allowed in other:
        own = inside.get(axis, full[axis])
        if rest := without(own, allowed):
            yield tuple(sorted({**inside, axis: rest}.items()))
        inside[axis] = common(own, allowed)


def joined(region: Sequence[Box], full: Sequence[Numbers]) -> Region:
    """
    Return the union of disjoint boxes as few boxes, by joining those that differ in one input.

    `full` has all numbers that each input can be: a box that allows all of them does not name it.
    """
    found = list(dict.fromkeys(_named(box, full) for box in region))
    while len(found) > 1:
        again: dict[Box, object] = {}
        for box in found:
            _join(again, box, full)
        if len(again) == len(found):
            break
        found = list(again)
    return tuple(found)


def added(region: Region, boxes: Region, full: Sequence[Numbers]) -> Region:
    """Return the union of disjoint regions, of which the first one is joined already."""
    found: dict[Box, object] = dict.fromkeys(region)
    for box in joined(boxes, full):
        _join(found, box, full)
    return tuple(found)


def _join(found: dict[Box, object], box: Box, full: Sequence[Numbers]) -> None:
    """Add a box to others, joined with the first one that differs in one input only."""
    for other in found:
        one = _joined(other, box)
        if one is not None:
            del found[other]
            _join(found, _named(one, full), full)
            return
    found[box] = box


def _joined(a: Box, b: Box) -> Box | None:
    if len(a) != len(b):
        return None
    differing = [k for k in range(len(a)) if a[k] != b[k]]
    if len(differing) != 1 or a[differing[0]][0] != b[differing[0]][0]:
        return None
    k = differing[0]
    return (*a[:k], (a[k][0], numbers((*a[k][1], *b[k][1]))), *a[k + 1 :])


def _named(box: Box, full: Sequence[Numbers]) -> Box:
    if all(allowed != full[axis] for axis, allowed in box):
        return box
    return tuple((axis, allowed) for axis, allowed in box if allowed != full[axis])


def count_inputs(region: Region, full: Sequence[Numbers]) -> int:
    """Return how many inputs a region has; `full` has all numbers of each input."""
    sizes = [count_numbers(allowed) for allowed in full]
    every = prod(sizes)
    found = 0
    for box in region:
        n = every
        for axis, allowed in box:
            n = n // sizes[axis] * count_numbers(allowed)
        found += n
    return found


def axis_numbers(region: Region, axis: int, full: Numbers) -> Numbers:
    """Return the numbers that an input can be in a region."""
    return numbers(interval for box in region for interval in dict(box).get(axis, full))


def points_in(region: Region, points: IntArray) -> BoolArray:
    """Return which points (n, n_inputs), numbers of each input, are in a region."""
    found = np.zeros(len(points), dtype=bool)
    for box in region:
        own = np.ones(len(points), dtype=bool)
        for axis, allowed in box:
            x = points[:, axis]
            own &= np.logical_or.reduce([(low <= x) & (x <= high) for low, high in allowed])
        found |= own
    return found


class Partition:
    """
    Disjoint regions, the cells, on each of which a function of few inputs is constant.

    Equal partitions are one object, made by `partition`, so they compare by identity. Cells need
    not cover every input: where none is, values are not defined and no run gets there.
    """

    __slots__ = ("_edges", "_indices", "cells", "scope")

    def __init__(self, cells: tuple[Region, ...]) -> None:
        self.cells = cells
        self._edges: dict[int, frozenset[int]] = {}
        self._indices: dict[tuple[tuple[int, ...], ...], IntArray] = {}
        self.scope = tuple(sorted({axis for cell in cells for box in cell for axis, _ in box}))

    @property
    def is_single(self) -> bool:
        """True if all cells are sets of numbers of one input."""
        return len(self.scope) == 1 and all(len(c) == 1 and len(c[0]) == 1 for c in self.cells)

    def edges(self, axis: int) -> frozenset[int]:
        """Return where the intervals of an input begin, and the numbers after them."""
        if axis not in self._edges:
            self._edges[axis] = frozenset(breakpoints(self.cells, axis))
        return self._edges[axis]

    def index(self, starts: tuple[tuple[int, ...], ...]) -> IntArray:
        """
        Return the cell at each combination of numbers; the last but one index, -1, for none.

        `starts` has some numbers of each input of the scope. Shapes: returns one axis per input.
        """
        if starts not in self._indices:
            found = np.full(tuple(map(len, starts)), -1, dtype=np.int64)
            numbers_of = [np.array(of, dtype=np.int64) for of in starts]
            known: dict[tuple[int, Numbers], IntArray] = {}
            for k, cell in enumerate(self.cells):
                for box in cell:
                    own = dict(box)
                    at = list[IntArray]()
                    for place, axis in enumerate(self.scope):
                        allowed = own.get(axis)
                        if allowed is None:
                            at.append(np.arange(len(starts[place])))
                            continue
                        if (axis, allowed) not in known:
                            known[axis, allowed] = np.flatnonzero(
                                are_in(allowed, numbers_of[place])
                            )
                        at.append(known[axis, allowed])
                    found[np.ix_(*at)] = k
            self._indices[starts] = found
        return self._indices[starts]


class Partitions:
    """Partitions of one proof, each once, and their overlays."""

    def __init__(self) -> None:
        self._known: dict[tuple[Region, ...], Partition] = {}
        self._overlays: dict[
            tuple[int, int], tuple[Partition, tuple[int, ...], tuple[int, ...]]
        ] = {}
        self.check_time: Callable[[], None] = lambda: None  # It raises where none is left

    def __iter__(self) -> Iterator[Partition]:
        return iter(self._known.values())

    def of(self, cells: Iterable[Region]) -> Partition:
        """Return the partition with some cells."""
        self.check_time()
        key = tuple(cells)
        if key not in self._known:
            self._known[key] = Partition(key)
        return self._known[key]

    def of_axis(self, axis: int, cells: Iterable[Numbers]) -> Partition:
        """Return a partition of one input."""
        return self.of((((axis, allowed),),) for allowed in cells)

    def overlay(
        self, p: Partition, q: Partition, most: int
    ) -> tuple[Partition, tuple[int, ...], tuple[int, ...]] | None:
        """Return the cells of both, with the cell of each that they are in; None if too many."""
        if p is q:
            every = tuple(range(len(p.cells)))
            return p, every, every
        key = (id(p), id(q))
        if key not in self._overlays:
            pairs = _pairs(p, q, most, self.check_time)
            if pairs is None:
                return None
            cells = [cell for cell, _, _ in pairs]
            self._overlays[key] = (
                self.of(cells), tuple(a for _, a, _ in pairs), tuple(b for _, _, b in pairs)
            )  # fmt: skip
        return self._overlays[key]


def _pairs(
    p: Partition, q: Partition, most: int, check_time: Callable[[], None]
) -> list[tuple[Region, int, int]] | None:
    if p.is_single and q.is_single and p.scope == q.scope:
        return _pairs_of_axis(p, q)
    if not set(p.scope) & set(q.scope) and len(p.cells) * len(q.cells) > most:
        return None
    found = []
    candidates = _candidates(p, q)
    for a, cell in enumerate(p.cells):
        check_time()
        for b in candidates(cell):
            region = both(cell, q.cells[b])
            if region:
                found.append((region, a, b))
                if len(found) > most:
                    return None
    return found


def _candidates(p: Partition, q: Partition) -> Callable[[Region], Sequence[int]]:
    """Return which cells of one partition can meet a cell of the other, by their shared inputs."""
    every = range(len(q.cells))
    shared = sorted(set(p.scope) & set(q.scope))
    tables: list[tuple[int, dict[Numbers | None, set[int]]]] = []
    for axis in shared:
        of_numbers: dict[Numbers | None, set[int]] = {}
        for k, cell in enumerate(q.cells):
            for box in cell:
                of_numbers.setdefault(dict(box).get(axis), set()).add(k)
        tables.append((axis, of_numbers))
    known: dict[tuple[int, Numbers], set[int]] = {}

    def of_cell(cell: Region) -> Sequence[int]:
        if len(cell) != 1:
            return every
        own = dict(cell[0])
        found: set[int] | None = None
        for axis, of_numbers in tables:
            allowed = own.get(axis)
            if allowed is None:
                continue
            if (axis, allowed) not in known:
                known[axis, allowed] = {
                    k
                    for other, members in of_numbers.items()
                    if other is None or common(allowed, other)
                    for k in members
                }
            met = known[axis, allowed]
            found = met if found is None else found & met
        return every if found is None else sorted(found)

    return of_cell


def _pairs_of_axis(p: Partition, q: Partition) -> list[tuple[Region, int, int]]:
    axis = p.scope[0]
    intervals: dict[tuple[int, int], list[tuple[int, int]]] = {}
    ends = [
        sorted((low, high, k) for k, cell in enumerate(one.cells) for low, high in cell[0][0][1])
        for one in (p, q)
    ]
    i = j = 0
    first, second = ends
    while i < len(first) and j < len(second):
        low, high = max(first[i][0], second[j][0]), min(first[i][1], second[j][1])
        if low <= high:
            intervals.setdefault((first[i][2], second[j][2]), []).append((low, high))
        if first[i][1] < second[j][1]:
            i += 1
        else:
            j += 1
    return [((((axis, numbers(found)),),), a, b) for (a, b), found in intervals.items()]


def breakpoints(cells: Iterable[Region], axis: int) -> list[int]:
    """Return the first numbers of the intervals that boxes restrict an input to, and after them."""
    return sorted(
        {
            edge
            for cell in cells
            for box in cell
            for name, allowed in box
            if name == axis
            for low, high in allowed
            for edge in (low, high + 1)
        }
    )


def contains(region: Region, point: Sequence[int]) -> bool:
    """Return whether a region has an input."""
    return any(all(is_in(allowed, point[axis]) for axis, allowed in box) for box in region)


def cell_of(partition: Partition, point: Sequence[int]) -> int:
    """Return the cell of an input, the first one where there is none."""
    for k, cell in enumerate(partition.cells):
        if contains(cell, point):
            return k
    return 0


def padded(sets: Sequence[Numbers]) -> tuple[IntArray, IntArray, IntArray]:
    """Return the first and the last numbers of sets (n, most), and how many intervals each has."""
    sizes = np.array([len(allowed) for allowed in sets])
    low, high = np.zeros((2, len(sets), max(sizes)), dtype=np.int64)
    for k, allowed in enumerate(sets):
        for j, (first, last) in enumerate(allowed):
            low[k, j], high[k, j] = first, last
    return low, high, sizes
