"""Loads of made-up instructions at addresses that readings decide, against their execution."""

from dataclasses import replace

import pytest

from bncc.prove.instructions import Flags, Load, Set
from bncc.prove.specification import Input
from bncc.prove.values import AlignmentError, ViolationError
from tests.unit.prove.made_up_programs import MACHINE, RETURN, TABLE, Program, agrees, to

LOAD = (Load("r2", "r0", 1),)
WORDS = (Input(0, 2, ((0, 9),)), Input(2, 2, ((0, 300),)))


def test_a_wrong_access_for_one_input_only_is_a_violation():
    """A table of 64 bytes by 7 times an input of at most 9 is fine; by 8 times it is not."""

    def program(factor):
        return Program(LOAD, (Load("r0", ("add", TABLE, ("mul", "r2", factor)), 1),), RETURN)

    agrees(program(7))
    with pytest.raises(ViolationError, match="outside the constants"):
        program(8).run()
    # After a check of the input it is fine again.
    agrees(Program(
        LOAD,
        (Flags("sub", "r2", 8),),
        (to(5, ("flag", "cc")),),
        (Set("r0", 0),),
        RETURN,
        (Load("r0", ("add", TABLE, ("mul", "r2", 8)), 1),),
        RETURN,
    ))  # fmt: skip


def test_a_reading_decides_which_reading_is_next():
    """As where paths meet before a load that they share; outside the input it is a violation."""

    def program(bit):
        load = Load("r4", ("add", "r0", ("shr", "r2", bit)), 1)
        return Program(LOAD, (load,), (Set("r0", ("add", ("shl", "r4", 1), "r2")),), RETURN)

    agrees(program(3))
    with pytest.raises(ViolationError, match="a read at offset 2 of the input, outside it"):
        program(2).run()
    # After a check of the first reading it is fine again.
    agrees(Program(
        LOAD,
        (Flags("sub", "r2", 8),),
        (to(5, ("flag", "cc")),),
        (Set("r0", 0),),
        RETURN,
        (Load("r0", ("add", "r0", ("shr", "r2", 2)), 1),),
        RETURN,
    ))  # fmt: skip


def test_each_place_of_a_reading_has_to_be_aligned():
    def program(offset):
        load = Load("r4", ("add", "r0", offset), 2)
        return Program(LOAD, (load,), RETURN, is_aligned=True)

    aligned = {"input": 2}
    program(("shl", ("shr", "r2", 3), 1)).run(WORDS, alignments=aligned)
    with pytest.raises(AlignmentError, match=r"a read of 2 bytes at input \+1"):
        program(("shr", "r2", 3)).run(WORDS, alignments=aligned)


def test_a_reading_has_the_values_that_it_may_have_where_it_is_read():
    """Behind a check of it, there are no others."""
    agrees(Program(
        LOAD,
        (Load("r3", ("add", "r0", 1), 1),),
        (Flags("sub", "r3", 3),),
        (to(6, ("flag", "cc")),),
        (Set("r0", 0),),
        RETURN,
        (Load("r4", ("add", "r0", ("shr", "r2", 3)), 1),),
        (Set("r0", ("mul", "r4", 20)),),
        RETURN,
    ))  # fmt: skip


@pytest.mark.parametrize("multiple", [1, 4])
def test_an_interrupt_does_not_change_the_stack_of_the_caller(multiple):
    machine = replace(MACHINE, stack_multiple=multiple)
    up, down = (Set("sp", ("add", "sp", 8)),), (Set("sp", ("sub", "sp", 8)),)
    Program(down, up, RETURN).run(machine=machine)
    with pytest.raises(ViolationError, match="above that of the caller"):
        Program(up, down, RETURN).run(machine=machine)
