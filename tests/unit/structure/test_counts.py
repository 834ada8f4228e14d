"""Counts: both ways of counting pairs agree with a loop over rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.structure import counts
from bncc.structure.graph import Structure


def random_states(seed, n_samples, n_states, n_classes):
    generator = np.random.default_rng(seed)
    X = np.stack([generator.integers(0, r, n_samples) for r in n_states], axis=1)
    return X, generator.integers(0, n_classes, n_samples)


def squares(n_cells):
    """Return a term that depends on the count and on the size of the table."""
    return np.arange(1000.0) ** 2 * n_cells


def looped_sums(X, y, n_states, n_classes):
    n = len(n_states)
    sums = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            table = np.zeros((n_states[i], n_states[j], n_classes), dtype=int)
            for row, label in zip(X, y, strict=True):
                table[row[i], row[j], label] += 1
            sums[i, j] = 0.0 if i == j else squares(table.size)[table].sum()
    return sums


@given(
    st.integers(0, 2**32),
    st.integers(0, 40),
    st.lists(st.integers(1, 5), min_size=1, max_size=5),
    st.integers(1, 4),
)
def test_both_ways_count_pairs_as_a_loop_does(seed, n_samples, n_states, n_classes):
    X, y = random_states(seed, n_samples, n_states, n_classes)
    expected = looped_sums(X, y, n_states, n_classes)
    for count in (counts._sums_by_pair, counts._sums_by_product):
        sums = count(X, y, n_states, n_classes, squares)
        assert np.array_equal(sums, expected)
    assert np.array_equal(counts.pair_sums(X, y, n_states, n_classes, squares), expected)


def test_blocks_larger_than_one_product_are_counted_whole(monkeypatch):
    """With blocks of 6 one-hot columns, pairs within and across blocks all occur."""
    monkeypatch.setattr(counts, "BLOCK_COLUMNS", 6)
    n_states = [3, 2, 3, 3, 3, 2, 2, 2, 7]
    X, y = random_states(1, 60, n_states, 3)
    sums = counts._sums_by_product(X, y, n_states, 3, squares)
    assert np.array_equal(sums, looped_sums(X, y, n_states, 3))


@pytest.mark.parametrize(("n", "way"), [(3, "_sums_by_pair"), (200, "_sums_by_product")])
def test_many_features_are_counted_by_products(monkeypatch, n, way):
    called = []
    for name in ("_sums_by_pair", "_sums_by_product"):
        monkeypatch.setattr(
            counts, name, lambda *args, name=name: called.append(name) or np.zeros((n, n))
        )
    X, y = random_states(2, 5000, [2] * n, 2)
    counts.pair_sums(X, y, [2] * n, 2, squares)
    assert called == [way]


def test_two_identifiers_of_many_values_do_not_lay_out_their_joint_table():
    """100,000 x 100,000 cells would be 80 GB; only occupied ones are counted."""
    X = np.stack([np.arange(500), np.arange(500)[::-1]], axis=1)
    y = np.zeros(500, dtype=np.int64)
    ones = np.zeros(501)
    ones[1] = 1.0
    sums = counts.pair_sums(X, y, [100_000, 100_000], 1, lambda n_cells: ones)
    assert sums[0, 1] == sums[1, 0] == 500


def test_single_sums_take_each_features_own_table():
    X, y = random_states(3, 30, [2, 4], 3)
    sums = counts.single_sums(X, y, [2, 4], 3, squares)
    for i, r in enumerate([2, 4]):
        table = np.array([[np.sum((X[:, i] == a) & (y == c)) for c in range(3)] for a in range(r)])
        assert sums[i] == squares(r * 3)[table].sum()


def test_rows_and_counts_of_a_family_follow_the_model():
    """Row = (x2 * 2 + x0) * 3 + x1: first parent outermost, the feature innermost."""
    structure = Structure(((), (2, 0), ()), (True,) * 3)
    X = np.array([[1, 2, 0], [0, 1, 1], [0, 1, 1]])
    y = np.array([0, 1, 1])
    assert counts.family_rows(X, structure, (2, 3, 2), 1).tolist() == [5, 7, 7]
    table = counts.family_counts(X, y, structure, (2, 3, 2), 2, 1)
    assert table.shape == (4, 3, 2)
    assert table[1, 2, 0] == 1
    assert table[2, 1, 1] == 2
    assert table.sum() == 3


def test_classes_without_rows_count_zero():
    assert counts.class_counts(np.array([2, 2]), 4).tolist() == [0, 0, 2, 0]
