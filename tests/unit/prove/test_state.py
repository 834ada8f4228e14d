"""States where paths meet: what they had is what the one state has, at every input."""

from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bncc.prove.instructions import Flags, Load, Set
from bncc.prove.regions import EVERYWHERE, common, joined, without
from bncc.prove.slices import Deferred
from bncc.prove.specification import Input
from bncc.prove.state import ApartError, Cell, Frame, Merged, State, merged
from bncc.prove.values import WORD, Term, UndecidedError, Value
from bncc.prove.words import Words
from tests.tiers import examples
from tests.unit.prove.brute import (
    contains,
    number,
    points_in,
    random_algebra,
    random_part,
    random_value,
    word,
)
from tests.unit.prove.made_up_programs import RETURN, Program, agrees, to

seeds = st.integers(0, 2**32 - 1)
FULL = (((0, 9),),) * 4
FRAME = (Frame(0, -1, -1, ()),)


def state(region=EVERYWHERE, at=4, **more) -> State:
    registers = more.pop("registers", {})
    return State(at, FRAME, registers, region=region, **more)


def read(algebra: Words, content, region) -> Value:
    algebra.region = region
    return content.value(algebra) if isinstance(content, Merged) else content


def split(rng: Random, region, full):
    """Return a region in two or three parts, as branches on readings make them."""
    axis = rng.randrange(len(full))
    part = random_part(rng, full[axis])
    rest = without(full[axis], part)
    found = []
    for own in (part, rest):
        inside = []
        for box in region:
            now = dict(box)
            both = now.get(axis, full[axis])
            kept = tuple((x, y) for x, y in common(both, own))
            if kept:
                now[axis] = kept
                inside.append(tuple(sorted(now.items())))
        if inside:
            found.append(joined(inside, full))
    return found


@pytest.mark.no_cover
@settings(max_examples=examples(100), derandomize=True)
@given(seeds)
def test_registers_flags_and_memory_of_two_to_four_paths(seed):
    """Merged in any order, changed in between on one side or on both, as a run does."""
    rng = Random(seed)
    algebra = random_algebra(rng, 12)
    algebra.region = EVERYWHERE
    full = algebra.full
    names = ("r0", "r1", "r2")
    first = {name: random_value(rng, algebra) for name in names}
    # What each register is at each input, by plain numbers
    truth = {p: {name: word(first[name], p) for name in names} for p in points_in(EVERYWHERE, full)}
    now = state(
        registers=dict(first),
        stack={-4: Cell(4, first["r0"])},
        output={0: Cell(2, first["r1"])},
        flags={"nz": ("sub", (first["r0"], first["r1"]))},
    )
    memory = {p: (t["r0"], t["r1"], t["r0"], t["r1"]) for p, t in truth.items()}
    for _ in range(rng.randint(1, 3)):
        parts = split(rng, EVERYWHERE, full)
        sides = []
        for region in parts:
            side = state(
                region,
                registers=dict(now.registers),
                stack=dict(now.stack),
                output=dict(now.output),
                flags=dict(now.flags),
            )
            algebra.region = region
            for name in names:
                if rng.random() < 0.6:
                    continue
                value = random_value(rng, algebra)
                side.registers[name] = value
                for p in points_in(region, full):
                    truth[p][name] = word(value, p)
            if rng.random() < 0.5:
                value = random_value(rng, algebra)
                side.stack[-4] = side.output[0] = Cell(4, value)
                side.output[0] = Cell(2, value)
                side.flags["nz"] = ("sub", (value, side.flags["nz"][1][1]))
                for p in points_in(region, full):
                    x = word(value, p)
                    memory[p] = (x, x, x, memory[p][3])
            sides.append(side)
        rng.shuffle(sides)
        now = sides[0]
        for side in sides[1:]:
            now = merged(now, side, algebra, full)
            assert now is not None
        assert all(contains(now.region, p) for p in truth)
        if rng.random() < 0.5:
            _compare(algebra, now, truth, memory, names)
    _compare(algebra, now, truth, memory, names)


