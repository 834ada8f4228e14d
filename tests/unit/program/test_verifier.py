"""The verifier: every rule, broken once."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.errors import IrError
from bncc.program.verifier import verify
from tests.unit.lower.by_hand import program, table

ROWS = [[1, 2], [3, 4]]


def whole(**changes):
    """Return a program that obeys all rules except for the changes."""
    good = program([2, 3], [5, 0], [table([0], ROWS), table([0, 1], ROWS * 3)])
    return replace(good, **changes)


def with_first_table(**changes):
    good = whole()
    return replace(good, tables=(replace(good.tables[0], **changes), good.tables[1]))


def test_a_whole_program_passes():
    assert verify(whole()) is None
    assert verify(whole(cost_bits=8)) is None
    assert verify(with_first_table(entry_bits=8)) is None
    assert verify(with_first_table(maps={0: (1, 0)})) is None
    assert verify(with_first_table(maps={0: (0, 0)}, costs=np.array(ROWS[:1]))) is None


BROKEN = {
    "at least one feature": lambda: whole(features=()),
    "at least two classes": lambda: whole(classes=("a",)),
    "at least one table": lambda: whole(tables=()),
    "the prior has one cost per class": lambda: whole(prior=np.array([1, 2, 3])),
    "the prior's costs are integers": lambda: whole(prior=np.array([1.0, 2.0])),
    "the prior's costs are integers >= 0": lambda: whole(prior=np.array([0, -1])),
    r"accumulators have \(8, 16, 32\) bits, not 64": lambda: whole(cost_bits=64),
    "table 0 reads distinct, known features": lambda: with_first_table(features=(0, 0)),
    "0 reads distinct, known features": lambda: with_first_table(features=(2,)),
    "0 reads distinct, known": lambda: with_first_table(features=(-1,)),
    "table 0 reads at least one feature": lambda: with_first_table(features=()),
    "a state map of table 0 has a level for every state": lambda: with_first_table(
        maps={0: (0, 0, 0)}
    ),
    "map of table 0 has a level for every state of its feature": lambda: with_first_table(
        maps={1: (0, 1, 1)}
    ),
    "the levels of a state map of table 0 are 0, 1, 2": lambda: with_first_table(maps={0: (0, 2)}),
    "levels of a state map of table 0 are": lambda: with_first_table(maps={0: (-1, 0)}),
    "table 0 has one row per": lambda: with_first_table(maps={0: (0, 0)}),
    "table 0 has one row per joint state": lambda: with_first_table(costs=np.array(ROWS[:1])),
    "one row per joint state and one cost": lambda: with_first_table(
        costs=np.array([[1, 2, 3]] * 2)
    ),
    "the costs of table 0 are integers >= 0": lambda: with_first_table(
        costs=np.array([[1, 2], [3, -4]])
    ),
    "costs of table 0 are integers": lambda: with_first_table(costs=np.array(ROWS, dtype=float)),
    "table 0 fit their width of 7 bits": lambda: with_first_table(entry_bits=7),
    "table 0 fit their width of 8 bits": lambda: with_first_table(
        costs=np.array([[1, 256], [3, 4]]), entry_bits=8
    ),
    "a sum can reach 256, more than 8 bits hold; train with fewer bits": lambda: replace(
        with_first_table(costs=np.array([[248, 2], [3, 4]])), cost_bits=8
    ),
}


@pytest.mark.parametrize("message", BROKEN)
def test_a_broken_rule_is_named(message):
    with pytest.raises(IrError, match=message):
        verify(BROKEN[message]())


def test_entries_and_sums_may_just_fit():
    edge = program([1], [0, 0], [table([0], [[255, 0]], entry_bits=8)], cost_bits=8)
    verify(edge)
    with pytest.raises(IrError, match="a sum can reach 256"):
        verify(replace(edge, prior=np.array([1, 0])))
