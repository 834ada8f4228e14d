"""Loads of made-up instructions at addresses that readings decide, against their execution."""

from dataclasses import replace

import pytest

from bncc.prove.instructions import Flags, Load, Set, Store
from bncc.prove.specification import Input
from bncc.prove.state import Merged
from bncc.prove.sums import Sums
from bncc.prove.values import WORD, AlignmentError, UndecidedError, Value, ViolationError
from tests.unit.prove.made_up_programs import EQ, MACHINE, RETURN, TABLE, Program, agrees, to

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


def test_parts_that_were_written_of_a_word_are_known():
    """Compilers spill a halfword and load a word, and insert bytes into what was never written."""
    inserted = ("or", ("and", "r4", WORD - 256), "r2")
    run = agrees(
        Program(
            (Load("r2", "r0", 1), Set("sp", ("sub", "sp", 8))),
            (Store("sp", ("add", "r2", 9), 2), Load("r4", ("add", "sp", 4), 4)),
            (Load("r3", "sp", 4), Store(("add", "sp", 4), inserted, 4)),
            (Set("r3", ("add", "r3", 5)), Load("r4", ("add", "sp", 4), 1)),
            (Set("r0", ("add", ("zext", "r3", 16), ("and", "r4", 127))),),
            (Store("sp", "r3", 2), Load("r4", "sp", 2)),
            (Set("r0", ("add", "r0", "r4")), Load("r3", "sp", 4)),
            (Load("r4", ("add", "sp", 4), 4), Set("r4", ("sub", ("mul", "r3", 2), "r4"))),
            (Set("r4", ("sub", ("add", "r4", "r3"), 3)), Set("r5", ("sub", 700, "r4"))),
            (Set("r0", ("add", "r0", ("mul", ("zext", "r4", 8), 5))),),
            (Set("r0", ("add", "r0", ("zext", "r5", 8))), Set("sp", ("add", "sp", 8))),
            RETURN,
        )
    )
    assert len(run.ends) == 1


NEVER_WRITTEN = {
    "the half of a word that was never written": (
        (Load("r2", "r0", 1), Set("sp", ("sub", "sp", 4))),
        (Store("sp", "r2", 2), Load("r3", "sp", 4)),
        (Set("r0", ("zext", "r3", 17)), Set("sp", ("add", "sp", 4))),
    ),
    "bits that were never written, of a word": (
        (Load("r2", "r0", 1), Set("sp", ("sub", "sp", 4))),
        (Load("r3", "sp", 4), Set("r3", ("and", "r3", WORD - 2))),
        (Set("r0", ("or", "r3", "r2")), Set("sp", ("add", "sp", 4))),
    ),
    "a bit that was never written, at the border of others": (
        (Load("r2", "r0", 1), Set("sp", ("sub", "sp", 4))),
        (Load("r3", "sp", 4), Set("r3", ("and", "r3", WORD - 256))),
        (Set("r3", ("or", "r3", ("mul", ("and", "r2", 1), 256))),),
        (Set("r0", ("zext", "r3", 9)), Set("sp", ("add", "sp", 4))),
    ),
    "bits set in the written half of a word": (
        (Load("r2", "r0", 1), Set("sp", ("sub", "sp", 4))),
        (Store("sp", "r2", 2), Load("r3", "sp", 4)),
        (Set("r0", ("zext", ("or", "r3", 1), 16)), Set("sp", ("add", "sp", 4))),
    ),
    "the difference of words of which less is known": (
        (Load("r2", "r0", 1), Set("sp", ("sub", "sp", 8))),
        (Store("sp", "r2", 2), Store(("add", "sp", 4), "r2", 1)),
        (Load("r3", "sp", 4), Load("r4", ("add", "sp", 4), 4)),
        (Set("r0", ("zext", ("sub", "r3", "r4"), 9)), Set("sp", ("add", "sp", 8))),
    ),
    "the sum of words of which less is known": (
        (Load("r2", "r0", 1), Set("sp", ("sub", "sp", 8))),
        (Store("sp", "r2", 2), Store(("add", "sp", 4), "r2", 1)),
        (Load("r3", "sp", 4), Load("r4", ("add", "sp", 4), 4)),
        (Set("r0", ("zext", ("add", "r4", "r3"), 9)), Set("sp", ("add", "sp", 8))),
    ),
    "a multiple of a word of which less is known": (
        (Load("r2", "r0", 1), Set("sp", ("sub", "sp", 4))),
        (Store("sp", "r2", 1), Load("r3", "sp", 4)),
        (Set("r0", ("zext", ("mul", "r3", 6), 10)), Set("sp", ("add", "sp", 4))),
    ),
    "two bytes never written": (
        (Set("sp", ("sub", "sp", 4)),),
        (Load("r2", "sp", 1), Load("r3", ("add", "sp", 1), 1)),
        (Set("r0", ("zext", ("sub", "r2", "r3"), 1)), Set("sp", ("add", "sp", 4))),
    ),
    "stack never written": (
        (Set("sp", ("sub", "sp", 4)),),
        (Load("r2", "sp", 4), Set("r2", ("shl", "r2", 1))),
        (Set("r0", ("zext", "r2", 2)),),
        (Set("sp", ("add", "sp", 4)),),
    ),
    "whether two words never written are equal": (
        (Set("sp", ("sub", "sp", 8)),),
        (Load("r2", "sp", 4), Load("r3", ("add", "sp", 4), 4), Set("r0", ("eq", "r2", "r3"))),
        (Set("sp", ("add", "sp", 8)),),
    ),
    "the difference of words of which as much is known": (
        (Load("r2", "r0", 1), Set("sp", ("sub", "sp", 8))),
        (Store("sp", "r2", 2), Store(("add", "sp", 4), "r2", 2)),
        (Load("r3", "sp", 4), Load("r4", ("add", "sp", 4), 4)),
        (Set("r0", ("zext", ("sub", "r3", "r4"), 17)), Set("sp", ("add", "sp", 8))),
    ),
    "what one path alone has written": (
        (Load("r2", "r0", 1), Set("sp", ("sub", "sp", 4))),
        (Load("r3", "sp", 4), Flags("sub", "r2", 5)),
        (to(4, EQ),),
        (Store("sp", 1, 4),),
        (Load("r4", "sp", 4), Set("sp", ("add", "sp", 4)), Set("r0", ("sub", "r4", "r3"))),
        (Set("r0", ("zext", "r0", 1)),),
    ),
}


