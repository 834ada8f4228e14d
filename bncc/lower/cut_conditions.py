"""
The condition that a reading's state is at least ``least``, as one comparison in C.

A state counts the thresholds below a reading, so that it is at least ``least`` where the reading
exceeds ``thresholds[least - 1]``. A missing reading is a mark or a code out of range; a subtraction
that wraps around, if anything, places it below or above all others.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from bncc.discretize.feature import Feature
from bncc.discretize.float_order import float_bits, float_key
from bncc.discretize.missing import MISSING_INT
from bncc.discretize.readings import n_known

Compared = Literal["readings", "keys", "states"]
COMPARED: tuple[Compared, ...] = get_args(Compared)
"""Operands of ``predict_raw``: keys are integers that order like the floats, converted once."""
FLOAT_BITS, ORDER, HIGH_BYTE = "float_bits", "order", "high_byte"
"""Functions that conditions call, printed by ``templates/lower/cut_functions.c.j2``."""
FUNCTIONS = (FLOAT_BITS, ORDER, HIGH_BYTE)
"""In the order in which they are printed: the second calls the first."""
INF = float_bits(float("inf"))
LOW_BITS = 0xFF
"""A threshold whose low bits are all ones is compared by its high byte alone."""


@dataclass(frozen=True)
class CutCondition:
    """A comparison that is true if and only if the state of a reading is at least ``least``."""

    # A C expression of Boolean value. Empty where it would be the same for every reading, of which
    # compilers warn.
    text: str
    constant: bool | None = None  # This value if it is the same for every reading
    functions: frozenset[str] = frozenset()  # Which of `FUNCTIONS` it calls
    n_numbers: int = 0  # Numbers in it beyond a byte, which most instructions cannot hold
    n_subtractions: int = 0  # Subtractions before the comparison
    # Where it is ``left > right`` of readings of a kind, or of "word" ``left < right``: that kind,
    # and both in C
    sides: tuple[str, str, str] | None = None

    @property
    def terms(self) -> tuple[int, ...]:
        """Terms of a cost model: a comparison; numbers beyond a byte, subtractions, calls."""
        is_called = int(ORDER in self.functions)
        return (int(bool(self.text)), self.n_numbers, self.n_subtractions, is_called)


def cut_condition(
    feature: Feature, least: int, reading: str, name: str, *, high_byte: bool = True
) -> CutCondition:
    """
    Return the condition that a reading's state is at least ``least``, which is 1 or more.

    ``reading`` is its C expression, and ``name`` what the functions' names start with. With
    ``high_byte``, a number of 16 bits is compared by its high byte alone where that is exact and
    saves loading the other.
    """
    is_missing_above = feature.missing_state >= least
    if feature.kind in ("category", "state"):
        return _code(n_known(feature), least, reading, is_missing_above)
    if least > len(feature.thresholds):
        return _only_missing(feature.kind, reading, name, is_missing_above)
    threshold = feature.thresholds[least - 1]
    if feature.kind == "float32":
        return _float(float(threshold), reading, name, is_missing_above)
    limit = int(threshold)
    in_memory = high_byte and feature.difference is None
    if feature.kind == "int16" and in_memory and _has_high_byte(limit) and not is_missing_above:
        return _exceeds("int8", f"{name}_{HIGH_BYTE}({reading})", str(limit >> 8), HIGH_BYTE)
    return _integer(feature.kind, limit, reading, is_missing_above)


def _has_high_byte(limit: int) -> bool:
    """Return whether the high byte alone says whether an int16 exceeds a limit."""
    return limit & LOW_BITS == LOW_BITS and -(2**15) < limit < 2**15 - 1


def _exceeds(kind: str, left: str, right: str, *functions: str, n_numbers: int = 0) -> CutCondition:
    return CutCondition(
        f"{left} > {right}", None, frozenset(functions), n_numbers, sides=(kind, left, right)
    )


def _constant(value: bool) -> CutCondition:
    return CutCondition("", value)


def _integer(kind: str, limit: int, reading: str, is_missing_above: bool) -> CutCondition:
    """Compare an integer with its threshold; the mark of a missing one is the smallest integer."""
    range_ = np.iinfo(kind)
    low, high = int(range_.min), int(range_.max)
    if kind not in MISSING_INT:
        if not low <= limit < high:
            return _constant(limit < low)
        n_numbers = int(not 0 <= limit <= LOW_BITS)
        return _exceeds(kind, reading, _number(limit, low), n_numbers=n_numbers)
    if not is_missing_above:
        if not low <= limit < high:
            return _constant(False)
        n_numbers = int(abs(limit) > LOW_BITS)  # a negative byte is added instead of subtracted
        return _exceeds(kind, reading, _number(limit, low), n_numbers=n_numbers)
    if limit <= low:
        return _constant(True)
    if limit >= high:
        return _marked(kind, reading)
    # Less the smallest reading, a missing one is the largest number of the type.
    unsigned = f"uint{range_.bits}_t"
    difference = f"({unsigned}){reading} + {high}U"
    if range_.bits < 32:
        difference = f"({unsigned})({difference})"
        return _compared(f"{difference} > {limit + high}U", high, limit + high, n_subtractions=1)
    return _compared(f"({difference}) > {limit + high}U", high, limit + high, n_subtractions=1)


def _number(value: int, low: int) -> str:
    """Print a limit; the smallest integer has no literal of its type."""
    if low == 0:
        return f"{value}U"
    return f"INT{(-2 * low).bit_length() - 1}_MIN" if value == low else str(value)


def _compared(text: str, *numbers: int, n_subtractions: int = 0) -> CutCondition:
    n_numbers = sum(not 0 <= number <= LOW_BITS for number in numbers)
    return CutCondition(text, n_numbers=n_numbers, n_subtractions=n_subtractions)


def _marked(kind: str, reading: str) -> CutCondition:
    return CutCondition(f"{reading} == {kind.upper()}_MIN", n_numbers=int(kind != "int8"))


def _only_missing(kind: str, reading: str, name: str, is_missing_above: bool) -> CutCondition:
    """Compare with the mark: the state is above all thresholds."""
    if not is_missing_above or (kind != "float32" and kind not in MISSING_INT):
        return _constant(False)
    if kind != "float32":
        return _marked(kind, reading)
    bits = f"((uint32_t){name}_{FLOAT_BITS}({reading}) & 0x7FFFFFFFU)"
    functions = frozenset({FLOAT_BITS})
    return CutCondition(f"{bits} > 0x{INF:08X}U", None, functions, n_numbers=2, n_subtractions=1)


def _float(threshold: float, reading: str, name: str, is_missing_above: bool) -> CutCondition:
    """
    Compare the bits of a float, or the integer that orders like it.

    The bits of numbers from 0.0 to infinity ascend; then come NaN, -0.0 to -infinity, and NaN. So
    the numbers above a threshold of 0.0 or more are neighbors, and so are those up to a negative
    threshold.
    """
    bits = float_bits(threshold) % 2**32
    word = f"((uint32_t){name}_{FLOAT_BITS}({reading}) - 0x"
    functions = frozenset({FLOAT_BITS})
    if threshold >= 0 and not is_missing_above:
        left, right = f"{word}{bits + 1:08X}U)", f"0x{INF - bits:08X}U"
        return CutCondition(f"{left} < {right}", None, functions, 2, 1, ("word", left, right))
    if threshold < 0 and is_missing_above:
        text = f"{word}{bits:08X}U) > 0x{INF + 2**31 - bits:08X}U"
        return CutCondition(text, None, functions, n_numbers=2, n_subtractions=1)
    key, both = float_key(threshold), frozenset({FLOAT_BITS, ORDER})
    order = f"{name}_{ORDER}({reading})"
    if not is_missing_above:
        return _exceeds("int32", order, str(key), FLOAT_BITS, ORDER, n_numbers=1)
    # Less the key of minus infinity, those of NaN wrap around to the largest.
    low = float_key(float("-inf"))
    text = f"((uint32_t){order} + {-low}U) > {key - low}U"
    return CutCondition(text, None, both, n_numbers=2, n_subtractions=1)


def _code(known: int, least: int, reading: str, is_missing_above: bool) -> CutCondition:
    """Compare the code of a category or state; any from ``known`` on is missing."""
    bits = 8 if known <= LOW_BITS else 16
    if is_missing_above:
        return _compared(f"{reading} >= {least}U", least)
    if least >= known:
        return _constant(False)
    if least == known - 1:
        return _compared(f"{reading} == {least}U", least)
    difference = f"(uint{bits}_t)({reading} - {least}U)"
    return _compared(f"{difference} < {known - least}U", least, known - least, n_subtractions=1)
