"""Wins, ties, losses and Wilcoxon's test, by hand and by scipy."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import wilcoxon

from bncc.papers.s2 import compare


def test_less_wins_and_equal_sets_are_dropped_from_the_test():
    ours = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    theirs = np.array([2.0, 4.0, 3.0, 3.5, 8.0])
    found = compare(ours, theirs, 1e-9)
    assert (found.wins, found.ties, found.losses, found.n) == (3, 1, 1, 5)
    assert found.median == -1.0
    assert found.is_less
    assert found.p == wilcoxon([-1.0, -2.0, 0.5, -3.0], alternative="less").pvalue


def test_p_is_the_share_of_signs_with_ranks_at_least_as_uneven():
    d = np.array([-1.0, -2.0, 0.5, -3.0, 1.5])  # ranks 2, 4, 1, 5, 3; positive ones sum to 4
    sums = [sum(rank for rank, sign in zip(range(1, 6), signs, strict=True) if sign)
            for signs in product((0, 1), repeat=5)]  # fmt: skip
    found = compare(d, np.zeros(5), 0.0)
    assert found.p == pytest.approx(np.mean(np.array(sums) <= 4))


def test_more_wins_where_it_is_a_score():
    found = compare(np.array([5.0, 6.0, 7.0]), np.array([1.0, 3.0, 9.0]), 0.0, more_is_better=True)
    assert (found.wins, found.ties, found.losses) == (2, 0, 1)
    assert (found.median, found.is_less) == (3.0, False)
    assert found.p == wilcoxon([4.0, 3.0, -2.0], alternative="greater").pvalue


def test_rounding_is_a_tie():
    found = compare(np.array([1.0 + 1e-12, 2.0]), np.array([1.0, 3.0]), 1e-9)
    assert (found.wins, found.ties, found.losses) == (1, 1, 0)


def test_a_median_of_0_tests_in_the_direction_of_the_ranks():
    zeros = np.zeros(5)
    assert not compare(np.array([-1.0, 0, 0, 0, 3.0]), zeros, 0.0).is_less
    assert compare(np.array([-3.0, 0, 0, 0, 1.0]), zeros, 0.0).is_less


def test_equals_leave_nothing_to_test():
    found = compare(np.ones(4), np.ones(4), 0.0)
    assert (found.wins, found.ties, found.losses, found.median, found.p) == (0, 4, 0, 0.0, None)
    assert compare(np.zeros(0), np.zeros(0), 0.0).n == 0


@pytest.mark.parametrize("n", [1, 9, 60])
def test_any_number_of_sets_has_a_p_value(n):
    d = np.random.default_rng(n).normal(-0.5, 1.0, n)
    found = compare(d, np.zeros(n), 0.0)
    assert 0 < found.p <= 1
    assert found.is_less == (np.median(d) < 0)
