"""merge-states: before, after, and when it must not fire. Equal costs: tests/property."""

import numpy as np
import pytest

from bncc.program.ir import costs
from bncc.program.passes.merge_states import merge_states
from tests.unit.lower.by_hand import inputs, program, table

A, B, C = [0, *[7] * 9], [7, *[0] * 9], [3, 0, *[1] * 8]
"""Rows of 30 bits; the address of a state takes 16."""


def mapped(some):
    return [(t.features, dict(t.maps), t.costs.tolist()) for t in some.tables]


def test_states_of_equal_rows_share_them_in_the_order_in_which_they_come_first():
    rows = [B, A, B, B, A, B, B, B]
    after = merge_states(program([8], [0] * 10, [table([0], rows)]))
    assert mapped(after) == [((0,), {0: (0, 1, 0, 0, 1, 0, 0, 0)}, [B, A])]


def test_states_are_merged_in_each_feature_of_a_table():
    def row(p, own):
        return (A, B, C)[p % 2 + (own > 3)]

    rows = [row(p, own) for p in range(6) for own in range(8)]
    before = program([6, 8], [0] * 10, [table([0, 1], rows)])
    (after,) = merge_states(before).tables
    assert after.maps == {0: (0, 1) * 3, 1: (0,) * 4 + (1,) * 4}
    assert after.costs.tolist() == [A, B, B, C]
    X = inputs(before.n_states)
    assert np.array_equal(costs(merge_states(before), X), costs(before, X))


def test_each_table_has_maps_of_its_own():
    rows = [A] * 4 + [B] * 4
    before = program([8], [0] * 10, [table([0], rows), table([0], rows[::-1])])
    assert [t.maps for t in merge_states(before).tables] == [
        {0: (0,) * 4 + (1,) * 4},
        {0: (0,) * 4 + (1,) * 4},
    ]


def test_levels_of_a_map_are_merged_further():
    rows = [A, B, A]
    before = program([4], [0] * 10, [table([0], rows, maps={0: (0, 1, 2, 2)})])
    assert mapped(merge_states(before)) == [((0,), {0: (0, 1, 0, 0)}, [A, B])]


@pytest.mark.parametrize(("n_classes", "fires"), [(11, True), (10, False)])
def test_it_fires_when_the_rows_take_more_bits_than_the_addresses(n_classes, fires):
    """Two rows of 3 bits a class, against four addresses: 64 bits."""
    one, other = [0] + [7] * (n_classes - 1), [7] + [0] * (n_classes - 1)
    before = program([4], [0] * n_classes, [table([0], [one, other, one, one])])
    assert (merge_states(before) is not before) == fires


def test_it_does_not_fire_where_all_rows_differ():
    before = program([3], [0] * 10, [table([0], [A, B, C])])
    assert merge_states(before) is before


def test_running_it_twice_changes_nothing():
    once = merge_states(program([8], [0] * 10, [table([0], [B, A, B, B, A, B, B, B])]))
    assert merge_states(once) is once
