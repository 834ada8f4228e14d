"""Several tables as one: sums of rows over joint states."""

import numpy as np

from bncc.program.tables import fused
from tests.unit.lower.by_hand import program, table

A = table([0], [[0, 3], [1, 0]])
B = table([1], [[0, 1], [0, 2], [5, 0]])


def test_rows_add_up_over_joint_states_and_are_normalized():
    both = fused(program([2, 3], [0, 0], [A, B]), [A, B])
    assert both.features == (0, 1)
    assert both.name == "x0, x1"
    assert both.costs.tolist() == [[0, 4], [0, 5], [2, 0], [0, 0], [0, 1], [6, 0]]


def test_shared_features_are_read_once_in_any_order():
    rng = np.random.default_rng(0)
    tables = [
        table([2, 0], rng.integers(0, 9, (8, 3))),
        table([0, 1, 2], rng.integers(0, 9, (24, 3))),
    ]
    both = fused(program([2, 3, 4], [0] * 3, tables), tables)
    assert both.features == (2, 0, 1)
    first, second = tables[0].costs.reshape(4, 2, 3), tables[1].costs.reshape(2, 3, 4, 3)
    for x in np.ndindex(2, 3, 4):
        row = first[x[2], x[0]] + second[x]
        assert (
            both.costs.reshape(4, 2, 3, 3)[x[2], x[0], x[1]].tolist() == (row - row.min()).tolist()
        )


def test_state_maps_are_undone():
    mapped = table([1], [[0, 1], [5, 0]], maps={1: (0, 1, 0)})
    both = fused(program([2, 3], [0, 0], [A, mapped]), [A, mapped])
    assert not both.maps
    assert both.costs.tolist() == [[0, 4], [2, 0], [0, 4], [0, 0], [6, 0], [0, 0]]


def test_one_table_stays_but_for_normalized_rows():
    lifted = table([1], [[2, 3], [4, 4], [0, 1]])
    assert fused(program([2, 3], [0, 0], [A, lifted]), [lifted]).costs.tolist() == [
        [0, 1],
        [0, 0],
        [0, 1],
    ]
