"""Loads of made-up instructions at addresses that readings decide, against their execution."""

import pytest

from bncc.prove.instructions import Flags, Load, Set
from bncc.prove.values import ViolationError
from tests.unit.prove.made_up_programs import RETURN, TABLE, Program, agrees, to

LOAD = (Load("r2", "r0", 1),)


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
