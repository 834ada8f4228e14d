"""Offsets of classes, against every small system's solution by trial."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.program.tables import gaps, least_spread, normalized, offsets_below


def tables(n_classes=3, most=6):
    """Draw a table as a list of rows."""
    row = st.lists(st.integers(0, most), min_size=n_classes, max_size=n_classes)
    return st.lists(row, min_size=1, max_size=4).map(np.array)


def spread(costs):
    return int(np.ptp(costs, axis=1).max())


def test_gaps_are_the_largest_differences_of_two_columns():
    assert gaps(np.array([[0, 5], [3, 0]])).tolist() == [[0, 3], [5, 0]]


def test_gaps_of_many_tables_are_those_of_each():
    many = np.arange(24).reshape(2, 4, 3) ** 2 % 11
    assert np.array_equal(gaps(many), np.stack([gaps(many[0]), gaps(many[1])]))


@pytest.mark.parametrize(
    ("costs", "least"),
    [
        ([[0, 5], [3, 0]], 4),
        ([[0, 5], [4, 0]], 5),
        ([[0, 7], [0, 7]], 0),
        ([[0, 9, 0], [0, 0, 9], [9, 0, 0]], 9),
        ([[2, 0, 1], [0, 1, 0]], 2),
    ],
)
def test_the_least_spread_is_the_largest_mean_of_a_cycle_rounded_up(costs, least):
    assert least_spread(gaps(np.array(costs))) == least


@given(tables())
def test_no_offsets_by_trial_beat_the_least_spread(costs):
    least = least_spread(gaps(costs))
    tried = (spread(costs - (0, *d)) for d in product(range(-6, 7), repeat=2))
    assert least == min(tried)


@given(tables(), st.lists(st.integers(-5, 5), min_size=3, max_size=3).map(np.array))
def test_offsets_reach_the_least_spread_next_to_their_start(costs, start):
    gap = gaps(costs)
    least = int(least_spread(gap))
    offsets = offsets_below(gap - least, start)
    assert (offsets <= start).all()
    assert spread(costs - offsets) == least
    others = [np.array((0, *d)) for d in product(range(-12, 13), repeat=2)]
    near = min(int(np.ptp(start - d)) for d in others if spread(costs - d) == least)
    assert int(np.ptp(start - offsets)) == near


@given(tables())
def test_there_are_no_offsets_below_the_least_spread(costs):
    gap = gaps(costs)
    assert offsets_below(gap - least_spread(gap) + 1, np.zeros(3, dtype=np.int64)) is None


def test_one_table_without_a_solution_among_many_is_told():
    gap = gaps(np.array([[[0, 5], [3, 0]], [[0, 1], [0, 0]]]))
    start = np.zeros((2, 2), dtype=np.int64)
    assert offsets_below(gap - 4, start).tolist() == [[-1, 0], [0, 0]]
    assert offsets_below(gap - 3, start) is None


def test_normalized_rows_keep_their_differences():
    assert normalized(np.array([[5, 7], [9, 2]])).tolist() == [[0, 2], [7, 0]]
    assert normalized(np.array([4, 3])).tolist() == [1, 0]
