"""Bytes of numbers: put together again, they are those numbers at every input."""

from random import Random

import numpy as np
import pytest

from bncc.prove.avr_meaning import FLAGS, shifted_right
from bncc.prove.avr_run import ByteExpressions
from bncc.prove.instructions import Flags, Load, Set
from bncc.prove.regions import common
from bncc.prove.slices import MOST_DEFERRED, Deferred, Slice, concatenated, sliced
from bncc.prove.state import Draft, Merged, State, read, same
from bncc.prove.values import WORD, Term, UndecidedError, Value
from bncc.prove.words import Words
from tests.unit.prove.brute import contains, number, points_in, random_algebra, random_value, word
from tests.unit.prove.made_up_programs import EQ, RETURN, Program, agrees, to


def bytes_of(content, n, start=0):
    return [sliced(content, 8 * (start + k)) for k in range(n)]


def points_of(algebra):
    return list(points_in(algebra.region, algebra.full))


def number_at(content, algebra, point, n):
    return word(read(content, algebra), point) % (1 << 8 * n)


@pytest.mark.parametrize("seed", range(40))
def test_bytes_of_one_number_are_that_number(seed):
    """Also some bytes of it, with constants above them."""
    rng = Random(seed)
    algebra = random_algebra(rng, most=20)
    whole = random_value(rng, algebra)
    start = rng.randrange(2)
    n = rng.randint(1, 3)
    zeros = rng.randrange(4 - n)
    parts = [*bytes_of(whole, n, start), *[Value(0)] * zeros]
    found = concatenated(parts, algebra)
    for point in points_in(algebra.region, algebra.full):
        wanted = word(whole, point) >> 8 * start & (1 << 8 * n) - 1
        assert number_at(found, algebra, point, n + zeros) == wanted


@pytest.mark.parametrize("seed", range(60))
def test_shifts_and_masks_of_a_sum_are_its_bits(seed):
    """Byte by byte, as a loop of `lsr` and `ror` moves, `andi` masks and `ori` sets them."""
    rng = Random(seed)
    algebra = random_algebra(rng, most=20)
    whole = random_value(rng, algebra)
    expressions = ByteExpressions(algebra)
    registers = dict(zip("abcd", bytes_of(whole, 4), strict=True))
    n = rng.randint(1, 4)
    names = "abcd"[:n]
    wanted = {point: word(whole, point) % (1 << 8 * n) for point in points_of(algebra)}
    for _ in range(rng.randint(1, 9)):
        draft = Draft(State(0, (), registers))
        if rng.random() < 0.7:
            for effect in shifted_right(0, names):
                if isinstance(effect, Set) and effect.register not in FLAGS:
                    draft.registers[effect.register] = expressions.content(draft, effect.value)
            wanted = {point: number >> 1 for point, number in wanted.items()}
        else:
            mask, operation = rng.randrange(1 << 8 * n), rng.choice(("and", "or"))
            for k, name in enumerate(names):
                expression = (operation, name, mask >> 8 * k & 255)
                draft.registers[name] = expressions.content(draft, expression)
            done = int.__and__ if operation == "and" else int.__or__
            wanted = {point: done(number, mask) for point, number in wanted.items()}
        registers = {name: draft.registers[name] for name in "abcd"}
    draft = Draft(State(0, (), registers))
    found = expressions.content(draft, ("cat", *names))
    for point, x in wanted.items():
        assert number_at(found, algebra, point, n) == x


def test_lanes_of_a_sum_are_moved_bit_by_bit():
    """Their bits depend on all inputs, each lane on few functions."""
    full = (((0, 255),),) * 12
    algebra = Words(full)
    cells = [[((x, x),)] for x in range(256)]
    terms = []
    for axis in range(12):
        partition = algebra.partitions.of_axis(axis, [cell for (cell,) in cells])
        values = np.array([x * 37 % 53 | (x * 11 % 31) << 10 for x in range(256)], dtype=np.int64)
        terms.append(Term(partition, values))
    total = algebra.value(0, terms)
    with pytest.raises(UndecidedError):
        algebra.shifted(total, 9)
    expressions = ByteExpressions(algebra)
    registers = dict(zip("abcd", bytes_of(total, 4), strict=True))
    for _ in range(10):
        draft = Draft(State(0, (), registers))
        for effect in shifted_right(0, "abcd"):
            if isinstance(effect, Set) and effect.register not in FLAGS:
                draft.registers[effect.register] = expressions.content(draft, effect.value)
        registers = {name: draft.registers[name] for name in "abcd"}
    lane = read(expressions.content(Draft(State(0, (), registers)), ("cat", *"abcd")), algebra)
    for x in ([0] * 12, [1] * 12, list(range(12)), [255] * 12):
        assert word(lane, tuple(x)) == sum(number * 11 % 31 for number in x)


