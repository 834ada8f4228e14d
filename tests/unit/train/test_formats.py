"""Choosing the binary point."""

import numpy as np

from bncc.fixed_point import QFormat
from bncc.structure.graph import forest
from bncc.train.formats import best_format, candidate_formats, formats_of
from bncc.train.settings import FLOAT_FORMAT, TrainSettings


def test_one_fixed_side_leaves_one_format():
    assert candidate_formats(6, int_bits=2) == (QFormat(2, 4),)
    assert candidate_formats(6, frac_bits=-1) == (QFormat(7, -1),)


def test_all_splits_of_the_bits_are_candidates_and_fractions_may_be_negative():
    formats = candidate_formats(3)
    assert [fmt.int_bits for fmt in formats] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert {fmt.bits for fmt in formats} == {3}
    assert formats[-1].frac_bits == -5


def judge(formats, log_prior, tables, X, y):
    return best_format(
        formats, np.array(log_prior), [np.array(t) for t in tables], forest([None]), [2], X, y
    )


def test_options_leave_one_format_or_eight():
    assert formats_of(TrainSettings(float_=True)) == (FLOAT_FORMAT,)
    assert formats_of(TrainSettings(bits=2, int_bits=5)) == (QFormat(5, -3),)
    assert formats_of(TrainSettings(frac_bits=2)) == (QFormat(4, 2),)
    assert formats_of(TrainSettings(bits=3)) == candidate_formats(3)


def test_the_format_that_errs_least_is_chosen():
    """The classes differ by half a nat around 10: only 4 integer and 1 fraction bits see it."""
    table = [[-10.0, -10.5], [-10.5, -10.0]]
    X, y = np.array([[0], [1]]), np.array([0, 1])
    formats = [QFormat(2, 3), QFormat(5, 0), QFormat(4, 1)]
    assert judge(formats, [0.0, 0.0], [table], X, y) == QFormat(4, 1)


def test_among_equal_errors_the_scores_nearest_to_the_exact_ones_win_then_the_first():
    """All decide rightly; the margin of 2.5 nats saturates, is rounded to 3, or is exact."""
    table = [[-0.25, -2.75], [-2.75, -0.25]]
    X, y = np.array([[0], [1]]), np.array([0, 1])
    formats = [QFormat(1, 2), QFormat(3, 0), QFormat(2, 2), QFormat(3, 2)]
    assert judge(formats, [0.0, 0.0], [table], X, y) == QFormat(2, 2)
    assert judge(formats[:2], [0.0, 0.0], [table], X, y) == QFormat(3, 0)


def test_one_lucky_row_does_not_make_a_coarse_format_better_but_two_do():
    """At state 2 the coarse format ties, and the tie happens to be right."""
    table = [[-0.25, -2.75], [-2.75, -0.25], [-1.25, -1.0]]
    formats = [QFormat(3, 0), QFormat(3, 2)]
    for lucky_rows, chosen in ((1, QFormat(3, 2)), (2, QFormat(3, 0))):
        X = np.array([[0], [1]] + [[2]] * lucky_rows)
        y = np.array([0, 1] + [0] * lucky_rows)
        found = best_format(formats, np.zeros(2), [np.array(table)], forest([None]), [3], X, y)
        assert found == chosen


def test_rows_of_more_weight_have_more_to_say():
    """A row of the rare class that only the fine format decides rightly outweighs two others."""
    table = [[-0.25, -2.75], [-2.75, -0.25], [-1.25, -1.0], [-1.0, -1.25]]
    formats, weights = [QFormat(3, 0), QFormat(3, 2)], np.array([1.0, 1, 1, 1, 1])
    X, y = np.array([[0], [1], [2], [2], [2]]), np.array([0, 1, 0, 0, 1])
    given = formats, np.zeros(2), [np.array(table)], forest([None]), [4], X, y
    assert best_format(*given, weights=weights) == QFormat(3, 2)
    assert best_format(*given, weights=np.array([0.1, 0.1, 2.3, 2.3, 0.2])) == QFormat(3, 0)


def test_a_class_without_rows_costs_much_but_not_infinitely():
    table = [[-0.25, -2.75, 0.0], [-2.75, -0.25, 0.0]]
    X, y = np.array([[0], [1]]), np.array([0, 1])
    formats = [QFormat(1, 2), QFormat(4, 2)]
    assert judge(formats, [0.0, 0.0, -np.inf], [table], X, y) == QFormat(4, 2)


def test_a_single_candidate_needs_no_rows():
    assert judge([QFormat(1, 1)], [0.0], [[[0.0]]], None, None) == QFormat(1, 1)
