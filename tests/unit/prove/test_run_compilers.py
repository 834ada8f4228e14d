"""Code that compilers make: IT blocks, and addresses as numbers."""

from dataclasses import replace
from itertools import product

import pytest

from bncc.prove.instructions import Flags, Load, Set, Store
from bncc.prove.state import read
from bncc.prove.values import UndecidedError
from tests.unit.prove.brute import listed, word
from tests.unit.prove.made_up_programs import BYTES, NE, RETURN, Program, agrees, to


def test_paths_of_an_it_block_meet_behind_it():
    """Half of them write a number that the same half reads."""
    taken = ("flag", "cs")
    program = Program(
        (Set("sp", ("sub", "sp", 8)),),
        (Load("r2", "r0", 1),),
        (Flags("sub", "r2", 5),),
        (taken, Store("sp", "r2", 4)),
        (taken, Load("r3", "sp", 4)),
        (("flag", "cc"), Set("r3", 1)),
        (Set("r0", "r3"), Set("sp", ("add", "sp", 8))),
        RETURN,
    )  # fmt: skip
    for k in (4, 5):
        program.lines[k] = replace(program.lines[k], is_inner=True)
        program.lines[k - 1] = replace(program.lines[k - 1], then=program.lines[k].address)
    assert len(agrees(program).ends) == 1


def counted(last, *, first="r0", end="r0", condition=NE) -> Program:
    """Return a loop over bytes of the input that is counted by the lowest bits of its pointer."""
    return Program(
        (Set("r2", first), Set("r3", 0)),
        (Set("r4", ("add", end, last)),),
        (Set("r4", ("zext", "r4", 8)),),
        (Load("r5", "r2", 1),),
        (Set("r3", ("add", "r3", "r5")),),
        (Set("r2", ("add", "r2", 1)),),
        (Set("r6", ("zext", "r2", 8)),),
        (Flags("sub", "r4", "r6"),),
        (to(3, condition),),
        (Set("r0", "r3"), Set("r6", 0xA5A5_0006)),
        RETURN,
    )


def test_a_loop_that_is_counted_by_the_lowest_bits_of_a_pointer():
    run = counted(2).run()
    (end,) = run.ends
    for point in product(*(listed(one.numbers) for one in BYTES)):
        assert word(read(end.registers["r0"], run.algebra), point) == sum(point)
    assert end.steps == 3 + 2 * 6 + 2


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"end": "r1"}, "arithmetic on an address"),  # the output may be anywhere
        ({"condition": ("flag", "cc")}, "tests flags of two paths"),
        ({"condition": ("flag", "mi")}, "the condition mi after distance"),
    ],
)
def test_lowest_bits_of_addresses_tell_only_whether_they_are_equal(more, why):
    with pytest.raises(UndecidedError, match=why):
        counted(2, **more).run()


@pytest.mark.parametrize("distance", [255, 256])
def test_addresses_that_are_256_apart_have_equal_lowest_bytes(distance):
    agrees(Program(
        (Set("r2", ("add", "r0", distance)), Set("r3", "r0")),
        (Set("r2", ("zext", "r2", 8)), Set("r3", ("zext", "r3", 8))),
        (Flags("sub", "r2", "r3"),),
        (Set("r0", 0),),
        (NE, Set("r0", 1)),
        RETURN,
    ))  # fmt: skip


def test_a_carry_before_a_comparison_of_lowest_bits_is_none_behind_it():
    program = Program(
        (Set("r2", ("zext", "r0", 8)), Set("r3", ("zext", "r0", 8)), Load("r4", "r0", 1)),
        (Flags("sub", "r4", 5),),
        (Flags("sub", "r2", "r3"),),
        (("flag", "cs"), Set("r4", 1)),
        RETURN,
    )
    with pytest.raises(UndecidedError, match="flags"):
        program.run()


def test_a_loop_that_finds_its_round_by_its_address():
    """The address is subtracted from a number before the loop, and added in it."""
    agrees(Program(
        (Set("r2", "r0"), Set("r3", 7)),
        (Set("r4", ("sub", 1, "r2")),),
        (Load("r5", "r2", 1),),
        (Flags("sub", "r5", 3),),
        (to(6, ("flag", "cc")),),
        (Set("r3", ("zext", ("add", "r4", "r2"), 8)),),
        (Set("r2", ("add", "r2", 1)),),
        (Set("r5", ("add", "r0", 2)),),
        (Flags("sub", "r2", "r5"),),
        (to(2, NE),),
        (Set("r0", "r3"),),
        RETURN,
    ))  # fmt: skip


@pytest.mark.parametrize("other", ["r1", "sp", ("sub", 1, "r0")])
def test_addresses_of_different_objects_are_not_added(other):
    program = Program((Set("r2", ("sub", 1, "r0")),), (Set("r3", ("add", "r2", other)),), RETURN)
    with pytest.raises(UndecidedError, match="pointers"):
        program.run()


def test_a_number_less_an_address_is_read_by_nothing_else():
    for operation in (("shr", "r2", 1), ("mul", "r2", 2), ("sub", 5, "r2"), ("xor", "r2", 1)):
        program = Program((Set("r2", ("sub", 1, "r0")),), (Set("r3", operation),), RETURN)
        with pytest.raises(UndecidedError):
            program.run()