def test_a_lane_above_ones_is_a_lane():
    """As it is compared with others: `least` has ones below the lane."""
    full = (((0, 255),),) * 12
    algebra = Words(full)
    cells = [[((x, x),)] for x in range(256)]
    partitions = [
        algebra.partitions.of_axis(axis, [cell for (cell,) in cells]) for axis in range(12)
    ]
    values = np.array([(x * 11 % 31) << 20 for x in range(256)], dtype=np.int64)
    total = algebra.value(0, [Term(partition, values) for partition in partitions])
    expressions = ByteExpressions(algebra)
    draft = Draft(State(0, (), dict(zip("abcd", bytes_of(total, 4), strict=True))))
    for name, ones in (("a", 255), ("b", 255), ("c", 15)):
        draft.registers[name] = expressions.content(draft, ("or", name, ones))
    assert same(draft.registers["a"], Value(255))
    least = read(expressions.content(draft, ("cat", *"abcd")), algebra)
    for x in ([0] * 12, [1] * 12, list(range(12)), [255] * 12):
        assert word(least, tuple(x)) == (sum(number * 11 % 31 for number in x) << 20) + 0xFFFFF


@pytest.mark.parametrize("seed", range(40))
def test_bytes_of_different_numbers_stay_apart(seed):
    rng = Random(seed)
    algebra = random_algebra(rng, most=12)
    numbers = [random_value(rng, algebra) for _ in range(3)]
    places = [rng.randrange(4) for _ in numbers]
    found = concatenated([sliced(x, 8 * k) for x, k in zip(numbers, places, strict=True)], algebra)
    for point in points_in(algebra.region, algebra.full):
        wanted = [word(x, point) >> 8 * k & 255 for x, k in zip(numbers, places, strict=True)]
        assert number_at(found, algebra, point, 3) == int.from_bytes(wanted, "little")


@pytest.mark.parametrize("seed", range(40))
def test_bytes_of_paths_that_met_are_joined_by_region(seed):
    """Each byte has its own regions; some bytes are the same on all paths."""
    rng = Random(seed)
    algebra = random_algebra(rng, most=12)
    axis = rng.randrange(len(algebra.full))
    numbers = algebra.full[axis]
    middle = numbers[0][0] + 1
    parts = common(numbers, ((0, middle - 1),)), common(numbers, ((middle, WORD),))
    sides = [(((axis, part),),) for part in parts]
    first, second = random_value(rng, algebra), random_value(rng, algebra)
    low = Merged(tuple(zip(sides, (Slice(first, 0), Slice(second, 0)), strict=True)))
    high = Merged(tuple(zip(sides[::-1], (Slice(second, 8), Slice(first, 8)), strict=True)))
    top = sliced(first, 16)
    found = concatenated([low, high, top], algebra)
    here = algebra.region
    for point in points_in(here, algebra.full):
        own = first if contains(sides[0], point) else second
        wanted = word(own, point) & 0xFFFF | word(first, point) & 0xFF0000
        assert number_at(found, algebra, point, 3) == wanted
    assert algebra.region == here


def test_only_what_is_certainly_equal_is_the_same():
    number, other = Value(7), Value(8)
    assert same(Slice(number, 8), Slice(Value(7), 8))
    assert not same(Slice(number, 8), Slice(number, 0))
    assert not same(Slice(number, 8), Slice(other, 8))
    assert not same(Slice(number, 8), Slice(number, 8, 0x7F))
    assert not same(Slice(number, 8, 0x7F), Slice(number, 8, 0x7F, 0x80))
    assert not same(Slice(number, 8), number)
    expression = ("add", "r1", 1)
    one = Deferred(expression, {"r1": number}, None)
    assert same(one, Deferred(expression, {"r1": Value(7)}, None))
    assert not same(one, Deferred(expression, {"r1": other}, None))
    assert not same(one, Deferred(("add", "r1", 2), {"r1": number}, None))
    assert not same(one, Deferred(expression, {"r1": one}, None))