def _compare(algebra, now, truth, memory, names) -> None:
    contents = [now.registers[name] for name in names]
    contents += [now.stack[-4].content, now.output[0].content, *now.flags["nz"][1]]
    for k, content in enumerate(contents):
        try:
            value = read(algebra, content, EVERYWHERE)
        except UndecidedError:
            continue
        for p, numbers in truth.items():
            expected = [*(numbers[name] for name in names), *memory[p]][k]
            assert word(value, p) == expected, (k, p)


def test_a_register_merged_earlier_and_changed_on_one_side_only():
    """Paths that met earlier were split by another input than those that meet now."""
    algebra = Words((((0, 1),), ((0, 1),)))
    x0, x1 = (((0, ((0, 0),)),),), (((0, ((1, 1),)),),)
    y0, y1 = (((1, ((0, 0),)),),), (((1, ((1, 1),)),),)
    first = merged(
        state(x0, registers={"r0": Value(10)}),
        state(x1, registers={"r0": Value(20)}),
        algebra, algebra.full,
    )  # fmt: skip
    assert first is not None
    second = merged(
        state(y0, registers=dict(first.registers)),
        state(y1, registers={"r0": Value(99)}),
        algebra, algebra.full,
    )  # fmt: skip
    assert second is not None
    value = read(algebra, second.registers["r0"], EVERYWHERE)
    found = {p: word(value, p) for p in points_in(EVERYWHERE, algebra.full)}
    assert found == {(0, 0): 10, (1, 0): 20, (0, 1): 99, (1, 1): 99}


def test_three_paths_with_functions_of_another_input():
    algebra = Words((((0, 8),), ((0, 5),)))
    partition = algebra.partitions.of_axis(1, [((k, k),) for k in range(6)])
    values = [Value(k, {partition: Term(partition, np.arange(6) * (k + 2))}) for k in range(3)]
    states = [
        state((((0, ((3 * k, 3 * k + 2),)),),), registers={"r0": value})
        for k, value in enumerate(values)
    ]
    for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
        now = states[order[0]]
        for k in order[1:]:
            now = merged(now, states[k], algebra, algebra.full)
            assert now is not None
        assert now.region == EVERYWHERE
        value = read(algebra, now.registers["r0"], EVERYWHERE)
        for x, y in points_in(EVERYWHERE, algebra.full):
            k = x // 3
            assert word(value, (x, y)) == k + y * (k + 2)


def test_paths_of_the_same_inputs_with_different_contents_stay_apart():
    """They were split by the order of two sums, which no region tells."""
    algebra = Words((((0, 3),),))
    a = state(registers={"r0": Value(1)}, facts=frozenset({(0, 1, True)}))
    b = state(registers={"r0": Value(2)}, facts=frozenset({(1, 0, False)}))
    assert merged(a, b, algebra, algebra.full) is None
    c = state(registers={"r0": Value(1)}, facts=frozenset({(1, 0, False)}))
    both = merged(a, c, algebra, algebra.full)
    assert both is not None
    assert both.facts == frozenset()


def test_paths_of_other_inputs_and_other_facts_stay_apart_if_they_differ():
    algebra = Words((((0, 3),),))
    low, high = (((0, ((0, 1),)),),), (((0, ((2, 3),)),),)
    a = state(low, registers={"r0": Value(1)}, facts=frozenset({(0, 1, True), (0, 2, True)}))
    b = state(high, registers={"r0": Value(2)}, facts=frozenset({(0, 1, True)}))
    assert merged(a, b, algebra, algebra.full) is None
    c = state(high, registers={"r0": Value(1)}, facts=frozenset({(0, 1, True)}))
    both = merged(a, c, algebra, algebra.full)
    assert both is not None
    assert both.facts == {(0, 1, True)}
    assert both.region == EVERYWHERE


