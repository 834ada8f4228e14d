"""Confusion matrix, recall and intervals of error rates, by hand and by sampling."""

import numpy as np
import pytest

from bncc.model.error_rates import (
    INDEPENDENT,
    confusion_matrix,
    error_interval,
    interval_words,
    is_interval,
    macro_f1,
    recall_of,
    wilson,
    wilson_of_units,
)


def test_rows_are_true_classes_and_unknown_ones_are_left_out():
    y, decisions = np.array([0, 0, 1, -1, 1, 1]), np.array([0, 2, 1, 1, 0, 1])
    confusion = confusion_matrix(y, decisions, 3)
    assert confusion.tolist() == [[1, 0, 1], [1, 2, 0], [0, 0, 0]]
    assert recall_of(confusion.tolist()) == [1 / 2, 2 / 3, None]


def test_macro_f1_is_the_mean_over_classes_that_occur():
    assert macro_f1([[1, 0, 1], [1, 2, 0], [0, 0, 0]]) == pytest.approx((1 / 2 + 4 / 5 + 0) / 3)
    assert macro_f1([[3, 0, 0], [1, 2, 0], [0, 0, 0]]) == pytest.approx((6 / 7 + 4 / 5) / 2)
    assert macro_f1([[0, 0], [0, 0]]) is None


def test_the_interval_is_that_of_units_if_there_are_two():
    misses, units = np.array([True, False, False, False]), np.array([0, 0, 3, 3])
    alone, method = error_interval(misses, None, "groups")
    assert (tuple(alone), method) == (wilson(0.25, 4), INDEPENDENT)
    assert error_interval(misses, np.zeros(4, dtype=np.int64), "groups") == (alone, INDEPENDENT)
    found, method = error_interval(misses, units, "recordings")
    assert tuple(found) == wilson_of_units(misses, units)
    assert method == "Wilson, effective number of rows from 2 recordings"


def test_wilson_is_the_textbooks():
    """Newcombe (1998), table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29."""
    expected = {(81, 263): (0.2553, 0.3662), (15, 148): (0.0624, 0.1605),
                (0, 20): (0.0, 0.1611), (1, 29): (0.0061, 0.1718)}  # fmt: skip
    for (errors, n), interval in expected.items():
        assert wilson(errors / n, n) == pytest.approx(interval, abs=5e-5)


def test_words_say_where_rows_are_taken_as_independent():
    words = interval_words([0.1, 0.25], INDEPENDENT)
    assert words == "95 % interval 10.00 to 25.00 % (Wilson, assuming independent rows)"
    method = "Wilson, effective number of rows from 5 groups"
    assert interval_words([0.1, 0.25], method) == f"95 % interval 10.00 to 25.00 % ({method})"


def test_rows_that_are_their_own_units_are_nearly_those_of_wilson():
    misses = np.arange(2000) % 10 == 0
    plain = wilson(0.1, 2000)
    assert wilson_of_units(misses, np.arange(2000)) == pytest.approx(plain, abs=2e-4)


def test_units_of_equal_rows_count_once_each():
    """Ten rows of each of forty units: forty rows, with the quantile of Student's t."""
    errors = np.arange(40) % 4 == 0
    misses, units = np.repeat(errors, 10), np.repeat(np.arange(40), 10)
    assert wilson_of_units(misses, units) == wilson_of_units(errors, np.arange(40))
    low, high = wilson_of_units(misses, units)
    assert high - low > 3 * np.subtract(*wilson(0.25, 400)[::-1])


def test_no_error_and_equal_units_have_an_interval():
    units = np.arange(100) // 10
    low, high = wilson_of_units(np.zeros(100, dtype=bool), units)
    assert low == 0
    assert high == pytest.approx(2.2622**2 / (10 + 2.2622**2), abs=1e-3)
    even = wilson_of_units(np.arange(100) % 10 == 0, units)
    assert even == pytest.approx(wilson(0.1, 100, 2.2621571627982053))


def test_the_interval_covers_where_units_differ():
    """Thirty persons whose own error rates differ: 93 to 99 % of intervals hold the mean of all."""
    rng = np.random.default_rng(0)
    units, inside, plain = np.repeat(np.arange(30), 50), 0, 0
    for _ in range(400):
        misses = rng.random(1500) < rng.beta(1, 3, 30)[units]
        low, high = wilson_of_units(misses, units)
        inside += low <= 0.25 <= high
        low, high = wilson(float(misses.mean()), 1500)
        plain += low <= 0.25 <= high
    assert 372 <= inside <= 396
    assert plain < 250


def test_what_is_no_interval():
    assert is_interval([0, 0.5])
    assert is_interval((0.5, 0.5))
    assert not any(map(is_interval, (None, 3, "ab", [0.5], [0.5, 0.4], [0, True], [-1, 0], [0, 2])))