@pytest.mark.parametrize("name", NEVER_WRITTEN)
def test_what_was_never_written_is_undecided(name):
    with pytest.raises(UndecidedError):
        Program(*NEVER_WRITTEN[name], RETURN).run()


PARTED = (
    (Load("r2", "r0", 1), Set("sp", ("sub", "sp", 8)), Flags("sub", "r2", 5)),
    (to(4, EQ),),
)
"""Two paths, of which the first skips an instruction."""


def test_paths_that_load_words_never_written_meet():
    run = agrees(
        Program(
            *PARTED,
            (Load("r4", "sp", 4), to(5)),
            (),
            (Load("r4", ("add", "sp", 4), 4),),
            (Set("r0", "r2"), Set("sp", ("add", "sp", 8))),
            RETURN,
        )
    )
    (end,) = run.ends
    assert isinstance(end.registers["r4"], Value)


def test_a_store_does_not_read_what_it_covers(monkeypatch):
    """A sum of many inputs, as there are in loops, is expensive to read."""
    program = Program(
        *PARTED,
        (Store("sp", 1, 4), to(5)),
        (),
        (Store("sp", 2, 4),),
        (Store("sp", "r2", 4),),
        (Load("r0", "sp", 4), Set("sp", ("add", "sp", 8))),
        RETURN,
    )
    agrees(program)
    monkeypatch.delattr(Merged, "value")
    program.run()


SPILLED = (
    (Load("r2", "r0", 1), Load("r3", ("add", "r0", 1), 1), Set("sp", ("sub", "sp", 4))),
    (Store("sp", ("add", ("mul", "r2", 60_000), ("mul", "r3", 50_000)), 4),),
    (Store("sp", ("add", "r2", 9), 2), Load("r4", "sp", 4)),
    (Set("sp", ("add", "sp", 4)),),
)
"""A halfword over a word whose upper half is a function of all inputs, and a load of both."""


def test_the_upper_half_of_a_word_may_depend_on_too_many_inputs(monkeypatch):
    """Compilers spill a halfword to a word in use, and load the word for its lower half."""
    used = [(Set("r0", ("zext", ("add", "r4", "r2"), n)), *RETURN) for n in (16, 17)]
    for use in used:
        agrees(Program(*SPILLED, use))
    monkeypatch.setattr(Sums.joint, "__defaults__", (8,))
    agrees(Program(*SPILLED, used[0]))
    with pytest.raises(UndecidedError):
        Program(*SPILLED, used[1]).run()


def test_time_that_is_over_is_no_unknown_half_of_a_word(monkeypatch):
    def over(*rest: object) -> None:
        raise UndecidedError("time-limit", "the time limit is reached")

    monkeypatch.setattr(Sums, "joint", over)
    with pytest.raises(UndecidedError, match="time-limit"):
        Program(*SPILLED, (Set("r0", ("zext", "r4", 16)), *RETURN)).run()
