"""Errors row by row, and the exact test of McNemar."""

from math import comb

import numpy as np
import pytest

from benchmarks.shared.decisions import (
    Figures,
    is_clearly_better,
    mcnemar,
    p_by_parts,
    packed,
    unpacked,
)


def figures(missed):
    return Figures("some", packed(np.array(missed, dtype=bool)), len(missed), 900, 50.0, 60, 50.0)


def pair(only_one, only_other, both=3, neither=5):
    one = [True] * only_one + [False] * only_other + [True] * both + [False] * neither
    other = [False] * only_one + [True] * only_other + [True] * both + [False] * neither
    return figures(one), figures(other)


@pytest.mark.parametrize("n_rows", [1, 8, 9, 1000])
def test_errors_are_read_back_as_they_were(n_rows):
    missed = np.random.default_rng(n_rows).random(n_rows) < 0.3
    assert unpacked(packed(missed), n_rows).tolist() == missed.tolist()
    assert figures(missed).wrong == missed.sum()


def test_the_error_is_in_percent():
    assert figures([True, False, False, False]).error == 25.0


@pytest.mark.parametrize(("only_one", "only_other"), [(0, 6), (2, 9), (9, 2)])
def test_the_p_is_of_a_coin_thrown_for_each_row_on_which_they_differ(only_one, only_other):
    n = only_one + only_other
    tail = sum(comb(n, k) for k in range(min(only_one, only_other) + 1))
    assert mcnemar(*pair(only_one, only_other)) == pytest.approx(2 * tail / 2**n)


def test_rows_on_which_both_are_right_or_wrong_count_for_nothing():
    assert mcnemar(*pair(1, 7)) == mcnemar(*pair(1, 7, both=90, neither=400))
    assert mcnemar(*pair(0, 0)) == 1.0
    assert mcnemar(*pair(4, 4)) == 1.0


def test_rows_in_one_episode_are_no_clear_difference_and_spread_ones_are():
    """All in one of 20 parts, or one or two in each."""
    rows = np.arange(400)
    right, episode, spread = figures(rows < 0), figures(rows < 20), figures(rows % 11 == 0)
    assert mcnemar(episode, right) < 0.001
    assert p_by_parts(episode, right) == pytest.approx(0.33, abs=0.01)
    assert p_by_parts(spread, right) < 0.001
    assert p_by_parts(right, right) == 1.0


def test_other_test_rows_are_refused():
    with pytest.raises(ValueError, match="2 test rows"):
        mcnemar(figures([True, False]), figures([True, False, False]))


def test_six_rows_of_one_sign_are_clear_and_five_are_not():
    assert is_clearly_better(*pair(0, 6))
    assert not is_clearly_better(*pair(0, 5))
    assert not is_clearly_better(*pair(6, 0))
