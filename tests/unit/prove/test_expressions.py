"""Operations on what is no number of the inputs: addresses, and registers of the caller."""

import pytest

from bncc.prove.instructions import Load, Set
from bncc.prove.specification import Input
from bncc.prove.values import UndecidedError
from tests.unit.prove.made_up_programs import RETURN, Program, agrees

UNKNOWN = {
    "of a register of the caller": ("r4", 3),
    "by a register of the caller": ("r2", "r4"),
    "of registers of the caller": ("r4", "r5"),
    "of an address": ("r0", "r2"),
    "of an address of the output and an input": (("add", "r1", "r2"), "r2"),
}
READ = (Load("r2", "r0", 1),)


@pytest.mark.parametrize("operation", ["mul", "shl", "shr", "sar", "ror", "feq", "flt", "fle"])
@pytest.mark.parametrize("name", UNKNOWN)
def test_an_operation_on_what_is_no_number_is_undecided(operation, name):
    with pytest.raises(UndecidedError):
        Program(READ, (Set("r0", (operation, *UNKNOWN[name])),), RETURN).run()


def test_a_word_is_shifted_by_a_reading_as_the_number_that_it_is():
    inputs = tuple(Input(k, 1, ((0, 9),)) for k in range(2))
    reads = tuple(Load(f"r{2 + k}", ("add", "r0", k), 1) for k in range(2))
    mixed = ("and", ("xor", "r2", ("mul", "r3", 3)), 1)
    program = Program(reads, (Set("r4", mixed),), (Set("r0", ("shl", "r4", "r2")),), RETURN)
    agrees(program, inputs)


def test_a_word_is_not_multiplied_by_what_is_no_power_of_2():
    inputs = tuple(Input(k, 1, ((0, 19),)) for k in range(2))
    reads = tuple(Load(f"r{2 + k}", ("add", "r0", k), 1) for k in range(2))
    for factor in (0, 3):
        product = ("mul", ("xor", "r2", "r3"), factor)
        program = Program(reads, (Set("r0", product),), RETURN)
        with pytest.raises(UndecidedError, match="bits of many inputs are multiplied"):
            program.run(inputs)
