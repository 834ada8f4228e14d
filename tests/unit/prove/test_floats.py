"""Comparisons of floats by their bits against numpy's."""

from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bncc.prove.floats import ORDERED, below, compared, equal, is_nan
from bncc.prove.regions import numbers
from bncc.prove.values import WORD, Term, UndecidedError, Value
from bncc.prove.words import Words
from tests.tiers import examples
from tests.unit.prove.brute import points_in, word

SPECIAL = [
    0, 1, 0x007F_FFFF, 0x0080_0000, 0x3F80_0000, 0x7F7F_FFFF, 0x7F80_0000, 0x7F80_0001,
    0x7FC0_0000, 0x7FFF_FFFF,
]  # fmt: skip
SPECIAL += [bits | 1 << 31 for bits in SPECIAL]
words = st.sampled_from(SPECIAL) | st.integers(0, WORD - 1)
COMPARISONS = {
    "feq": lambda a, b: a == b,
    "flt": lambda a, b: a < b,
    "fle": lambda a, b: a <= b,
}
EVERY = ((0, WORD - 1),)


def real(bits: int) -> np.float32:
    return np.array(bits, dtype=np.uint32).view(np.float32)[()]


def has(found, bits: int) -> bool:
    return any(low <= bits <= high for low, high in found)


def reading(algebra: Words, axis: int = 0) -> Value:
    partition = algebra.partitions.of_axis(axis, [algebra.full[axis]])
    zero = np.zeros(1, dtype=np.int64)
    return Value(0, {partition: Term(partition, zero, zero + 1)})


def near(bits: int) -> list[int]:
    return [(bits + k) % WORD for k in (-1, 0, 1)] + [
        bits ^ 1 << 31,
        (bits ^ 1 << 31) + 1 & WORD - 1,
    ]


@settings(max_examples=examples(300))
@given(words, words, st.booleans())
def test_the_floats_below_one(bits, other, or_equal):
    assume(not is_nan(bits))
    found = below(bits, or_equal=or_equal)
    assert found == numbers(found)
    for x in (other, *near(bits), *SPECIAL):
        expected = real(x) <= real(bits) if or_equal else real(x) < real(bits)
        assert has(found, x) == expected
        assert has(equal(bits), x) == (real(x) == real(bits))


@given(words)
def test_nan_and_ordered_floats(bits):
    assert is_nan(bits) == bool(np.isnan(real(bits)))
    assert has(ORDERED, bits) == (not is_nan(bits))


@pytest.mark.parametrize("name", COMPARISONS)
@settings(max_examples=examples(120))
@given(constant=words, others=st.lists(words, min_size=3, max_size=6), swapped=st.booleans())
def test_a_reading_and_a_constant(name, constant, others, swapped):
    """For every reading at once; asked at special ones, around the constant, and at random."""
    algebra = Words((EVERY,))
    a, b = reading(algebra), Value(constant)
    if swapped:
        a, b = b, a
    found = compared(algebra, name, a, b)
    for x in (*others, *near(constant), *SPECIAL):
        first, second = (constant, x) if swapped else (x, constant)
        assert word(found, (x,)) == COMPARISONS[name](real(first), real(second)), (first, second)


@pytest.mark.parametrize("name", COMPARISONS)
def test_two_constants(name):
    algebra = Words((EVERY,))
    for x in SPECIAL:
        for y in SPECIAL:
            found = compared(algebra, name, Value(x), Value(y))
            assert found.number == COMPARISONS[name](real(x), real(y)), (x, y)


@pytest.mark.parametrize("name", COMPARISONS)
def test_a_reading_with_itself(name):
    algebra = Words((EVERY,))
    found = compared(algebra, name, reading(algebra), reading(algebra))
    for x in SPECIAL:
        assert word(found, (x,)) == COMPARISONS[name](real(x), real(x))


@pytest.mark.parametrize("name", COMPARISONS)
@settings(max_examples=examples(60))
@given(seed=st.integers(0, 2**32 - 1), constant=words)
def test_a_function_of_a_state_and_a_constant(name, seed, constant):
    """As where code loads a float from a table by a state."""
    rng = Random(seed)
    algebra = Words((((0, 7),),))
    partition = algebra.partitions.of_axis(0, [((k, k),) for k in range(8)])
    values = np.array([rng.choice([constant, *SPECIAL]) for _ in range(8)], dtype=np.int64)
    const = rng.choice([0, 0, 5, WORD - 1])
    a = algebra.value(const, [Term(partition, values)])
    for x, y in ((a, Value(constant)), (Value(constant), a)):
        found = compared(algebra, name, x, y)
        for point in points_in(((),), algebra.full):
            expected = COMPARISONS[name](real(word(x, point)), real(word(y, point)))
            assert word(found, point) == expected


def test_two_readings_and_a_computed_one_are_left_open():
    algebra = Words((EVERY, EVERY))
    x, y = reading(algebra), reading(algebra, 1)
    moved = algebra.add(x, Value(1))
    for a, b in ((x, y), (moved, Value(0x3F80_0000))):
        with pytest.raises(UndecidedError):
            compared(algebra, "flt", a, b)
