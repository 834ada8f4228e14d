"""Influence of rows by their weights and by the balance of their classes."""

import numpy as np
import pytest

from bncc.data.dataset import Column, Dataset, Table
from bncc.train.weights import counting_rows, drawn_order, row_weights, typical_samples


def rows_of(y, weights=None):
    column = Column("a", "state", np.arange(len(y)), np.zeros(len(y), dtype=bool))
    given = None if weights is None else np.array(weights, dtype=float)
    return Dataset(Table((column,)), np.array(y), ("n", "y", "z"), "class", given)


def test_rows_count_alike_where_nothing_is_said():
    assert row_weights(rows_of([0, 1]), None) is None


def test_weights_have_the_mean_one():
    assert row_weights(rows_of([0, 1], [1, 3]), None).tolist() == [0.5, 1.5]


def test_classes_in_balance_weigh_alike_whatever_their_rows_do():
    y, given = [0, 0, 0, 2], [1, 2, 3, 10]
    assert row_weights(rows_of(y), "balanced").tolist() == pytest.approx([2 / 3] * 3 + [2])
    found = row_weights(rows_of(y, given), "balanced")
    assert found.tolist() == pytest.approx([1 / 3, 2 / 3, 1, 2])


def test_rows_of_no_weight_are_left_out():
    left = counting_rows(rows_of([0, 1, 2], [1, 0, 2]))
    assert left.y.tolist() == [0, 2]
    assert left.weights.tolist() == [1, 2]
    assert left.table.columns[0].values.tolist() == [0, 2]


def test_an_epoch_takes_samples_as_often_as_they_count():
    weights = np.array([0.25, 2.5, 0.0, 1.25])
    rng = np.random.default_rng(0)
    orders = [drawn_order(4, weights, rng) for _ in range(2000)]
    counts = np.array([np.bincount(order, minlength=4) for order in orders])
    assert (counts.sum(axis=1) == 4).all()
    assert (np.abs(counts - weights) < 1).all()
    assert counts.mean(axis=0) == pytest.approx(weights, abs=0.05)
    assert len({tuple(order) for order in orders}) > 10


def test_without_weights_an_epoch_takes_each_sample_once():
    order = drawn_order(9, None, np.random.default_rng(3))
    assert order.tolist() == np.random.default_rng(3).permutation(9).tolist()


def test_typical_samples_come_in_whole_numbers():
    X, y = np.array([[0], [1], [2]]), np.array([0, 1, 2])
    assert typical_samples(X, y, None, 0)[0] is X
    drawn, classes, origin = typical_samples(X, y, np.array([2.0, 0.0, 1.0]), 0)
    assert origin is not None
    assert (drawn.ravel().tolist(), classes.tolist()) == ([0, 0, 2], [0, 0, 2])
    assert origin.tolist() == [0, 0, 2]
