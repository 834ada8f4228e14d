"""
Values over all inputs of a box: a base, a constant and functions of few inputs, modulo 2^32.

Each input is divided into intervals. A function is given by its numbers at the points, which are
the first and the last number of each interval; in between, it is linear in each input. It is flat
if it is the same at the first and the last number of each interval, so constant in between. A box
is a set of points for each input: those of the intervals from which the input may be.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Box: TypeAlias = tuple[NDArray[np.bool_], ...]
WORD = 1 << 32
EXACT = 1 << 62
"""A modulus larger than any sum of numbers."""
MOST = 1 << 16
"""Largest number of combinations of levels that an operation looks at."""


class RejectedError(Exception):
    """A step is not confirmed."""


def require(condition: object, text: str) -> None:
    """Reject a step unless a condition holds."""
    if not condition:
        raise RejectedError(text)


@dataclass(frozen=True, eq=False)
class Term:
    """A function: for each of its inputs the level of each point, and a number for all levels."""

    levels: dict[int, Ints]  # By input, ascending
    grid: Ints


@dataclass(frozen=True, eq=False)
class Value:
    """A sum of a constant and terms, from the start of a region of memory if there is a base."""

    const: int
    terms: tuple[Term, ...] = ()
    base: str | None = None


UNKNOWN = Value(0, (), "?")


class Algebra:
    """Operations on values for the inputs of one box."""

    def __init__(self, starts: Sequence[Ints], ends: Sequence[Ints]) -> None:
        self.points = [np.stack(pair, axis=1).ravel() for pair in zip(starts, ends, strict=True)]
        self.box: Box = tuple(np.ones(len(one), dtype=bool) for one in self.points)
        self.order: Callable[[Value], bool | None] = lambda _: None

    # Functions

    def line(self, axis: int, numbers: Ints) -> Term:
        """Return a function of one input by its numbers at all points."""
        grid, levels = np.unique(numbers, return_inverse=True)
        return Term({axis: levels}, grid)

    def is_flat(self, t: Term) -> bool:
        """Return whether a function is constant on each interval of the box."""
        inside = ((k, m[self.box[axis]]) for k, (axis, m) in enumerate(t.levels.items()))
        pairs = ((t.grid.take(m[::2], k), t.grid.take(m[1::2], k)) for k, m in inside)
        return all((first == last).all() for first, last in pairs)

    def inside(self, t: Term) -> Ints:
        """Return the numbers of a function in the box."""
        if all(self.box[axis].all() for axis in t.levels):
            return t.grid
        return t.grid[np.ix_(*(np.unique(m[self.box[axis]]) for axis, m in t.levels.items()))]

    def bounds(self, a: Value) -> tuple[int, int]:
        """Return bounds of an exact sum."""
        numbers = [self.inside(t) for t in a.terms]
        low, high = sum(int(x.min()) for x in numbers), sum(int(x.max()) for x in numbers)
        return a.const + low, a.const + high

    def common(self, terms: Sequence[Term]) -> tuple[dict[int, Ints], dict[int, Ints]]:
        """Return joint levels of terms by input, and a point of each level, in the box."""
        levels, samples = {}, {}
        for axis in sorted({axis for t in terms for axis in t.levels}):
            inside = np.flatnonzero(self.box[axis])
            joint = np.zeros(len(inside), dtype=np.int64)
            for m in (t.levels[axis][inside] for t in terms if axis in t.levels):
                joint = np.unique(joint * (m.max() + 1) + m, return_inverse=True)[1]
            levels[axis] = np.zeros(len(self.box[axis]), dtype=np.int64)
            levels[axis][inside] = joint
            samples[axis] = inside[np.unique(joint, return_index=True)[1]]
        return levels, samples

    @staticmethod
    def at(t: Term, samples: dict[int, Ints]) -> Ints:
        """Return a function at points of inputs, with a dimension for each."""
        grid = t.grid[np.ix_(*(m[samples[axis]] for axis, m in t.levels.items()))]
        return grid.reshape([len(x) if axis in t.levels else 1 for axis, x in samples.items()])

    def combined(self, f: Callable[..., Any], *sums: Value) -> Value:
        """Return a function of exact sums, computed at all points of the box."""
        levels, samples = self.common([t for a in sums for t in a.terms])
        shape = [len(points) for points in samples.values()]
        require(prod(shape) <= MOST, "a function of too many inputs")
        zero = np.zeros(shape, dtype=np.int64)
        grids = (sum((self.at(t, samples) for t in a.terms), zero + a.const) for a in sums)
        grid = np.asarray(f(*grids), dtype=np.int64)
        require((np.abs(grid) < 1 << 48).all(), "numbers of too many bits")
        # Levels with the same numbers become one, and inputs with one level are left out.
        for k, axis in enumerate(levels):
            rows = [row.tobytes() for row in np.moveaxis(grid, k, 0)]
            place = {row: level for level, row in enumerate(rows)}
            number = {row: level for level, row in enumerate(place)}
            grid = grid.take([*place.values()], axis=k)
            levels[axis] = np.array([number[row] for row in rows])[levels[axis]]
        kept = {axis: m for (axis, m), n in zip(levels.items(), grid.shape, strict=True) if n > 1}
        return Value(0, (Term(kept, grid.squeeze()),)) if kept else Value(grid.item())

    def pointwise(self, f: Callable[..., Any], *words: Value) -> Value:
        """Return a function of words that depend on few inputs."""
        if any(a.base for a in words):
            return UNKNOWN
        is_flat = all(self.is_flat(t) for a in words for t in a.terms)
        require(is_flat, "an operation on a reading that its intervals do not decide")
        return self.combined(lambda *grids: f(*(x % WORD for x in grids)) % WORD, *words)

    def value(self, const: int, terms: Iterable[Term], base: str | None = None) -> Value:
        """Return a sum with one function of the same inputs."""
        groups: dict[tuple[int, ...], list[Term]] = {}
        for t in terms:
            groups.setdefault(tuple(t.levels), []).append(t)
        kept: list[Term] = []
        for group in groups.values():
            joined = Value(0, tuple(group))
            if len(group) > 1:
                joined = self.combined(lambda x: x, joined)
            const += joined.const
            kept += (t for t in joined.terms if t.grid.any())
        return Value(const, tuple(kept), base)

    # Arithmetic

    def times(self, a: Value, k: int) -> Value:
        """Return an exact multiple of an exact sum."""
        is_small = all(int(np.abs(t.grid).max()) * abs(k) < 1 << 48 for t in a.terms)
        require(is_small, "a multiple of too many bits")
        return Value(a.const * k, tuple(Term(t.levels, t.grid * k) for t in a.terms))

    def plus(self, a: Value, b: Value) -> Value:
        """Return an exact sum of exact sums."""
        return self.value(a.const + b.const, (*a.terms, *b.terms))

    def add(self, a: Value, b: Value) -> Value:
        """Return ``a + b``."""
        if "?" in (a.base, b.base) or (a.base and b.base):
            return UNKNOWN
        total = self.plus(a, b)
        return Value(total.const % WORD, total.terms, a.base or b.base)

    def sub(self, a: Value, b: Value) -> Value:
        """Return ``a - b``; the distance if both have the same base."""
        if a.base == b.base != "?":
            a, b = Value(a.const, a.terms), Value(b.const, b.terms)
        return self.add(a, self.scaled(b, -1))

    def scaled(self, a: Value, k: int) -> Value:
        """Return a multiple."""
        if a.base:
            return UNKNOWN
        k = (k + WORD // 2) % WORD - WORD // 2
        flat = [t for t in a.terms if self.is_flat(t)]
        lines = self.times(Value(a.const, tuple(t for t in a.terms if t not in flat)), k)
        terms = [Term(t.levels, t.grid % WORD * k % WORD) for t in flat]
        return self.value(lines.const % WORD, (*terms, *lines.terms))

    def split(self, a: Value, n: int) -> tuple[Value, Value]:
        """Return the lowest n bits of an exact sum, and what is above them; both are exact."""
        require(not a.base, "bits of an address")
        require(all(self.separates(t, n) for t in a.terms), "a reading in intervals too large")
        for is_centered in (False, True):
            lows = [self.lowest(t, n, is_centered) for t in a.terms]
            low = self.value(a.const % (1 << n), lows)
            least, most = (bound >> n for bound in self.bounds(low))
            highs = [
                Term(t.levels, (t.grid - x.grid) >> n) for t, x in zip(a.terms, lows, strict=True)
            ]
            high = self.value(a.const >> n, highs)
            if least == most:
                return self.plus(low, Value(-least << n)), self.plus(high, Value(least))
        # The sum of the lower parts carries for some inputs only: it must depend on few.
        low = self.combined(lambda x: x, low)
        require(all(self.separates(t, n) for t in low.terms), "a carry out of bits of a reading")
        carry = self.combined(lambda x: x >> n, low)
        return self.combined(lambda x: x % (1 << n), low), self.plus(high, carry)

    def separates(self, t: Term, n: int) -> bool:
        """Return whether on each interval the lowest n bits are constant, or those above them."""
        if self.is_flat(t) or len(t.levels) > 1:
            return self.is_flat(t)
        ((axis, m),) = t.levels.items()
        first, last = t.grid[m].reshape(-1, 2).T
        steps = self.points[axis][1::2] - self.points[axis][::2]
        is_steep = (last - first) % np.maximum(steps << n, 1) == 0  # A slope of multiples of 2^n
        return bool((is_steep | (first >> n == last >> n))[self.box[axis][::2]].all())

    def lowest(self, t: Term, n: int, is_centered: bool) -> Term:
        """Return the lowest n bits of a function, or what is equal modulo 2^n and about zero."""
        size = 1 << n
        low = Term(t.levels, t.grid % size)
        if not is_centered or not self.is_flat(t):
            return low
        numbers = np.unique(self.inside(low))  # They leave out the largest gap
        gaps = np.diff(np.append(numbers, numbers[0] + size))
        start = numbers[(int(gaps.argmax()) + 1) % len(numbers)]
        return Term(t.levels, np.where(low.grid >= start, low.grid - size, low.grid))

    def field(self, a: Value, k: int, n: int) -> Value:
        """Return n bits from bit k on."""
        above = self.split(a, k)[1] if k else a
        return self.low(above, min(n, 32 - k))

    def low(self, a: Value, n: int) -> Value:
        """Return the lowest n bits."""
        return self.split(a, n)[0]

    def sext(self, a: Value, n: int) -> Value:
        """Return the lowest n bits with their sign."""
        half = Value(1 << n - 1)
        return self.sub(self.low(self.add(a, half), n), half)

    def sar(self, a: Value, k: int) -> Value:
        """Return ``a >> k`` with copies of the sign."""
        raised = self.field(self.add(a, Value(1 << 31)), k, 32 - k)
        return self.sub(raised, Value(1 << 31 - k))

    # Bits

    def bits_and(self, a: Value, b: Value) -> Value:
        """Return ``a & b``."""
        if a.base or b.base:
            return UNKNOWN
        a, b = (a, b) if a.terms else (b, a)
        if not self.possible(a) & self.possible(b):
            return Value(0)
        if b.terms:
            return self.pointwise(lambda x, y: x & y, a, b)
        found = Value(0)
        for ones in re.finditer("1+", f"{b.const:b}"[::-1]):
            field = self.field(a, ones.start(), ones.end() - ones.start())
            found = self.add(found, self.scaled(field, 1 << ones.start()))
        return found

    def possible(self, a: Value) -> int:
        """Return a mask of the bits that may be 1."""
        low, high = self.bounds(a)
        most = high.bit_length() if 0 <= low and high < WORD else 32
        ones = a.const
        for t in a.terms:
            ones |= int(np.bitwise_or.reduce(self.inside(t), axis=None)) if self.is_flat(t) else 1
        return (1 << most) - (ones & -ones) if a.terms else a.const

    def bits_or(self, a: Value, b: Value) -> Value:
        """Return ``a | b``."""
        return self.sub(self.add(a, b), self.bits_and(a, b))

    def bits_xor(self, a: Value, b: Value) -> Value:
        """Return ``a ^ b``."""
        if not b.terms and b.const == WORD - 1:
            return self.sub(b, a)
        return self.sub(self.add(a, b), self.scaled(self.bits_and(a, b), 2))

    # Comparisons

    def less(self, a: Value, b: Value, *, is_signed: bool = False) -> Value:
        """Return 1 where ``a < b``, else 0."""
        if a.base or b.base:
            distance = self.sub(a, b)
            require(not distance.base and not distance.terms, "addresses that are compared")
            return Value(int(distance.const >= WORD // 2))
        half = Value((WORD // 2) * is_signed)
        first, second = (self.split(self.add(one, half), 32)[0] for one in (a, b))
        return self.negative(self.plus(first, self.times(second, -1)))

    def negative(self, total: Value) -> Value:
        """Return 1 where an exact sum is negative, else 0."""
        low, high = self.bounds(total)
        known = high < 0 if high < 0 or low >= 0 else self.order(total)
        if known is not None:
            return Value(int(known))
        found = self.combined(lambda x: x < 0, total)
        require(all(self.is_flat(t) for t in found.terms), "intervals do not separate a comparison")
        return found

    def equal(self, a: Value, b: Value) -> Value:
        """Return 1 where both are equal, else 0."""
        distance = self.low(self.sub(a, b), 32)
        return self.negative(self.plus(distance, Value(-1)))

    def opposite(self, a: Value) -> Value:
        """Return ``1 - a``."""
        return self.sub(Value(1), a)

    def vanishes(self, a: Value, modulus: int = WORD) -> bool:
        """Return whether a sum is zero modulo a number for all inputs of the box."""
        if not all(self.is_flat(t) for t in a.terms):
            return False
        # Each function is a sum of parts that are zero at a first point of each of their inputs.
        # The whole is zero where the sums of the parts of the same inputs are.
        _, samples = self.common(a.terms)
        sums: dict[tuple[int, ...], Any] = {(): np.array([a.const % modulus])}
        for t in a.terms:
            own = {axis: samples[axis] for axis in t.levels}
            parts: dict[tuple[int, ...], Ints] = {(): self.at(t, own)}
            for k, axis in enumerate(t.levels):
                for scope, part in list(parts.items()):
                    parts[scope] = part.take([0], axis=k)
                    parts[(*scope, axis)] = part - parts[scope]
            for scope, part in parts.items():
                sums[scope] = sums.get(scope, 0) + part.ravel()
        return not any((one % modulus).any() for one in sums.values())

    # Boxes

    def cases(self, a: Value) -> list[tuple[int, Box]]:
        """Return disjoint boxes that cover the current one, with the word that a value is there."""
        require(not a.base, "a condition or a result is not known")
        box, found = self.box, []
        whole = self.pointwise(lambda x: x, a) if a.terms else a
        if not whole.terms:
            return [(whole.const % WORD, box)]
        axis, levels = next(iter(whole.terms[0].levels.items()))
        for level in range(levels.max() + 1):
            self.box = restricted(box, axis, levels == level)
            found += self.cases(whole)
        self.box = box
        return found


def restricted(box: Box, axis: int, allowed: NDArray[np.bool_]) -> Box:
    """Return the part of a box with some points of an input."""
    return (*box[:axis], box[axis] & allowed, *box[axis + 1 :])


def meet(box: Box, other: Box) -> Box | None:
    """Return what two boxes have in common; None if nothing."""
    both = tuple(one & two for one, two in zip(box, other, strict=True))
    return both if all(one.any() for one in both) else None


def minus(box: Box, other: Box) -> list[Box]:
    """Return disjoint boxes of the inputs of one box that are not in another."""
    found = []
    for axis, allowed in enumerate(other):
        found.append(restricted(box, axis, ~allowed))
        box = restricted(box, axis, allowed)
    return [one for one in found if all(part.any() for part in one)]
