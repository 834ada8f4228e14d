"""Operations on bits that are known together only, and comparisons of few inputs."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bncc.prove.instructions import Flags, Load, Set
from bncc.prove.specification import Input
from bncc.prove.state import read
from bncc.prove.values import WORD, Term, UndecidedError, Value
from bncc.prove.words import Words
from tests.tiers import examples
from tests.unit.prove.brute import number, points_in, random_algebra, random_value, word
from tests.unit.prove.made_up_programs import RETURN, Program, agrees

N = 16
FULL = (((0, 255),),) * N


def either_of(words: Words, factor: int = 1) -> Value:
    """Return the bitwise or of two numbers: how many inputs of each half are above 9."""

    def high(axes: range) -> Value:
        cells = [((0, 9),), ((10, 255),)]
        parts = [words.partitions.of_axis(axis, cells) for axis in axes]
        return words.value(0, [Term(p, np.array([0, factor])) for p in parts])

    return words.bitwise(high(range(N // 2)), high(range(N // 2, N)), "or")


def test_bits_of_checks_that_have_passed_are_zero() -> None:
    """A compiler may return the register of ``(a | b) == 0`` for the constant 0."""
    words = Words(FULL)
    either = either_of(words)
    assert words.settled(either).equals(either)
    words.region = (tuple((axis, ((0, 9),)) for axis in range(N)),)
    assert words.settled(either).number == words.signed(either, 16).number == 0
    words.region = (tuple((axis, ((0, 9),)) for axis in range(1, N)),)
    assert words.settled(either).equals(either)
    with pytest.raises(UndecidedError, match="known together"):
        words.signed(either, 16)
    assert words.settled(Value(3)).number == 3


def test_a_check_of_a_byte_of_several_states() -> None:
    """``(a | b) < 2^k`` holds where no bit from k on is set, also after ``& 255``."""
    words = Words(FULL)
    either = either_of(words)
    assert words.is_number(either)
    assert words.low(either, 8).equals(either)
    words.region = (tuple((axis, ((0, 9),)) for axis in range(1, N)),)
    (term,) = words.less(either, Value(1)).terms.values()
    assert term.partition.scope == (0,)
    words.region = (tuple((axis, ((0, 9),)) for axis in range(N)),)
    for one in (either, words.low(either_of(words, factor=1 << 8 | 1), 8)):
        assert words.less(one, Value(2)).number == 1
        assert words.less(one, Value(1)).number == 1
    words.region = (((0, ((10, 255),)),),)
    assert words.less(either, Value(1)).number == 0
    assert words.less(words.low(either_of(words, factor=1 << 8), 8), Value(1)).number == 1


FOUR = tuple(Input(k, 1, ((0, 2),)) for k in range(4))


@pytest.mark.parametrize("limits", [(2, 5), (1, 5), (5, 2)])
def test_a_number_and_a_limit_that_depend_on_the_same_inputs(limits):
    """The number depends on more inputs than a comparison takes case by case otherwise."""
    product = ("mul", ("mul", "r2", "r3"), ("mul", "r4", "r5"))
    run = agrees(Program(
        *((Load(f"r{2 + k}", ("add", "r0", k), 1),) for k in range(4)),
        (Set("r1", ("ite", ("ult", "r2", 2), *limits)),),
        (Flags("sub", product, "r1"),),
        (Set("r0", ("ite", ("flag", "cc"), 3, 4)),),
        RETURN,
    ), FOUR)  # fmt: skip
    assert len(run.ends) == 1
    value = read(run.ends[0].registers["r0"], run.algebra)
    at_limit = [number(run.algebra, value, point) for point in ((1, 1, 2, 1), (1, 1, 1, 1))]
    assert at_limit == [4 if 2 >= limits[0] else 3, 4 if 1 >= limits[0] else 3]


@pytest.mark.parametrize("limit", [0, 3, 7])
def test_some_of_several_states_is_out_of_range(limit):
    """One check of the bitwise or of all states finds it."""
    run = agrees(Program(
        *((Load(f"r{2 + k}", ("add", "r0", k), 1),) for k in range(3)),
        (Set("r2", ("or", ("or", "r2", "r3"), "r4")),),
        (Set("r0", ("ite", ("ult", limit, "r2"), 1, 0)),),
        RETURN,
    ), tuple(Input(k, 1, ((0, 9),)) for k in range(3)))  # fmt: skip
    assert len(run.ends) == 1


@settings(max_examples=examples(200), derandomize=True)
@given(st.integers(0, 2**32 - 1))
def test_no_value_has_a_bit_that_is_not_possible(seed):
    rng = Random(seed)
    algebra = random_algebra(rng, 8)
    value = random_value(rng, algebra)
    possible = algebra.possible(value)
    assert 0 <= possible < WORD
    for point in points_in(algebra.region, algebra.full):
        assert word(value, point) & ~possible == 0


def test_possible_bits_of_negative_constants_and_of_multiples_of_readings():
    words = Words((((0, 9),), ((0, 255),)))
    few = words.partitions.of_axis(0, [((0, 4),), ((5, 9),)])
    reading = words.partitions.of_axis(1, [((0, 255),)])
    low = Value(WORD - 16, {few: Term(few, np.array([16, 18]))})
    assert words.possible(words.add(low, Value(1))) == 3
    signed = Value(WORD - (128 << 16), {reading: Term(reading, np.array([0]), np.array([1 << 16]))})
    assert words.possible(signed) == WORD - (1 << 16)
    assert words.bitwise(signed, Value(5), "or").base is None
