"""Tables from counts, against scikit-learn, against the paper, and by hand."""

import numpy as np
import pytest
from sklearn.naive_bayes import CategoricalNB

from bncc.structure.graph import Structure, forest
from bncc.train.maximum_likelihood import bdeu_log_tables, ml_log_tables


def states(seed=0, n_states=(3, 1, 5), n_classes=4, n_samples=150):
    generator = np.random.default_rng(seed)
    X = np.stack([generator.integers(0, r, n_samples) for r in n_states], axis=1)
    return X, generator.integers(0, n_classes, n_samples), list(n_states), n_classes


def assert_equals_sklearn(X, y, n_states, n_classes):
    theirs = CategoricalNB(alpha=1.0, min_categories=n_states).fit(X, y)
    log_prior, tables = ml_log_tables(X, y, forest([None] * len(n_states)), n_states, n_classes)
    assert log_prior == pytest.approx(theirs.class_log_prior_, abs=1e-12)
    for ours, feature_log_prob in zip(tables, theirs.feature_log_prob_, strict=True):
        assert np.abs(ours - feature_log_prob.T).max() < 1e-12


def test_naive_bayes_is_sklearns_categorical_nb():
    assert_equals_sklearn(*states())


@pytest.mark.shared
def test_naive_bayes_on_letter_is_sklearns_categorical_nb(shared_data):
    data = np.load(shared_data / "paper" / "letter.npz")
    X = data["x_tr_fold1"].astype(np.int64) - 1
    assert_equals_sklearn(X, data["t_tr_fold1"].astype(np.int64), (X.max(axis=0) + 1).tolist(), 26)


def test_one_row_is_added_to_every_cell_under_its_parents():
    """Class 0, parent state 1: child states 2, 2, 0 of three: (1+1, 0+1, 2+1) / 6."""
    X = np.array([[1, 2], [1, 2], [1, 0], [0, 1]])
    y = np.array([0, 0, 0, 1])
    log_prior, tables = ml_log_tables(X, y, forest([None, 0]), (2, 3), 2)
    assert np.exp(log_prior) == pytest.approx([0.75, 0.25])
    assert np.exp(tables[1][3:6, 0]) == pytest.approx([2 / 6, 1 / 6, 3 / 6])
    assert np.exp(tables[1][0:3, 0]) == pytest.approx([1 / 3] * 3)
    assert tables[1].shape == (6, 2)


def test_bdeu_means_share_alpha_over_all_cells():
    """Alpha 12 over 2 x 3 x 2 cells is one row each; over the class's 2 cells six rows each."""
    X = np.array([[1, 2], [1, 2], [1, 0], [0, 1]])
    y = np.array([0, 0, 0, 1])
    log_prior, tables = bdeu_log_tables(X, y, forest([None, 0]), (2, 3), 2, alpha=12.0)
    assert np.exp(log_prior) == pytest.approx([9 / 16, 7 / 16])
    assert np.exp(tables[1][3:6, 0]) == pytest.approx([2 / 6, 1 / 6, 3 / 6])
    assert np.exp(tables[0][:, 1]) == pytest.approx([4 / 7, 3 / 7])


def test_without_the_class_as_parent_all_classes_share_one_column():
    X, y, n_states, n_classes = states()
    structure = Structure(((), (0,), (0,)), (True, True, False))
    for tables in (
        ml_log_tables(X, y, structure, n_states, n_classes)[1],
        bdeu_log_tables(X, y, structure, n_states, n_classes, 3.0)[1],
    ):
        assert np.all(tables[2] == tables[2][:, :1])
        sums = np.exp(tables[2]).reshape(3, 5, n_classes).sum(axis=1)
        assert sums == pytest.approx(np.ones((3, n_classes)))
    expected = (np.sum((X[:, 0] == 1) & (X[:, 2] == 4)) + 1) / (np.sum(X[:, 0] == 1) + 5)
    table = ml_log_tables(X, y, structure, n_states, n_classes)[1][2]
    assert np.exp(table[1 * 5 + 4, 0]) == pytest.approx(expected)
    table = bdeu_log_tables(X, y, structure, n_states, n_classes, 3.0)[1][2]
    pair, parent = np.sum((X[:, 0] == 1) & (X[:, 2] == 4)), np.sum(X[:, 0] == 1)
    assert np.exp(table[1 * 5 + 4, 0]) == pytest.approx((pair + 3 / 15) / (parent + 3 / 3))


def test_a_class_without_rows_is_impossible_but_harmless():
    log_prior, tables = ml_log_tables(
        np.array([[0], [1]]), np.array([0, 0]), forest([None]), [2], 2
    )
    assert log_prior.tolist() == [0.0, -np.inf]
    assert np.isfinite(tables[0]).all()


def test_a_feature_of_one_state_says_nothing():
    X, y, n_states, n_classes = states()
    _, tables = ml_log_tables(X, y, forest([None, 0, None]), n_states, n_classes)
    assert not tables[1].any()


@pytest.mark.parametrize("has_class", [True, False])
def test_a_row_of_weight_3_counts_as_three(has_class):
    rng = np.random.default_rng(0)
    X, y, weights = rng.integers(0, 3, (60, 2)), rng.integers(0, 2, 60), rng.integers(1, 4, 60)
    structure = Structure(((), (0,)), (True, has_class))
    # Weights are scaled to a mean of 1, and smoothing by the same factor.
    mean, three = weights / weights.mean(), (np.repeat(X, weights, axis=0), np.repeat(y, weights))
    weighed = [
        ml_log_tables(X, y, structure, (3, 3), 2, 1 / weights.mean(), mean),
        bdeu_log_tables(X, y, structure, (3, 3), 2, 5 / weights.mean(), mean),
    ]
    repeated = [
        ml_log_tables(*three, structure, (3, 3), 2),
        bdeu_log_tables(*three, structure, (3, 3), 2, 5.0),
    ]
    for (prior, tables), (same_prior, same_tables) in zip(weighed, repeated, strict=True):
        assert prior == pytest.approx(same_prior)
        for table, same in zip(tables, same_tables, strict=True):
            assert table == pytest.approx(same)


def test_the_table_of_a_class_with_parents_is_counted_as_any_other():
    """Parent state 0: classes 1, 1, 0; state 1: class 0 alone."""
    X, y = np.array([[0, 1], [0, 0], [0, 1], [1, 1]]), np.array([1, 1, 0, 0])
    structure = Structure(((), ()), (False, True), class_parents=(0,), given=(0,))
    prior, tables = ml_log_tables(X, y, structure, (2, 2), 2)
    assert not prior.any()
    assert not tables[0].any()
    assert np.exp(tables[2]) == pytest.approx(np.array([[2 / 5, 3 / 5], [2 / 3, 1 / 3]]))
    assert np.exp(tables[1][:, 0]) == pytest.approx([1 / 4, 3 / 4])
    prior, tables = bdeu_log_tables(X, y, structure, (2, 2), 2, alpha=4.0)
    assert not prior.any()
    assert not tables[0].any()
    assert np.exp(tables[2]) == pytest.approx(np.array([[2 / 5, 3 / 5], [2 / 3, 1 / 3]]))
