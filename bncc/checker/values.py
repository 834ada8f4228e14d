"""
Boxes of inputs, and values over them: a base, a constant and functions of few inputs.

Each input is divided into intervals. A function is given by its numbers at the points, which are
the first and the last number of each interval; in between, it is linear in each input. It is flat
if it is the same at the first and the last number of each interval, so constant in between. A box
is a set of points for each input: those of the intervals from which the input may be. Sums are
exact; only `Algebra.scaled` and `Algebra.pointwise` may return another number that is equal modulo
2^32. What has no exact value is refused.
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
"""A modulus that all numbers are smaller than, so that only zero is a multiple."""
MOST = 1 << 18
"""Largest number of combinations of levels that an operation looks at."""


class RejectedError(Exception):
    """A step is not confirmed."""


class SplitError(Exception):
    """A step differs between inputs: its arguments say how the states on each side differ."""


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

    def at(self, samples: dict[int, Ints]) -> Any:
        """Return the sum at points of inputs, with a dimension for each input."""
        mesh = dict(zip(samples, np.ix_(*samples.values()), strict=True))
        parts = (t.grid[tuple(m[mesh[axis]] for axis, m in t.levels.items())] for t in self.terms)
        most = abs(self.const) + sum(int(np.abs(t.grid).max()) for t in self.terms)
        require(most < EXACT, "a sum of too large numbers")
        return sum(parts, np.full([len(x) for x in samples.values()], self.const, dtype=np.int64))


UNKNOWN = Value(0, (), "?")


@dataclass(frozen=True, eq=False)
class Algebra:
    """Operations on values for the inputs of a box."""

    points: Sequence[Ints]
    box: Box

    def order(self, total: Value) -> Value | None:
        """Return -1 if a sum is negative, else 0; None if only its numbers tell."""

    # Boxes

    def meets(self, other: Box) -> bool:
        """Return whether the box has inputs in common with another one."""
        return all((one & two).any() for one, two in zip(self.box, other, strict=True))

    def divide(self, k: int, kinds: NDArray[Any]) -> None:
        """Divide the inputs by the kind of the k-th one, if there are several."""
        sides = [self.box[k] & (kinds == kind) for kind in np.unique(kinds[self.box[k]])]
        if len(sides) > 1:
            raise SplitError(*({"box": (*self.box[:k], s, *self.box[k + 1 :])} for s in sides))

    # Functions

    def is_flat(self, t: Term) -> bool:
        """Return whether a function is constant on each interval of the box."""
        inside = ((k, m[self.box[axis]]) for k, (axis, m) in enumerate(t.levels.items()))
        return all((t.grid.take(m[::2], k) == t.grid.take(m[1::2], k)).all() for k, m in inside)

    def bounds(self, a: Value) -> tuple[int, ...]:
        """Return the bounds of a sum: of few inputs those of its numbers, else of its terms'."""
        is_small = prod(map(len, self.common(a.terms)[1].values())) <= MOST
        sums = [a.terms] if is_small else zip(a.terms, strict=True)
        grids = [Value(0, own).at(self.common(own)[1]) for own in sums]
        return tuple(a.const + sum(int(f(x)) for x in grids) for f in (np.min, np.max))

    def common(self, terms: Sequence[Term]) -> tuple[dict[int, Ints], dict[int, Ints]]:
        """Return joint levels of terms by input, and a point of each level, in the box."""
        levels, samples = {}, {}
        for axis in sorted({axis for t in terms for axis in t.levels}):
            mask = self.box[axis]
            inside = np.where(mask, np.arange(len(mask)), mask.argmax())
            columns = [t.levels[axis][inside] for t in terms if axis in t.levels]
            first, levels[axis] = distinct(columns)
            samples[axis] = inside[first]
        return levels, samples

    def combined(self, f: Callable[..., Any], *sums: Value) -> Value:
        """Return a function of sums, computed at all points of the box."""
        levels, samples = self.common([t for a in sums for t in a.terms])
        require(prod(map(len, samples.values())) <= MOST, "a function of too many inputs")
        grid = np.asarray(f(*(a.at(samples) for a in sums)), dtype=np.int64)
        # Levels with the same numbers become one, and inputs with one level are left out.
        for k, axis in enumerate(levels):
            first, joint = distinct(np.moveaxis(grid, k, -1).reshape(-1, grid.shape[k]))
            grid, levels[axis] = grid.take(first, axis=k), joint[levels[axis]]
        kept = {axis: m for (axis, m), n in zip(levels.items(), grid.shape, strict=True) if n > 1}
        return Value(0, (Term(kept, grid.squeeze()),)) if kept else Value(grid.item())

    def pointwise(self, f: Callable[..., Any], *words: Value) -> Value:
        """Return a function of words that depend on few inputs."""
        require(all(self.is_flat(t) for a in words for t in a.terms), "intervals are too large")
        require(not any(a.base for a in words), "an operation on an address, or on the unknown")
        return self.combined(lambda *grids: signed(f(*(x % WORD for x in grids))), *words)

    def number(self, a: Value) -> int:
        """Return the word that a value is, for inputs that are divided until it is one."""
        whole = self.pointwise(lambda x: x, a)
        for t in whole.terms:
            self.divide(*next(iter(t.levels.items())))
        return whole.const % WORD

    def total(self, const: int, terms: Iterable[Term], base: str | None = None) -> Value:
        """Return a sum that has one function of the same inputs."""
        groups: dict[tuple[int, ...], list[Term]] = {}
        for t in terms:
            groups.setdefault(tuple(t.levels), []).append(t)
        sums = [Value(0, tuple(group)) for group in groups.values()]
        sums = [self.combined(lambda x: x, one) if len(one.terms) > 1 else one for one in sums]
        kept = tuple(t for one in sums for t in one.terms if t.grid.any())
        return Value(const + sum(one.const for one in sums), kept, base)

    # Arithmetic

    def add(self, a: Value, b: Value) -> Value:
        """Return ``a + b``."""
        require(not (a.base and b.base), "a sum of addresses")
        return self.total(a.const + b.const, (*a.terms, *b.terms), a.base or b.base)

    def sub(self, a: Value, b: Value) -> Value:
        """Return ``a - b``; the distance if both have the same base."""
        if a.base == b.base != "?":
            a, b = Value(a.const, a.terms), Value(b.const, b.terms)
        return self.add(a, self.times(b, -1))

    def times(self, a: Value, k: int) -> Value:
        """Return an exact multiple of a sum."""
        n = max(0, abs(a.const), *(int(np.abs(t.grid).max()) for t in a.terms)) * abs(k)
        require(n < 1 << 48 and not a.base, "a multiple of an address, or of too many bits")
        return Value(a.const * k, tuple(Term(t.levels, t.grid * k) for t in a.terms))

    def scaled(self, a: Value, k: int) -> Value:
        """Return a multiple."""
        k, flat = signed(k), [t for t in a.terms if self.is_flat(t)]
        lines = self.times(Value(0, tuple(t for t in a.terms if t not in flat), a.base), k).terms
        words = (Term(t.levels, signed(t.grid * k)) for t in flat)
        return Value(signed(a.const * k), (*lines, *words))

    def split(self, a: Value, n: int) -> tuple[Value, Value]:
        """Return the lowest n bits of a sum, and what is above them."""
        require(not a.base and 0 <= n <= 32, "bits of an address, or too many")
        require(all(self.separates(t, n) for t in a.terms), "a reading in intervals too large")
        sign = self.order(a) if {x >> n for x in self.bounds(a)} == {-1, 0} else None
        if sign:
            return self.sub(a, self.times(sign, 1 << n)), sign
        high = self.total(a.const >> n, [Term(t.levels, t.grid >> n) for t in a.terms])
        carry = self.above(low := self.sub(a, self.times(high, 1 << n)), n)
        return self.sub(low, self.times(carry, 1 << n)), self.add(high, carry)

    def above(self, a: Value, n: int) -> Value:
        """Return a sum without its lowest n bits, which few inputs decide, or none."""
        least, most = (bound >> n for bound in self.bounds(a))
        found = Value(least) if least == most else self.combined(lambda x: x >> n, a)
        require(all(map(self.is_flat, found.terms)), "intervals do not separate bits of a sum")
        return found

    def separates(self, t: Term, n: int) -> bool:
        """Return whether on each interval the lowest n bits are constant, or those above them."""
        if self.is_flat(t) or len(t.levels) > 1:
            return self.is_flat(t)
        ((axis, m),) = t.levels.items()
        first, last = t.grid[m].reshape(-1, 2).T
        steps = self.points[axis][1::2] - self.points[axis][::2]
        is_steep = (last - first) % np.maximum(steps << n, 1) == 0  # A slope of multiples of 2^n
        return bool((is_steep | (first >> n == last >> n))[self.box[axis][::2]].all())

    def field(self, a: Value, k: int, n: int) -> Value:
        """Return n bits from bit k on."""
        return self.split(self.split(self.scaled(a, 1), k)[1], min(n, 32 - k))[0]

    def sext(self, a: Value, n: int) -> Value:
        """Return the lowest n bits with their sign."""
        half = Value(1 << n - 1)
        return self.sub(self.field(self.add(a, half), 0, n), half)

    def gathered(self, parts: Iterable[tuple[Value, int, int, int]]) -> Value:
        """Return a word that has from each value, from a bit on, some bits at a place."""
        words = [self.times(self.field(x, k, n), 1 << place) for x, k, n, place in parts]
        return self.total(sum(x.const for x in words), [t for x in words for t in x.terms])

    # Bits

    def bits_and(self, a: Value, b: Value) -> Value:
        """Return ``a & b``."""
        require(not (a.base or b.base), "bits of an address, or of the unknown")
        for x, y in ((a, b), (b, a)):
            low, high = self.bounds(x)
            if 0 <= low and high < WORD and self.vanishes(y, 1 << high.bit_length()):
                return Value(0)
            if not y.terms:
                runs = map(re.Match.span, re.finditer("1+", f"{y.const % WORD:b}"[::-1]))
                return self.gathered((x, k, end - k, k) for k, end in runs)
        return self.pointwise(np.bitwise_and, a, b)

    def bits_or(self, a: Value, b: Value) -> Value:
        """Return ``a | b``."""
        return self.sub(self.add(a, b), self.bits_and(a, b))

    def bits_xor(self, a: Value, b: Value) -> Value:
        """Return ``a ^ b``."""
        return self.sub(self.bits_or(a, b), self.bits_and(a, b))

    # Comparisons

    def less(self, a: Value, b: Value, *, is_signed: bool = False) -> Value:
        """Return 1 where ``a < b``, else 0."""
        first, second = (self.sext(x, 32) if is_signed else self.field(x, 0, 32) for x in (a, b))
        return self.negative(self.sub(first, second))

    def equal(self, a: Value, b: Value) -> Value:
        """Return 1 where both are equal, else 0."""
        return self.less(self.sub(a, b), Value(1))

    def negative(self, total: Value) -> Value:
        """Return 1 where a sum is negative, else 0."""
        return self.times(self.order(total) or self.above(total, 62), -1)

    def vanishes(self, a: Value, modulus: int = WORD) -> bool:
        """Return whether a sum is zero modulo a number for all inputs of the box."""
        # It is, if it is where all inputs but those of one term have their first sample: in the sum
        # of the parts of functions that are zero where one of their inputs has it, none is left.
        samples, scopes = self.common(a.terms)[1], [{}, *(t.levels for t in a.terms)]
        planes = ({k: x if k in own else x[:1] for k, x in samples.items()} for own in scopes)
        is_zero = not any((a.at(one) % modulus).any() for one in planes)
        return is_zero and all(map(self.is_flat, a.terms))

    def same(self, x: Value, y: Value, size: int = 4) -> bool:
        """Return whether the lowest bytes of two values are the same for all inputs of the box."""
        return x is y or (x.base == y.base != "?" and self.vanishes(self.sub(x, y), 1 << 8 * size))


def distinct(columns: Sequence[Ints] | Ints) -> tuple[Ints, Ints]:
    """Return the first row of each kind, and the kind of each row."""
    keys = np.ascontiguousarray(np.transpose(columns)).view(f"V{8 * len(columns)}").ravel()
    return np.unique(keys, return_index=True, return_inverse=True)[1:]


def signed(x: Any) -> Any:
    """Return words as signed numbers."""
    return (x + WORD // 2) % WORD - WORD // 2
