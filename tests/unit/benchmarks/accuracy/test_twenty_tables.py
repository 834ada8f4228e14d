"""Counts and averages in the tables of twenty sets."""

import numpy as np
import pytest

from benchmarks.accuracy.twenty_tables import (
    Row,
    at_equal_error,
    averages,
    dependent_rows,
    earlier_rows,
    equal_rows,
    geometric_mean,
    set_rows,
    summary,
    tally,
)
from benchmarks.shared.decisions import Figures, packed

N_TEST = 200


def figures(wrong, *, flash=900, mean=100.0, worst=150, words="some"):
    missed = np.arange(N_TEST) < wrong
    return Figures(words, packed(missed), N_TEST, flash, mean, worst, mean)


def row(name="a", wrong=10, n_classes=2, budget=4096, forest=20, tree=30, earlier=10, **ours):
    def other(number):
        return None if number is None else figures(number, mean=5000.0)

    others = other(tree), other(forest), other(earlier)
    return Row(name, n_classes, budget, figures(wrong, **ours), *others, "4f958142")


def cells(text, line):
    return text.splitlines()[2 + line].strip("| ").split(" | ")


def test_clear_differences_are_counted_apart_from_wins():
    """Four rows of one sign have p = 2 / 2**4, six have 2 / 2**6."""
    pairs = [(figures(10), figures(number)) for number in (14, 16, 10, 7, 4)]
    found = tally(pairs)
    assert (found.wins, found.ties, found.losses) == (2, 1, 2)
    assert (found.n_better, found.n_worse) == (1, 1)
    assert found.difference == pytest.approx(np.mean([-2, -3, 0, 1.5, 3]))


def test_sets_without_a_baseline_within_the_limits_are_counted():
    text = summary([row(), row("b", forest=None), row("c", budget=1024, earlier=None)])
    assert cells(text, 0)[:3] == ["1,024", "tree", "1"]
    assert cells(text, 2) == ["4,096", "tree", "2", "0", "0", "2", "0", "-10.00", "0"]
    assert cells(text, 3) == ["4,096", "forest", "1", "0", "0", "1", "0", "-5.00", "1"]
    assert cells(text, 4) == ["4,096", "d593a37", "0", "2", "0", "0", "0", "+0.00", "0"]


def test_sets_in_order_of_time_have_both_tests():
    text = dependent_rows([row(), row("b", forest=None, wrong=40)], {"b"})
    assert cells(text, 0)[:5] == ["b", "4,096", "tree", "40", "30"]
    assert float(cells(text, 0)[5]) == pytest.approx(2 / 2**10, rel=0.1)
    assert cells(text, 0)[6] == "0.330"
    assert cells(text, 1)[2] == "d593a37"


def test_sets_of_more_than_seven_classes_are_averaged_apart():
    rows = [
        row("a", n_classes=2, mean=100.0, worst=900),
        row("b", n_classes=7, mean=300.0, worst=400),
        row("c", n_classes=8, mean=3000.0, worst=4000, earlier=None),
    ]
    text = averages(rows)
    assert cells(text, 0) == [
        *("4,096", "at most 7 classes", "2", "200", "5,000", "300 (b)", "900 (a)")
    ]  # fmt: skip
    assert cells(text, 1) == [
        *("4,096", "more classes", "1", "3,000", "-", "3,000 (c)", "4,000 (c)")
    ]


def test_a_row_has_the_direction_of_a_clear_difference():
    rows = [row(forest=None), row("b", forest=4), row("c", forest=8), row("other", budget=1024)]
    text = set_rows(rows, 4096)
    assert len(text.splitlines()) == 5
    assert cells(text, 0)[:6] == ["a", "2", "5.00", "900", "100", "150"]
    assert cells(text, 0)[-4:] == ["-"] * 4
    assert cells(text, 1)[-4:] == ["2.00", "900", "5,000", "**0.03 worse**"]
    assert cells(text, 2)[-1] == "0.500"
    assert cells(text, 0)[9] == "**2e-06 better**"


def test_the_earlier_choice_is_compared_where_it_is_known():
    text = earlier_rows([row(wrong=12), row("b", earlier=None)])
    assert len(text.splitlines()) == 3
    assert cells(text, 0) == [
        *("a", "4,096", "6.00", "5.00", "+1.00", "0.500", "900", "900", "100", "5,000")
    ]


def test_the_smallest_that_is_as_accurate_counts():
    ours = [figures(9, flash=800), figures(10, flash=700), figures(11, flash=600)]
    found = at_equal_error("a", 4096, {4096: figures(10, flash=1000)}, ours)
    assert (found.ours, found.is_reached, found.ratio) == (700, True, 0.7)
    missed = at_equal_error("a", 4096, {4096: figures(8, flash=1000)}, ours)
    assert (missed.ours, missed.is_reached) == (800, False)


def test_an_earlier_choice_for_a_smaller_budget_counts_if_it_is_as_accurate():
    earlier = {512: figures(12, flash=400), 1024: figures(10, flash=800), 4096: figures(10)}
    found = at_equal_error("a", 4096, earlier, [figures(10, flash=600)])
    assert (found.earlier, found.ratio) == (800, 0.75)
    assert at_equal_error("a", 512, earlier, [figures(10, flash=600)]).earlier == 400


def test_a_mean_over_sets_that_are_not_reached_is_a_lower_bound():
    def equal(name, flash, wrong=10):
        earlier = {4096: figures(10, flash=1000)}
        return at_equal_error(name, 4096, earlier, [figures(wrong, flash=flash)])

    text = equal_rows([equal("a", 400), equal("b", 900)])
    assert cells(text, 2) == ["4,096", "geometric mean of 2", "", "", "0.60"]
    text = equal_rows([equal("a", 400), equal("b", 900, wrong=11)])
    assert cells(text, 1)[3:] == ["> 900", "> 0.90"]
    assert cells(text, 2)[-1] == "> 0.60"


def test_the_geometric_mean_is_of_ratios():
    assert geometric_mean([0.5, 2.0]) == pytest.approx(1.0)
    assert geometric_mean([0.8]) == pytest.approx(0.8)
