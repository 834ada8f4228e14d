"""
Contents of 8-bit registers: bytes of wider numbers, and operations that wait until they are read.

A byte of a sum of many inputs is no sum of functions of few inputs, but the sum itself is. A
`Slice` therefore keeps the number that it is a byte of, and `concatenated` puts bytes of one number
together again. Nor are the bits between two lanes of a sum, so that a shift or a mask of a slice is
another slice: lanes are moved bit by bit, and are numbers again once all bits of each are in place.
What a program computes and never uses, as most flags are, is never evaluated: a `Deferred`
operation keeps its operands.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from bncc.prove.regions import Region, both, meets
from bncc.prove.state import DEFERRED, Content, Flagged, Merged, read, same
from bncc.prove.values import OBJECTS, WORD, UndecidedError, Value
from bncc.prove.words import Words

MOST_DEFERRED = 16
"""Largest number of operations that wait for one another."""
_BYTE = 0xFF
Evaluate = Callable[[Mapping[str, Content], object], Value]


class Slice:
    """Bits of a number, and others that are set: ``whole >> at & mask | ones``, no bit in both."""

    __slots__ = ("at", "mask", "ones", "whole")

    def __init__(self, whole: Content, at: int, mask: int = _BYTE, ones: int = 0) -> None:
        self.whole, self.at, self.ones = whole, at, ones
        self.mask = mask & WORD - 1 >> at & ~ones

    def value(self, algebra: Words) -> Value:
        """Return the bits as a number."""
        whole, found = read(self.whole, algebra), Value(self.ones)
        for first, end in map(re.Match.span, re.finditer("1+", f"{self.mask:b}"[::-1])):
            run = algebra.field(whole, self.at + first, end - first)
            found = algebra.add(found, algebra.scaled(run, 1 << first))
        return found

    def equals(self, other: object) -> bool:
        """Return whether both are the same bits of equal numbers."""
        return self is other or (
            isinstance(other, Slice)
            and (self.at, self.mask, self.ones) == (other.at, other.mask, other.ones)
            and same(self.whole, other.whole)
        )


class Operands:
    """Contents of registers, and of those that are flags, in the place of a draft."""

    def __init__(self, contents: Mapping[str, Content], flags: Collection[str] = ()) -> None:
        self.registers = contents
        self.flags: Flagged = {
            name: (DEFERRED, (x,)) for name, x in contents.items() if name in flags
        }


class Deferred:
    """An operation on the contents that registers had, done when its result is read."""

    __slots__ = ("_evaluate", "depth", "expression", "is_read", "operands")

    def __init__(
        self, expression: object, operands: Mapping[str, Content], evaluate: Evaluate
    ) -> None:
        depths = (x.depth for x in operands.values() if isinstance(x, Deferred))
        self.depth: int = 1 + max(depths, default=0)
        self.expression, self._evaluate = expression, evaluate
        self.operands = operands if self.depth <= MOST_DEFERRED else {}
        self.is_read = False  # True once any path has read it

    def value(self, algebra: Words) -> Value:
        """Return the result, for the current region."""
        if self.depth > MOST_DEFERRED:
            raise UndecidedError("operation", "a result of too many operations that were not read")
        self.is_read = True
        return self._evaluate(self.operands, self.expression)

    def equals(self, other: object) -> bool:
        """Return whether both are the same operation on equal numbers; deeper ones may differ."""
        if self is other:
            return True
        return (
            isinstance(other, Deferred)
            and max(self.depth, other.depth) <= MOST_DEFERRED
            and self.expression is other.expression
            and self.operands.keys() == other.operands.keys()
            and all(
                not isinstance(x, Deferred) and same(x, other.operands[name])
                for name, x in self.operands.items()
            )
        )


def sliced(whole: Content, at: int, mask: int = _BYTE) -> Content:
    """Return some bits of a number, from bit `at` on."""
    if isinstance(whole, Value) and whole.number is not None:
        return Value(whole.const >> at & mask)
    found = Slice(whole, at, mask)
    if isinstance(whole, Slice):
        found = Slice(whole.whole, whole.at + at, whole.mask >> at & mask, whole.ones >> at & mask)
    return found if found.mask else Value(found.ones)


def with_ones(part: Slice, ones: int) -> Content:
    """Return bits of a number, with some of them set."""
    found = Slice(part.whole, part.at, part.mask, part.ones | ones)
    return found if found.mask else Value(found.ones)


def lowest_of_address(whole: object, n: int) -> Slice | None:
    """Return the lowest n bits of an address in an object; None for anything else."""
    if isinstance(whole, Value) and whole.base in OBJECTS and not whole.terms:
        return Slice(whole, 0, (1 << n) - 1)
    return None


def distance_of(a: object, b: object) -> int | None:
    """Return the difference of the lowest n bits of two addresses in an object, modulo 2^n."""
    if not (isinstance(a, Slice) and isinstance(b, Slice)):
        return None
    first, second = a.whole, b.whole
    if not (isinstance(first, Value) and isinstance(second, Value)):
        return None
    if first.base != second.base or lowest_of_address(first, 1) is None or second.terms:
        return None
    is_lowest = (a.at, a.ones, b.at, b.ones) == (0, 0, 0, 0) and a.mask == b.mask
    if not is_lowest or a.mask & a.mask + 1:
        return None
    return (first.const - second.const) & a.mask


def consecutive(parts: Sequence[Content]) -> Slice | None:
    """
    Return bytes, the least significant first, as bits of one number; None if they are not.

    Bytes that are constants have none of its bits.
    """
    slices = [(k, part) for k, part in enumerate(parts) if isinstance(part, Slice)]
    if not slices:
        return None
    first, at = slices[0][1], slices[0][1].at - 8 * slices[0][0]
    mask = ones = 0
    for k, part in enumerate(parts):
        if isinstance(part, Slice) and part.at == at + 8 * k and same(part.whole, first.whole):
            mask |= part.mask << 8 * k
            ones |= part.ones << 8 * k
        elif isinstance(part, Value) and part.number is not None:
            ones |= (part.number & _BYTE) << 8 * k
        else:
            return None
    return Slice(first.whole, at, mask, ones) if at >= 0 else None


def concatenated(parts: Sequence[Content], algebra: Words) -> Content:
    """
    Return bytes as one number, the least significant first.

    Bits of the result above those of the bytes have no meaning: a sum of bytes keeps its carry.
    """
    for merged in parts:
        if isinstance(merged, Merged):
            return _distributed(parts, merged, algebra)
    found = Value(0)
    k = 0
    while k < len(parts):
        n = _run(parts, k)
        found = _joined(found, _whole(parts, k, n, algebra), 8 * k, algebra)
        k += n
    return found


def _run(parts: Sequence[Content], k: int) -> int:
    """Return how many bytes from the k-th on are consecutive ones of one number."""
    first = parts[k]
    n = 1
    if isinstance(first, Slice) and first.mask == _BYTE:
        while k + n < len(parts) and Slice(first.whole, first.at + 8 * n).equals(parts[k + n]):
            n += 1
    return n


def _whole(parts: Sequence[Content], k: int, n: int, algebra: Words) -> Value:
    """Return n consecutive bytes as one number; the topmost ones with what is above them."""
    first = parts[k]
    if not isinstance(first, Slice) or first.mask != _BYTE:
        return read(first, algebra)
    whole = read(first.whole, algebra)
    if k + n < len(parts):
        return algebra.field(whole, first.at, 8 * n)
    return algebra.shifted(whole, first.at) if first.at else whole


def _joined(lower: Value, upper: Value, at: int, algebra: Words) -> Value:
    if at == 0:
        return upper
    return algebra.add(lower, algebra.scaled(upper, 1 << at))


def _distributed(parts: Sequence[Content], merged: Merged, algebra: Words) -> Content:
    """Put bytes together on each region on which they have one content."""
    here = algebra.region
    found: list[tuple[Region, Content]] = []
    try:
        for region, part in merged.parts:
            inside = both(region, here)
            if not inside:
                continue
            algebra.region = inside
            own = [part if one is merged else _within(one, inside) for one in parts]
            found.append((inside, concatenated(own, algebra)))
    finally:
        algebra.region = here
    return found[0][1] if len(found) == 1 else Merged(tuple(found))


def _within(content: Content, region: Region) -> Content:
    """Return a content in a region."""
    if not isinstance(content, Merged):
        return content
    kept = tuple((both(own, region), x) for own, x in content.parts if meets(own, region))
    return kept[0][1] if len(kept) == 1 else Merged(kept)


def names_in(expression: object) -> Iterable[str]:
    """Return the registers and flags that an expression reads."""
    if isinstance(expression, str):
        yield expression
    elif isinstance(expression, tuple):
        for part in expression[1:]:
            yield from names_in(part)
