"""Candidates to merge with a state are those of other inputs, and those that look alike."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.prove.diagrams import TRUE
from bncc.prove.meeting import Meeting, looks_of
from bncc.prove.regions import Partitions, count_inputs
from bncc.prove.state import DEFERRED, Cell, Frame, Merged, State, merged
from bncc.prove.values import Term, Value
from bncc.prove.words import Words

LEFT, RIGHT = (((0, ((0, 1),)),),), (((0, ((2, 3),)),),)
PARTITION = Partitions().of((LEFT, RIGHT))


def value(*numbers: int) -> Value:
    """Return a new value with a number for each of two cells."""
    return Value(5, {PARTITION: Term(PARTITION, np.array(numbers))})


def state(**changed: object) -> State:
    plain = State(
        8, (Frame(0, -1, -1, ()),), {"r0": value(1, 2), "r1": Value(7), "r2": Merged(())},
        {"order": ("sub", (Value(3), Value(4)))}, {-4: Cell(4, value(3, 4))}, {},
        (*LEFT, *RIGHT), TRUE,
    )  # fmt: skip
    return replace(plain, **changed)


def add(meeting: Meeting, one: State) -> None:
    meeting.add(one, looks_of(one))


def candidates(meeting: Meeting, one: State) -> list[tuple[int, State]]:
    return meeting.candidates(looks_of(one))


ALIKE = {
    "the same": {},
    "facts differ": {"facts": frozenset({("a", "b", True)})},
    "a value that is not known yet": {
        "registers": {"r0": value(1, 2), "r1": Value(7), "r2": Merged(())}
    },
    "a cell of one alone": {"stack": {-4: Cell(4, value(3, 4)), -8: Cell(4, Value(1))}},
    "a cell of another size": {"stack": {-4: Cell(2, Value(1))}},
    "flags of one alone": {"flags": {}},
    "flags of another kind": {"flags": {"order": ("add", (Value(3), Value(5)))}},
}
OTHER = {
    "a constant": {"registers": {"r0": value(1, 2), "r1": Value(8), "r2": Merged(())}},
    "a cell's number": {"registers": {"r0": value(1, 3), "r1": Value(7), "r2": Merged(())}},
    "a base": {"registers": {"r0": value(1, 2), "r1": Value(7, base="stack"), "r2": Merged(())}},
    "the stack": {"stack": {-4: Cell(4, value(3, 5))}},
    "flags": {"flags": {"order": ("sub", (Value(3), Value(5)))}},
}


@pytest.mark.parametrize("name", ALIKE)
def test_a_state_that_may_be_alike_is_a_candidate(name):
    meeting = Meeting()
    add(meeting, state())
    assert [k for k, _ in candidates(meeting, state(**ALIKE[name]))] == [0]


@pytest.mark.parametrize("name", OTHER)
def test_a_state_that_differs_is_none(name):
    meeting = Meeting()
    add(meeting, state())
    assert candidates(meeting, state(**OTHER[name])) == []


@pytest.mark.parametrize("name", OTHER)
def test_states_of_other_inputs_are_candidates(name):
    meeting = Meeting()
    add(meeting, state(region=LEFT))
    assert len(candidates(meeting, state(region=RIGHT, **OTHER[name]))) == 1
    assert len(candidates(meeting, state(region=LEFT, guard=5, **OTHER[name]))) == 1


def test_states_keep_their_order():
    meeting = Meeting()
    states = [state(region=LEFT), state(), state(region=RIGHT), state()]
    for one in states:
        add(meeting, one)
    assert candidates(meeting, state()) == list(enumerate(states))
    meeting.remove(1)
    assert meeting.states() == [states[0], *states[2:]]
    assert [k for k, _ in candidates(meeting, state())] == [0, 2, 3]


def test_flags_that_most_code_never_tests_distinguish_no_states():
    """They are forgotten where paths meet."""
    flags = [{"order": (DEFERRED, (Value(3), Value(k)))} for k in (4, 5)]
    meeting = Meeting()
    add(meeting, state(flags=flags[0]))
    assert len(candidates(meeting, state(flags=flags[1]))) == 1


def test_nothing_is_kept_of_states_that_were_removed():
    """Else each merge would search the inputs of all that were merged before."""
    meeting = Meeting()
    add(meeting, state())
    add(meeting, state(region=LEFT))
    meeting.remove(0)
    meeting.remove(1)
    assert meeting.__dict__["_known"] == {}


def test_a_merged_region_counts_each_input_once():
    """Two parted states may have the same contents, different facts and common inputs."""
    full = (((0, 3),), ((0, 3),))
    regions = (((0, ((0, 2),)),),), (((1, ((0, 2),)),),)
    facts = frozenset({("a", "b", True)}), frozenset({("b", "a", False)})
    one, other = (
        State(8, (Frame(0, -1, -1, ()),), {"r0": Value(7)}, region=region, guard=TRUE,
              facts=own, is_parted=True)
        for region, own in zip(regions, facts, strict=True)
    )  # fmt: skip
    found = merged(one, other, Words(full), full)
    assert found is None or count_inputs(found.region, full) == 15
