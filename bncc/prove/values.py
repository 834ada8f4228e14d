"""
Values of registers over all inputs: a constant plus functions of few inputs, modulo 2^32.

A `Term` is a function that is constant on each cell of a partition or, over one input, linear in
its number x: ``slope * x + value``. A `Value` is the sum of a constant and of terms.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Generic, TypeVar

import numpy as np

from bncc._types import IntArray
from bncc.prove.regions import (
    Partition,
)

WORD = 1 << 32
MOST = 1 << 58
"""Bound of the numbers of a term, so that sums of many fit in 64 bits."""
MASK = WORD - 1
OBJECTS = ("input", "output", "stack")
"""Bases of addresses in an object."""
MOST_CELLS = 1 << 13
"""Largest number of cells of a function, beyond which a proof gives up."""
MOST_PIECES = 1 << 17
"""Largest number of intervals of one reading between which its upper bits differ."""
MOST_GUARD = 512
"""Largest number of cells over which a comparison is decided case by case."""


class UndecidedError(Exception):
    """The abstract run cannot represent something exactly."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code, self.detail = code, detail
        self.place: str | None = None  # Address and instruction


class ViolationError(Exception):
    """The code breaks a rule about memory, registers or time."""

    code = "memory"  # Reason of the verdict


class AlignmentError(ViolationError):
    """An access to memory is not known to be aligned as the processor requires."""

    code = "alignment"


Owner = TypeVar("Owner")
Known = TypeVar("Known")


class once(Generic[Owner, Known]):  # noqa: N801, a decorator like `property`
    """A property that is computed once; unlike `functools.cached_property`, without a lock."""

    def __init__(self, compute: Callable[[Owner], Known]) -> None:
        self._compute, self.__doc__ = compute, compute.__doc__

    def __get__(self, owner: Owner, _: object = None) -> Known:
        found = owner.__dict__[self._compute.__name__] = self._compute(owner)
        return found


@dataclass(frozen=True, eq=False)
class Term:
    """A function of the inputs: constant or linear on each cell of a partition."""

    partition: Partition
    values: IntArray  # By cell; modulo 2^32 where the slope is zero
    slopes: IntArray | None = None  # By cell; None if all are zero

    @once
    def is_reduced(self) -> bool:
        """Return whether it has no slopes of zero alone, and its numbers are below 2^32."""
        if self.slopes is not None:
            return bool(self.slopes.any())
        values = self.values
        return not len(values) or bool(values.min() >= 0 and values.max() < WORD)

    @once
    def constant(self) -> int | None:
        """Return the only value of a function without slopes; None if it has several."""
        if self.slopes is not None:
            return None
        first = int(self.values[0]) if len(self.values) else 0
        return first if (self.values == first).all() else None

    @once
    def bounds_in(self) -> "dict[object, tuple[int, int]]":
        """Return what is known of its bounds, by the name of a region."""
        return {}

    @once
    def parts_at(self) -> "dict[tuple[int, bool], tuple[Term, Term]]":
        """Return what is known of its lower and upper bits."""
        return {}

    @once
    def multiples(self) -> "dict[int, Term]":
        """Return what is known of its multiples modulo 2^32, by factor."""
        return {}

    @once
    def digest(self) -> int:
        """Return a number that equal functions share."""
        slopes = b"" if self.slopes is None else self.slopes.tobytes()
        return hash((id(self.partition), self.values.tobytes(), slopes))

    def equals(self, other: "Term") -> bool:
        """Return whether both are the same function on the same partition."""
        if self is other:
            return True
        if self.partition is not other.partition or (self.slopes is None) != (other.slopes is None):
            return False
        return bool((self.values == other.values).all()) and (
            self.slopes is None or bool((self.slopes == other.slopes).all())
        )


Terms = Mapping[Partition, Term]
NO_TERMS: Terms = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Value:
    """A constant plus terms, modulo 2^32, or such an offset from the start of a memory region."""

    const: int
    terms: Terms = field(default_factory=lambda: NO_TERMS)
    base: str | None = None  # Name of the region of memory, or of an unknown initial content
    is_reduced: bool = False  # All terms are known to be, and none is constant

    @property
    def number(self) -> int | None:
        """The value if it is a constant."""
        return self.const if not self.terms and self.base is None else None

    @once
    def digest(self) -> int:
        """Return a number that values written alike share."""
        return hash((self.const, self.base, frozenset(term.digest for term in self.terms.values())))

    def equals(self, other: "Value") -> bool:
        """Return whether both are written alike, so equal for every input."""
        if self is other:
            return True
        return (
            self.const == other.const
            and self.base == other.base
            and self.terms.keys() == other.terms.keys()
            and all(term.equals(other.terms[p]) for p, term in self.terms.items())
        )


@dataclass(frozen=True, eq=False)
class Exact:
    """A sum of integers, not modulo anything."""

    const: int
    terms: Terms

    def key(self) -> tuple[object, ...]:
        """Return a key that differs from those of other sums."""
        terms = (
            (id(p), t.values.tobytes(), b"" if t.slopes is None else t.slopes.tobytes())
            for p, t in self.terms.items()
        )
        return self.const, tuple(sorted(terms))


class OpenOrderError(Exception):
    """A comparison of two sums of many inputs, whose result is not known on this path."""

    def __init__(self, difference: Exact) -> None:
        super().__init__("a comparison of sums")
        self.difference = difference


def slopes_of(term: Term) -> IntArray:
    """Return the slope on each cell."""
    return np.zeros(len(term.values), dtype=np.int64) if term.slopes is None else term.slopes


def plus(a: Term, b: Term, *, exact: bool = False) -> Term:
    """Return the sum of two terms on one partition; modulo 2^32 unless exact."""
    if a.slopes is None and b.slopes is None:
        total = a.values + b.values
        return Term(a.partition, total if exact else total % WORD)
    return Term(a.partition, a.values + b.values, slopes_of(a) + slopes_of(b))


def times(term: Term, factor: int, *, exact: bool = False) -> Term:
    """Return a multiple of a term; modulo 2^32 unless exact."""
    if exact:
        return _times(term, factor, exact=True)
    if factor not in term.multiples:
        term.multiples[factor] = _times(term, factor, exact=False)
    return term.multiples[factor]


def _times(term: Term, factor: int, *, exact: bool) -> Term:
    if term.slopes is not None or exact:
        largest = max(int(np.abs(one).max(initial=0)) for one in (term.values, slopes_of(term)))
        if abs(factor) * largest >= MOST:
            raise UndecidedError("bits", "a sum of readings has too many bits")
    if term.slopes is not None:
        return Term(term.partition, term.values * factor, term.slopes * factor)
    if exact or factor == -1:
        product = term.values * factor
        return Term(term.partition, product if exact else product % WORD)
    values = [int(v) * factor % WORD for v in term.values]
    return Term(term.partition, np.array(values, dtype=np.int64))


def centered(values: IntArray, size: int) -> IntArray:
    """Return numbers modulo a size in the shortest interval that holds them all."""
    levels = np.unique(values)
    if len(levels) < 2:
        return values
    gaps = np.diff(np.concatenate([levels, levels[:1] + size]))
    start = int(levels[(int(gaps.argmax()) + 1) % len(levels)])
    return np.where(values >= start, values - size, values) if start else values


def signed(number: int) -> int:
    """Return 32 bits as a signed number."""
    number %= WORD
    return number - WORD if number >> 31 else number
