"""Terms: functions of few inputs, of whose sum a value consists, modulo 2^32."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Box: TypeAlias = tuple[Bools, ...]
WORD = 1 << 32


class RejectedError(Exception):
    """A step is not confirmed."""


class UnknownError(Exception):
    """A value cannot be represented."""


class SplitError(Exception):
    """A step needs a condition that differs between inputs, or an order of sums."""

    def __init__(self, by: "Value | tuple[int, int, bool]") -> None:
        super().__init__("a split")
        self.by = by


@dataclass(frozen=True, eq=False)
class Term:
    """
    A function of few inputs.

    A function of one input is ``s * x + v`` on each interval. One of several is an array over
    levels, to which `maps` assigns the intervals of each input.
    """

    axes: tuple[int, ...]
    v: Ints
    s: Ints | None = None
    maps: tuple[Ints, ...] = ()


@dataclass(frozen=True, eq=False)
class Value:
    """A sum of a constant and terms, from the start of a memory region if there is a base."""

    const: int
    terms: tuple[Term, ...] = ()
    base: str | None = None


UNKNOWN = Value(0, (), "?")


def multiplied(terms: Iterable[Term], k: int) -> Iterator[Term]:
    """Yield multiples of terms."""
    for t in terms:
        largest = max(int(np.abs(x).max(initial=0)) for x in (t.v, t.s) if x is not None)
        if largest * abs(k) >= 1 << 62:
            raise UnknownError("a multiple of too many bits")
        yield Term(t.axes, t.v * k, None if t.s is None else t.s * k, t.maps)


def zeros_of(t: Term) -> int:
    """Return how many of the lowest bits are zero in all numbers of a term."""
    arrays = [x for x in (t.v, t.s) if x is not None]
    bits = reduce(lambda x, y: x | y, (int(np.bitwise_or.reduce(x, axis=None)) for x in arrays))
    return min(32, (bits & -bits).bit_length() - 1) if bits else 32


def runs_of(mask: int) -> Iterator[tuple[int, int]]:
    """Yield where the runs of ones in a number begin and end."""
    k = 0
    while mask >> k:
        end = k
        while mask >> end & 1:
            end += 1
        if end > k:
            yield k, end
        k = max(end, k + 1)


def components_of(scope: tuple[int, ...], grid: Ints) -> Iterator[tuple[tuple[int, ...], Ints]]:
    """Yield the functions, zero at every first level, as whose sum a function can be written."""
    for size in range(len(scope) + 1):
        for kept in combinations(range(len(scope)), size):
            part = grid
            for axis in range(len(scope)):
                first = part.take([0], axis=axis)
                part = part - first if axis in kept else first
            yield tuple(scope[k] for k in kept), part.reshape([grid.shape[k] for k in kept])