def test_paths_of_some_of_the_same_inputs_with_different_contents_stay_apart():
    """
    The fact that told them apart is lost where each of them met another path.

    Numbers of ``r2`` below 3, below 6 and others are three parts of both sides of a comparison. Two
    parts of other sides meet with a value in ``r5``, and two more with another value.
    """
    inputs = (Input(0, 1, ((0, 8),)), Input(1, 1, ((0, 39),)), Input(2, 1, ((0, 39),)))
    value = ("xor", ("mul", "r3", 3), ("mul", "r4", 5))
    below = ("flag", "cc")
    program = Program(
        tuple(Load(f"r{2 + k}", ("add", "r0", k), 1) for k in range(3)),
        (Flags("sub", "r3", "r4"),), (to(8, below),),
        (Flags("sub", "r2", 3),), (to(16, below),),
        (Flags("sub", "r2", 6),), (to(14, below),), (to(20),),
        (Flags("sub", "r2", 3),), (to(14, below),),
        (Flags("sub", "r2", 6),), (to(20, below),),
        (to(16),), (),
        (Flags("sub", 0, 0),), (to(18),),
        (Flags("sub", 0, 0),), (to(19),),
        (Set("r5", value), to(21)),
        (Set("r5", ("xor", value, 1)), to(21)),
        (Set("r5", 7),),
        (Set("r0", ("xor", "r5", 2)),), RETURN,
    )  # fmt: skip
    run = program.run(inputs)
    algebra = run.algebra
    for point in product((1, 4, 7), (3, 30), (4, 31)):
        found = []
        for end in run.ends:
            if contains(end.region, point):
                bits = algebra.bits(read(algebra, end.registers["r0"], end.region))
                found.append(
                    sum(algebra.diagrams.at(one, point) << k for k, one in enumerate(bits))
                )
        assert program.execute(inputs, point)[0].registers["r0"] in found


def test_a_comparison_that_two_paths_read_depends_on_the_order_that_each_knows():
    """It waits on both sides of a guard until it is read."""
    algebra = Words((((0, 39),),) * 2)
    a, b = (algebra.value(0, [algebra.unit(Term(
        algebra.partitions.of_axis(k, [((0, 39),)]), np.zeros(1, int), np.ones(1, int)
    ))]) for k in range(2))  # fmt: skip
    waiting = [Deferred(k, {}, lambda *_: algebra.less(a, b)) for k in range(2)]
    guard = algebra.diagrams.variable(0)
    one, other = (state(registers={"r0": x}) for x in waiting)
    one, other = one.but(guard=guard), other.but(guard=algebra.diagrams.no(guard))
    content = merged(one, other, algebra, algebra.full).registers["r0"]
    for is_less in (True, False):
        algebra.is_negative = lambda _, known=is_less: known
        assert content.value(algebra).number == is_less
        assert algebra.is_negative(None) == is_less


def test_what_only_one_path_has_is_gone():
    """A cell or a record of flags that one path alone has cannot be read after they met."""
    algebra = Words((((0, 3),),))
    low, high = (((0, ((0, 1),)),),), (((0, ((2, 3),)),),)
    one, two = Value(1), Value(2)
    a = state(
        low,
        registers={"r0": one, "tmp": one},
        stack={-4: Cell(4, one), -8: Cell(4, one), -12: Cell(2, one)},
        flags={"nz": ("sub", (one, two)), "c": ("sub", (one, two)), "v": ("sub", (one, two))},
        output={0: Cell(1, one)},
    )
    b = state(
        high,
        registers={"r0": two},
        stack={-4: Cell(4, two), -12: Cell(4, Value(0, base="initial r4"))},
        flags={"nz": ("add", (one, two)), "c": ("sub", (one, two))},
    )
    both = merged(a, b, algebra, algebra.full)
    assert both is not None
    assert set(both.registers) == {"r0"}
    assert set(both.stack) == {-4}
    assert set(both.output) == set()
    assert set(both.flags) == {"c"}


@pytest.mark.parametrize("is_first", [True, False])
def test_bytes_of_one_path_and_a_constant_of_the_other(is_first):
    """Each byte of a constant is known, but none of what differs between inputs."""
    algebra = Words((((0, 3),),))
    low, high = (((0, ((0, 1),)),),), (((0, ((2, 3),)),),)
    bytes_of = {k: Cell(1, Value(10 + k)) for k in range(3)}
    partition = algebra.partitions.of_axis(0, [((x, x),) for x in range(4)])
    reading = algebra.value(0, [Term(partition, np.arange(4))])
    paths = [
        state(low, output={**bytes_of, 4: Cell(2, Value(7))}),
        state(high, output={0: Cell(4, Value(0x04030201)), 4: Cell(4, reading)}),
    ]
    both = merged(*(paths if is_first else paths[::-1]), algebra, algebra.full)
    assert both is not None
    assert {at: cell.size for at, cell in both.output.items()} == dict.fromkeys(range(3), 1)
    for k in range(3):
        content = both.output[k].content
        assert read(algebra, content, low).number == 10 + k
        assert read(algebra, content, high).number == 1 + k


