"""Which points no other one dominates."""

import pytest

from bncc.papers.front import front


def test_the_front_is_what_nothing_dominates():
    points = [(1.0, 9.0), (2.0, 5.0), (3.0, 5.0), (3.0, 4.0), (3.0, 4.0), (4.0, 6.0)]
    assert front(points) == (True, True, False, True, True, False)


def test_a_third_cost_keeps_what_the_first_two_would_drop():
    assert front([(1.0, 1.0, 5.0), (2.0, 2.0, 4.0), (2.0, 2.0, 5.0)]) == (True, True, False)


def test_points_of_different_costs_are_not_compared():
    with pytest.raises(ValueError, match="zip"):
        front([(1.0, 2.0), (1.0,)])
