"""Features that the error does not need are eliminated first, and those that cost most."""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from bncc._types import IntArray
from bncc.data.dataset import Column, Dataset, Table
from bncc.search.feature_elimination import SIZES, FeatureSet, eliminations
from bncc.search.split_folds import Fold, folds_of
from bncc.train.settings import TrainSettings

BASE = TrainSettings(seed=0, validation=0.2)


def dataset(values: IntArray, y: IntArray) -> Dataset:
    """Return rows of integer columns with two or more classes."""
    present = np.zeros(len(values), dtype=np.bool_)
    columns = (Column(f"f{k}", "integer", values[:, k], present) for k in range(values.shape[1]))
    classes = tuple(f"c{k}" for k in range(int(y.max()) + 1))
    return Dataset(Table(tuple(columns)), y, classes, "class")


def folds() -> list[Fold]:
    """Return folds of rows whose class depends on columns 1 and, with more noise, 3."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 1500)
    values = rng.integers(-1000, 1000, (1500, 6))
    values[:, 1] = 500 * y + rng.integers(-300, 300, 1500)
    values[:, 3] = 500 * y + rng.integers(-600, 600, 1500)
    return list(folds_of(dataset(values, y), BASE))


def by_number(columns: Sequence[int]) -> float:
    """Return a cost that is the same for every feature."""
    return len(columns) / 6


@pytest.fixture(scope="module")
def found() -> list[FeatureSet]:
    return list(eliminations(folds(), BASE, [range(6)], by_number))


def test_all_features_come_first_and_one_remains(found: list[FeatureSet]) -> None:
    columns = [one.columns for one in found]
    # A cost that is the same for every feature makes no difference between paths.
    assert columns[0] == (0, 1, 2, 3, 4, 5)
    assert all(set(b) < set(a) for a, b in pairwise(columns))
    assert columns[-1] == (1,)


def test_what_tells_classes_remains_longest(found: list[FeatureSet]) -> None:
    (two,) = [one.columns for one in found if len(one.columns) == 2]
    assert two == (1, 3)


@pytest.mark.no_cover
def test_errors_are_those_of_validation_rows(found: list[FeatureSet]) -> None:
    n_held = sum(fold.held.n_rows for fold in folds())
    for one in found:
        assert one.misses.shape == (len(SIZES), n_held)
        assert {*np.unique(one.misses)} <= {0.0, 1.0}
    assert found[-1].misses[-1].mean() < 0.2


def test_errors_of_fewer_tables_are_those_that_are_known() -> None:
    one = FeatureSet((0,), np.arange(len(SIZES))[:, None] * np.ones((1, 3)))
    firsts = [one.misses_of(n)[0] for n in (0, 4, 5, 9.5, 10, 39, 40, 1000, float("inf"))]
    assert firsts == [0, 0, 0, 0, 1, 4, 5, 5, 5]


def with_one_dear(dear: int, columns: Sequence[int]) -> float:
    """Return a cost that is ten times as large for one feature."""
    return sum(10.0 if column == dear else 1.0 for column in columns)


@pytest.mark.no_cover
def test_of_two_equal_features_the_dearer_one_goes() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 1000)
    noise = rng.integers(-300, 300, (1000, 2))
    both = list(folds_of(dataset(500 * y[:, None] + noise, y), BASE))
    for dear in (0, 1):
        sets = eliminations(both, BASE, [range(2)], partial(with_one_dear, dear))
        assert [one.columns for one in sets][1] == (1 - dear,)


@pytest.mark.no_cover
def test_paths_weigh_costs_differently() -> None:
    """The better of two features costs a hundred times as much."""
    parts = folds()

    def cost(columns: Sequence[int]) -> float:
        return sum(100.0 if column == 1 else 1.0 for column in columns)

    singles = [
        one.columns for one in eliminations(parts, BASE, [range(6)], cost) if len(one.columns) == 1
    ]
    assert singles == [(3,), (1,)]


@pytest.mark.no_cover
def test_a_signal_of_little_worth_goes_as_a_whole() -> None:
    """Two features of a signal are worth less together than one of another, for the same cost."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 1500)
    values = rng.integers(-1000, 1000, (1500, 3))
    values[:, 0] = 500 * y + rng.integers(-300, 300, 1500)
    parts = list(folds_of(dataset(values, y), BASE))

    def of_signals(columns: Sequence[int]) -> float:
        return 0.5 * len({(0, 1, 1)[k] for k in columns})

    sets = [one.columns for one in eliminations(parts, BASE, [(0, 1, 2), (0, 1, 1)], of_signals)]
    # On the path that does not count costs, features go one by one.
    assert sets == [(0, 1, 2), (0,), (0, 1)]


@pytest.mark.no_cover
def test_the_result_depends_on_nothing_else(found: list[FeatureSet]) -> None:
    again = list(eliminations(folds(), BASE, [range(6)], by_number))
    assert [one.columns for one in again] == [one.columns for one in found]
    assert all((a.misses == b.misses).all() for a, b in zip(again, found, strict=True))