def test_the_longest_path_and_the_deepest_stack_count():
    algebra = Words((((0, 3),),))
    low, high = (((0, ((0, 1),)),),), (((0, ((2, 3),)),),)
    both = merged(
        state(low, steps=7, deepest=-8), state(high, steps=9, deepest=-4), algebra, algebra.full
    )
    assert both is not None
    assert (both.steps, both.deepest) == (9, -8)


def test_different_addresses_are_no_value():
    algebra = Words((((0, 3),),))
    low, high = (((0, ((0, 1),)),),), (((0, ((2, 3),)),),)
    both = merged(
        state(low, registers={"r0": Value(0, base="stack"), "r1": Value(4, base="input")}),
        state(high, registers={"r0": Value(0, base="input"), "r1": Value(6, base="input")}),
        algebra, algebra.full,
    )  # fmt: skip
    assert both is not None
    with pytest.raises(UndecidedError):
        read(algebra, both.registers["r0"], EVERYWHERE)
    found = read(algebra, both.registers["r1"], EVERYWHERE)
    assert found.base == "input"
    offset = Value(found.const, found.terms)
    assert [word(offset, (x,)) for x in range(4)] == [4, 4, 6, 6]


def test_a_linear_value_and_a_constant():
    """A reading, clamped: the reading below a limit, the limit above."""
    algebra = Words((((0, 9), (WORD - 4, WORD - 1)),))
    partition = algebra.partitions.of_axis(0, [algebra.full[0]])
    zero = np.zeros(1, dtype=np.int64)
    reading = Value(3, {partition: Term(partition, zero, zero + 1)})
    low = (((0, ((0, 5), (WORD - 4, WORD - 1))),),)
    high = (((0, ((6, 9),)),),)
    both = merged(
        state(low, registers={"r0": reading}), state(high, registers={"r0": Value(5)}),
        algebra, algebra.full,
    )  # fmt: skip
    assert both is not None
    value = read(algebra, both.registers["r0"], EVERYWHERE)
    for (x,) in points_in(EVERYWHERE, algebra.full):
        assert word(value, (x,)) == (5 if 6 <= x <= 9 else (x + 3) % WORD)


def test_a_linear_value_where_paths_were_split_by_another_input():
    """The reading of x where y is small, else 0: not a function of y times something."""
    algebra = Words((((0, 5),), ((0, 3),)))
    partition = algebra.partitions.of_axis(0, [algebra.full[0]])
    zero = np.zeros(1, dtype=np.int64)
    reading = Value(0, {partition: Term(partition, zero, zero + 1)})
    low, high = (((1, ((0, 1),)),),), (((1, ((2, 3),)),),)
    both = merged(
        state(low, registers={"r0": reading}), state(high, registers={"r0": Value(0)}),
        algebra, algebra.full,
    )  # fmt: skip
    assert both is not None
    value = read(algebra, both.registers["r0"], EVERYWHERE)
    for x, y in points_in(EVERYWHERE, algebra.full):
        assert word(value, (x, y)) == (x if y < 2 else 0)


def test_a_linear_value_and_a_function_of_another_input():
    """Split by y: where y is small a table by x, else the reading of y."""
    algebra = Words((((0, 5),), ((0, 3),)))
    of_x = algebra.partitions.of_axis(0, [((0, 2),), ((3, 5),)])
    of_y = algebra.partitions.of_axis(1, [algebra.full[1]])
    table = Value(0, {of_x: Term(of_x, np.array([50, 60]))})
    zero = np.zeros(1, dtype=np.int64)
    reading = Value(0, {of_y: Term(of_y, zero, zero + 1)})
    low, high = (((1, ((0, 1),)),),), (((1, ((2, 3),)),),)
    both = merged(
        state(low, registers={"r0": table}), state(high, registers={"r0": reading}),
        algebra, algebra.full,
    )  # fmt: skip
    assert both is not None
    value = read(algebra, both.registers["r0"], EVERYWHERE)
    for x, y in points_in(EVERYWHERE, algebra.full):
        assert word(value, (x, y)) == ((50 if x < 3 else 60) if y < 2 else y)


