"""fuse-tables: before, after, and when it must not fire. Equal margins: tests/property."""

import numpy as np
import pytest

from bncc.program.ir import costs
from bncc.program.passes import fuse_tables as module
from bncc.program.passes.fuse_tables import fuse_tables
from bncc.program.ranges import largest_cost
from tests.unit.lower.by_hand import as_lists, inputs, program, table


def naive(n_states):
    rng = np.random.default_rng(0)
    tables = [table([f], rng.integers(0, 9, (n, 3))) for f, n in enumerate(n_states)]
    return program(n_states, [0] * 3, tables)


def features(some):
    return [t.features for t in some.tables]


def test_two_small_tables_become_one():
    tables = [table([0], [[0, 3], [1, 0]]), table([1], [[0, 1], [2, 0]])]
    after = fuse_tables(program([2, 2], [0, 1], tables), 4)
    assert as_lists(after) == ([0, 1], [((0, 1), [[0, 4], [0, 1], [0, 0], [3, 0]])])


def test_the_largest_tables_choose_first_and_the_others_fill_what_is_left():
    assert features(fuse_tables(naive([2, 3, 4, 5, 2]), 10)) == [(0, 3), (1,), (2, 4)]


@pytest.mark.parametrize(("most", "n"), [(12, 1), (11, 2)])
def test_no_table_gets_more_rows_than_allowed(most, n):
    assert len(fuse_tables(naive([3, 4]), most).tables) == n


@pytest.mark.parametrize(("most", "n"), [(108, 1), (107, 2), (39, 2), (38, 3)])
def test_fewer_are_fused_where_all_costs_would_be_too_many(monkeypatch, most, n):
    """All three are 36 rows of 3 costs; two of 9 rows and one of 4 are the fewest."""
    monkeypatch.setattr(module, "MOST_ENTRIES", most)
    assert len(fuse_tables(naive([3, 4, 3]), 36).tables) == n


def test_children_of_a_parent_share_its_states():
    rng = np.random.default_rng(0)
    tables = [table([0, f], rng.integers(0, 9, (6, 2))) for f in (1, 2, 3)]
    after = fuse_tables(program([2, 3, 3, 3], [0, 0], tables), 18)
    assert features(after) == [(0, 1, 2), (0, 3)]


def test_those_of_fewest_joint_states_go_first():
    rng = np.random.default_rng(0)
    shapes = [(0, 1), (1, 2), (2, 3)]
    n_states = [4, 2, 2, 2]
    tables = [table(s, rng.integers(0, 9, (n_states[s[0]] * n_states[s[1]], 2))) for s in shapes]
    assert features(fuse_tables(program(n_states, [0, 0], tables), 16)) == [(0, 1), (1, 2, 3)]


def test_tables_of_a_network_do_not_join_tables_that_they_share_nothing_with():
    """Joining them could close a ring of groups and make range analysis inexact."""
    tables = [table([0, 1], [[0, 1]] * 4), table([1, 2], [[0, 1]] * 200), table([3], [[0, 1]] * 2)]
    before = program([2, 2, 100, 2], [0, 0], tables)
    assert fuse_tables(before, 64) is before


def test_a_network_that_became_one_table_joins_others():
    tables = [table([0, 1], [[0, 1]] * 4), table([1, 2], [[0, 1]] * 4), table([3], [[0, 1]] * 2)]
    assert features(fuse_tables(program([2] * 4, [0, 0], tables), 16)) == [(0, 1, 2, 3)]


def test_bounds_of_a_fused_forest_stay_exact():
    rng = np.random.default_rng(1)
    parents = [None, 0, 0, 1, 1, 2, 2, 3]
    shapes = [(i,) if p is None else (p, i) for i, p in enumerate(parents)]
    tables = [table(s, rng.integers(0, 9, (2 ** len(s), 2))) for s in shapes]
    after = fuse_tables(program([2] * 8, [0, 0], tables), 8)
    assert len(after.tables) < len(tables)
    assert largest_cost(after) == costs(after, inputs([2] * 8)).max()


def test_a_single_table_stays_as_it_is():
    before = naive([3])
    assert fuse_tables(before, 64) is before


def test_running_it_twice_changes_nothing():
    once = fuse_tables(naive([2, 3, 4, 5, 2]), 10)
    assert fuse_tables(once, 10) is once


def test_hundreds_of_features_take_no_time():
    """Each table is compared with the existing groups, not with every other table."""
    assert len(fuse_tables(naive([4] * 500), 64).tables) == 167
