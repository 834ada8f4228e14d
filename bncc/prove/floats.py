"""Comparisons of floats by their bits, for readings and constants."""

import numpy as np

from bncc.prove.algebra import Algebra
from bncc.prove.regions import Numbers, common, numbers, without
from bncc.prove.values import Term, UndecidedError, Value

_INFINITY, _SIGN, _LAST = 0x7F80_0000, 1 << 31, (1 << 32) - 1


def below(bits: int, *, or_equal: bool) -> Numbers:
    """Return the bits of all floats less than one that is not NaN, or equal to it."""
    if bits & ~_SIGN == 0:
        negative = (_SIGN + 1, _SIGN | _INFINITY)
        return numbers([(0, 0), (_SIGN, _SIGN), negative]) if or_equal else (negative,)
    if bits < _SIGN:
        return numbers([(0, bits if or_equal else bits - 1), (_SIGN, _SIGN | _INFINITY)])
    first = bits if or_equal else bits + 1
    return ((first, _SIGN | _INFINITY),) if first <= (_SIGN | _INFINITY) else ()


def equal(bits: int) -> Numbers:
    """Return the bits of all floats equal to one that is not NaN."""
    return ((0, 0), (_SIGN, _SIGN)) if bits & ~_SIGN == 0 else ((bits, bits),)


ORDERED: Numbers = ((0, _INFINITY), (_SIGN, _SIGN | _INFINITY))
"""The bits of all floats but NaN."""


def is_nan(bits: int) -> bool:
    """Return whether bits are those of a NaN."""
    return bits & ~_SIGN > _INFINITY


def compared(algebra: Algebra, name: str, a: Value, b: Value) -> Value:
    """Return 1 where ``feq``, ``flt`` or ``fle`` holds; each operand is a reading or a constant."""
    algebra.check_number(a)
    algebra.check_number(b)
    if a.equals(b):
        if name == "flt":
            return Value(0)
        return _where(algebra, a, ORDERED)
    if b.number is not None:
        bits = b.const
        if is_nan(bits):
            return Value(0)
        allowed = equal(bits) if name == "feq" else below(bits, or_equal=name == "fle")
        return _where(algebra, a, allowed)
    if a.number is not None:
        bits = a.const
        if is_nan(bits):
            return Value(0)
        if name == "feq":
            return _where(algebra, b, equal(bits))
        # bits < b is neither b <= bits nor NaN.
        refused = below(bits, or_equal=name == "flt")
        return _where(algebra, b, without(ORDERED, refused))
    raise UndecidedError("operation", "a comparison of two floats that both depend on the input")


def _where(algebra: Algebra, a: Value, allowed: Numbers) -> Value:
    """Return 1 where a value is among some numbers, else 0."""
    if a.number is not None:
        return Value(int(any(low <= a.const <= high for low, high in allowed)))
    term = algebra.joint(a.terms.values(), "a comparison of floats")
    if term.slopes is None:
        term = algebra.single(a, "a comparison of floats")
        inside = [any(low <= int(v) <= high for low, high in allowed) for v in term.values]
        return algebra.mapped(term, (int(x) for x in inside))
    axis = term.partition.scope[0]
    sides: list[list[tuple[int, int]]] = [[], []]
    for k, cell in enumerate(term.partition.cells):
        if term.slopes[k] != 1 or (int(term.values[k]) + a.const) % (1 << 32):
            raise UndecidedError("operation", "a comparison of a float that was computed")
        own = cell[0][0][1]
        sides[1] += common(own, allowed)
        sides[0] += without(own, allowed)
    cells = [(numbers(side), k) for k, side in enumerate(sides) if side]
    partition = algebra.partitions.of_axis(axis, [cell for cell, _ in cells])
    return algebra.value(0, [Term(partition, np.array([k for _, k in cells], dtype=np.int64))])