def test_reading_a_value_leaves_the_current_region():
    algebra = Words((((0, 5),), ((0, 3),)))
    partition = algebra.partitions.of_axis(0, [algebra.full[0]])
    zero = np.zeros(1, dtype=np.int64)
    reading = Value(0, {partition: Term(partition, zero, zero + 1)})
    low, high = (((1, ((0, 1),)),),), (((1, ((2, 3),)),),)
    both = merged(
        state(low, registers={"r0": Value(0)}), state(high, registers={"r0": reading}),
        algebra, algebra.full,
    )  # fmt: skip
    assert both is not None
    read(algebra, both.registers["r0"], EVERYWHERE)
    assert algebra.region == EVERYWHERE


def test_many_paths_meet_without_comparing_all_their_regions(monkeypatch):
    """The error exits of a loop over hundreds of inputs would take hours otherwise."""
    algebra = Words(FULL)
    meeting = [
        state(
            region=(((*((j, ((0, 4),)) for j in range(k)), (k, ((5, 9),))),)),
            registers={"r0": Value(k)},
        )
        for k in range(4)
    ]
    now = merged(meeting[0], meeting[1], algebra, FULL)

    def refused(a, b):
        raise AssertionError("regions are compared")

    monkeypatch.setattr("bncc.prove.state.both", refused)
    for one in meeting[2:]:
        now = merged(now, one, algebra, FULL)
    parts = now.registers["r0"].parts
    assert [(region, value.const) for region, value in parts] == [
        (one.region, k) for k, one in enumerate(meeting)
    ]


def test_but_changes_a_copy():
    one = state(registers={"r0": Value(1)}, steps=3)
    other = one.but(at=8, steps=4)
    assert (one.at, one.steps) == (4, 3)
    assert (other.at, other.steps, other.registers) == (8, 4, one.registers)
    assert other == State(8, FRAME, one.registers, region=EVERYWHERE, steps=4)


# Values that differ between paths


@pytest.mark.parametrize("condition", ["cc", "hi", "eq", "lt"])
@pytest.mark.parametrize("limit", [3, (1 << 31) + 2])
def test_paths_that_compare_two_readings(condition, limit):
    """Two words of a reading each share a comparison, as compilers make of two branches."""
    numbers = ((0, 3), (1 << 30, 1 << 30), ((1 << 31) - 1, (1 << 31) + 2), (WORD - 1, WORD - 1))
    wide = ((0, 1 << 30), ((1 << 31) - 1, WORD - 1))
    program = Program(
        (Load("r2", "r0", 1),),
        (Flags("sub", "r2", 2),),
        (to(5, ("flag", "cs")),),
        (Load("r3", ("add", "r0", 4), 4),),
        (to(6),),
        (Load("r3", ("add", "r0", 8), 4),),
        (Flags("sub", "r3", limit),),
        (Set("r0", ("ite", ("flag", condition), 6, 9)),),
        (Set("r3", 0),),
        RETURN,
    )
    inputs = (Input(0, 1, ((0, 3),)), Input(4, 4, numbers), Input(8, 4, numbers))
    agrees(program, inputs)
    run = program.run((inputs[0], *(Input(at, 4, wide) for at in (4, 8))))
    (end,) = run.ends
    value = read(run.algebra, end.registers["r0"], end.region)
    for point in product(range(4), *((x for own in numbers for x in own),) * 2):
        state, _ = program.execute(inputs, point)
        assert number(run.algebra, value, point) == state.registers["r0"]


def test_regions_that_paths_split_into_cover_the_whole():
    run = Program(RETURN).run()
    reason = UndecidedError("cells", "too many")
    low, high = ((((0, own),),) for own in (((0, 4),), ((5, 9),)))
    parts = run._split_by_regions(run.ends[0], ApartError(reason, (low, high)))
    assert [part.region for part in parts] == [low, high]
    for some in ((low, (((0, ((6, 9),)),),)), (low,), (low, high, high)):
        with pytest.raises(ApartError) as caught:
            run._split_by_regions(run.ends[0], ApartError(reason, some))
        assert caught.value.place == "0x100, `line 0`"
