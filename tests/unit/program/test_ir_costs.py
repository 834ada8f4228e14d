"""The interpreter compared with the definition in plain Python."""

import numpy as np

from bncc.program.ir import costs, decisions
from tests.unit.lower.by_hand import program, table


def small():
    wide = [[10 * r + c for c in range(2)] for r in range(6)]
    return program([2, 3], [1, 4], [table([0, 1], wide), table([1], [[0, 9], [5, 5], [7, 0]])])


def test_costs_are_the_prior_plus_one_row_of_each_table():
    some = small()
    for x0 in range(2):
        for x1 in range(3):
            expected = [
                [1, 4][c] + 10 * (3 * x0 + x1) + c + [[0, 9], [5, 5], [7, 0]][x1][c]
                for c in range(2)
            ]
            assert costs(some, np.array([[x0, x1]])).tolist() == [expected]


def test_the_first_feature_of_a_table_counts_slowest():
    rows = [[r, 0] for r in range(6)]
    some = program([2, 3], [0, 0], [table([1, 0], rows)])
    assert costs(some, np.array([[0, 1], [1, 0], [1, 2]])).tolist() == [[2, 0], [1, 0], [5, 0]]


def test_a_state_map_replaces_a_state_by_its_level():
    rows = [[r, 0] for r in range(4)]
    some = program([3, 4], [0, 0], [table([1, 0], rows, maps={1: (0, 1, 1, 0), 0: (1, 0, 1)})])
    X = np.array([[0, 0], [1, 0], [2, 1], [1, 2], [2, 3]])
    assert costs(some, X)[:, 0].tolist() == [1, 0, 3, 2, 1]


def test_the_smallest_class_index_wins_a_tie():
    some = program([1], [3, 2, 2], [table([0], [[0, 0, 0]])])
    assert decisions(some, np.array([[0]])).tolist() == [1]


def test_no_rows_give_no_answers():
    nothing = np.empty((0, 2), dtype=np.int64)
    assert costs(small(), nothing).shape == (0, 2)
    assert decisions(small(), nothing).shape == (0,)


def test_summing_does_not_write_into_the_prior():
    some = small()
    costs(some, np.array([[0, 0]]))
    assert some.prior.tolist() == [1, 4]
