"""Folds, and the probabilities that the other folds count."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.structure.margin_scores.held_out import (
    EPSILON,
    MOST,
    HeldOut,
    hold_out,
    scale_for,
    shuffled_folds,
)
from bncc.structure.margin_scores.score import Score
from bncc.structure.margin_scores.scored_tree import ScoredTree

X = np.array([[0], [0], [1], [0], [1], [1]])
Y = np.array([0, 0, 0, 1, 1, 0])
FOLD = np.array([0, 1, 1, 0, 1, 0], dtype=np.int32)


def by_hand():
    columns = np.zeros((2, 6), dtype=np.int32)
    columns[0] = X[:, 0]
    logs = np.log(np.maximum(np.arange(7), 1))
    return HeldOut(columns, Y.astype(np.int32), (2, 1), 2, FOLD, 2, 1000, logs)


def test_probabilities_are_those_of_the_other_folds():
    held = by_hand()
    # Rows 1, 2 and 4 are outside fold 0: of class 0 states 0 and 1, of class 1 state 1.
    nothing = round(1000 * np.log(EPSILON))
    assert held.prior()[0].tolist() == [round(1000 * np.log(2 / 3)), round(1000 * np.log(1 / 3))]
    table = held.table(0, 1)
    assert table.shape == (2, 2, 1, 2)
    assert table[0, :, 0, :].tolist() == [[-693, nothing], [-693, 0]]
    assert held.by_row(0, 1, table)[0].tolist() == [-693, nothing]


def test_a_state_that_no_other_fold_has_leaves_epsilon_and_a_parent_state_equal_parts():
    held = hold_out(np.array([[0, 0], [1, 1]]), np.array([0, 0]), (2, 2), 1, 2)
    parts = {0, round(held.scale * np.log(EPSILON)), round(held.scale * np.log(0.5))}
    assert set(held.table(0, 1).ravel().tolist()) == parts


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.integers(1, 6))
def test_folds_are_even_in_all_and_in_each_class(classes, n_folds):
    y = np.array(classes)
    fold = shuffled_folds(y, n_folds, np.random.default_rng(0))
    for rows in (fold, *(fold[y == c] for c in range(4))):
        sizes = np.bincount(rows, minlength=n_folds)
        assert sizes.max() - sizes.min() <= 1


def test_folds_follow_the_seed():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (50, 3)), rng.integers(0, 2, 50)
    first, again, other = (hold_out(X, y, (2, 2, 2), 2, seed=s).fold for s in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_there_are_no_more_folds_than_rows():
    held = hold_out(np.zeros((2, 1), int), np.array([0, 1]), (1,), 2, 5)
    assert held.n_folds == 2
    assert sorted(held.fold.tolist()) == [0, 1]


@pytest.mark.parametrize("n_features", [0, 1, 57, 256, 784, 100_000])
def test_joints_stay_within_their_bound(n_features):
    scale = scale_for(n_features)
    assert scale & (scale - 1) == 0
    assert (n_features + 1) * round(-np.log(EPSILON) * scale) < MOST


def test_copies_of_a_row_are_held_out_together():
    """Otherwise a row would be evaluated on counts that include it."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (60, 3)), rng.integers(0, 2, 60)
    origin = np.sort(rng.integers(0, 20, 60))
    fold = hold_out(X, y[origin], (2,) * 3, 2, 4, origin=origin).fold
    assert all(len(set(fold[origin == row])) == 1 for row in set(origin))
    assert set(fold) == {0, 1, 2, 3}


def test_names_of_rows_are_no_parents():
    """Two columns of a thousand states would fill memory, without information."""
    X = np.stack([np.arange(1000), np.arange(1000), np.arange(1000) % 2], axis=1)
    held = hold_out(X, np.arange(1000) % 2, (1000, 1000, 2), 2)
    tree = ScoredTree(held, Score("cr", held.scale), engine="numpy")
    assert tree.features.tolist() == [2]