def test_a_byte_of_an_address_is_no_number():
    algebra = random_algebra(Random(1))
    pointer = Value(3, base="stack")
    parts = bytes_of(pointer, 2)
    assert read(concatenated(parts, algebra), algebra).equals(pointer)
    for wrong in (parts[::-1], [parts[0], Value(0)], [*parts, Value(0)], [Value(0), *parts]):
        with pytest.raises(UndecidedError, match="pointers"):
            concatenated(wrong, algebra)


def test_operations_do_not_wait_without_end():
    """A flag may depend on itself in each iteration of a loop."""
    algebra = random_algebra(Random(1))
    found = Value(1)
    for _ in range(MOST_DEFERRED):
        found = Deferred("x", {"x": found}, lambda operands, x: read(operands[x], algebra))
    assert read(found, algebra).number == 1
    found = Deferred("x", {"x": found}, lambda operands, x: read(operands[x], algebra))
    with pytest.raises(UndecidedError, match="too many operations"):
        read(found, algebra)
    assert not same(found, Deferred("x", {"x": found}, None))


@pytest.mark.parametrize("mask", [255, 15, 2, 128])
@pytest.mark.parametrize("seed", range(20))
def test_the_complement_of_a_byte_is_that_of_its_number(seed, mask):
    rng = Random(seed)
    algebra = random_algebra(rng, most=20)
    whole = random_value(rng, algebra)
    at = 8 * rng.randrange(4)
    expressions = ByteExpressions(algebra)
    draft = Draft(State(0, (), {"r5": Slice(whole, at, mask)}))
    found = expressions.content(draft, ("sub", 0xFF, "r5"))
    assert isinstance(found, Slice) == (mask == 255) or not whole.terms
    for point in points_in(algebra.region, algebra.full):
        assert number_at(found, algebra, point, 4) == 255 - (word(whole, point) >> at & mask)


# Carries of shifts

SHIFTED_OUT = ("and", ("shr", "r2", 1), 1)
"""Carry of a shift by two."""


@pytest.mark.parametrize("bit", [SHIFTED_OUT, ("and", ("shr", "r2", 2), 1)])
def test_a_carry_of_a_shift_is_of_what_was_shifted(bit):
    """It is read after the register has another value."""
    run = agrees(Program(
        (Load("r2", "r0", 1),),
        (Flags("logic", "r2", carry=bit),),
        (Load("r2", ("add", "r0", 1), 1),),
        (Set("r0", ("ite", ("flag", "cs"), "r2", 7)),),
        RETURN,
    ))  # fmt: skip
    value = read(run.ends[0].registers["r0"], run.algebra)
    assert number(run.algebra, value, (2, 3)) == (3 if bit is SHIFTED_OUT else 7)


def test_a_carry_of_paths_that_meet():
    """Each path has shifted another number."""
    lines = (
        (Load("r2", "r0", 1),),
        (Load("r3", ("add", "r0", 1), 1),),
        (Flags("logic", "r2", carry=SHIFTED_OUT),),
        (to(5, EQ),),
        (Flags("logic", "r3", carry=("and", "r3", 1)),),
        (Set("r0", ("ite", ("flag", "cs"), 1, 2)),),
        RETURN,
    )
    assert len(agrees(Program(*lines)).ends) == 1


def test_a_carry_that_nothing_tests_is_not_computed():
    """It would be a bit of a sum of all readings."""
    run = Program((Load("r2", "r0", 1),), (Flags("logic", "r2", carry=SHIFTED_OUT),), RETURN).run()
    (carry,) = run.ends[0].flags["c"][1]
    assert not carry.is_read
    assert number(run.algebra, read(carry, run.algebra), (2, 3)) == 1
    assert carry.is_read
