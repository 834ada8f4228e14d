"""Pair counts: both ways of counting agree with a loop over rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.structure import counts as pair_counts
from bncc.structure.scores import sum_tables

WAYS = (pair_counts._by_pair, pair_counts._by_product)


def random_states(seed, n_samples, n_states, n_classes):
    generator = np.random.default_rng(seed)
    X = np.stack([generator.integers(0, r, n_samples) for r in n_states], axis=1)
    return X, generator.integers(0, n_classes, n_samples)


def squares(counts, n_cells):
    """Return a term that depends on the count and on the size of the table."""
    return counts.astype(float) ** 2 * n_cells


def looped_sums(X, y, n_states, n_classes, with_class):
    n = len(n_states)
    sums = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            table = np.zeros((n_states[i], n_states[j], n_classes), dtype=int)
            for row, label in zip(X, y, strict=True):
                table[row[i], row[j], label] += 1
            if not with_class:
                table = table.sum(axis=2)
            sums[i, j] = 0.0 if i == j else squares(table, table.size).sum()
    return sums


def summed(way, X, y, n_states, n_classes, with_marginal=True):
    """Return the sums of squares with and without the class."""
    blocks = way(X, y, n_states, n_classes, with_marginal)
    singles = pair_counts.single_tables(X, y, n_states, n_classes)
    of_class = np.bincount(y, minlength=n_classes)
    (sums,) = sum_tables(of_class, singles, blocks, (squares,), with_marginal=with_marginal)
    return sums.pair_class, sums.pair


@given(
    st.integers(0, 2**32),
    st.integers(0, 40),
    st.lists(st.integers(1, 5), min_size=1, max_size=5),
    st.integers(1, 4),
)
def test_both_ways_count_pairs_as_a_loop_does(seed, n_samples, n_states, n_classes):
    X, y = random_states(seed, n_samples, n_states, n_classes)
    for way in WAYS:
        both = summed(way, X, y, n_states, n_classes)
        for sums, with_class in zip(both, (True, False), strict=True):
            assert np.array_equal(sums, looped_sums(X, y, n_states, n_classes, with_class))
        assert summed(way, X, y, n_states, n_classes, False)[1] is None


@pytest.mark.parametrize(("columns", "rows"), [(6, 100), (512, 7), (6, 7)])
def test_blocks_larger_than_one_product_are_counted_whole(monkeypatch, columns, rows):
    """With blocks of 6 one-hot columns or 7 rows, pairs within and across blocks all occur."""
    monkeypatch.setattr(pair_counts, "BLOCK_COLUMNS", columns)
    monkeypatch.setattr(pair_counts, "BLOCK_ROWS", rows)
    n_states = [3, 2, 3, 3, 3, 2, 2, 2, 7]
    X, y = random_states(1, 60, n_states, 3)
    both = summed(pair_counts._by_product, X, y, n_states, 3)
    assert np.array_equal(both[0], looped_sums(X, y, n_states, 3, True))
    assert np.array_equal(both[1], looped_sums(X, y, n_states, 3, False))


@pytest.mark.parametrize(("n", "way"), [(3, "_by_pair"), (200, "_by_product")])
def test_many_features_are_counted_by_products(monkeypatch, n, way):
    called = []
    for name in ("_by_pair", "_by_product"):
        monkeypatch.setattr(pair_counts, name, lambda *args, name=name: called.append(name))
    X, y = random_states(2, 5000, [2] * n, 2)
    pair_counts.pair_blocks(X, y, [2] * n, 2, with_marginal=True)
    assert called == [way]


def test_two_identifiers_of_many_values_do_not_lay_out_their_joint_table():
    """100,000 x 100,000 cells would be 80 GB; only occupied ones are counted."""
    X = np.stack([np.arange(500), np.arange(500)[::-1]], axis=1)
    X = np.concatenate([X, X])
    y = np.arange(1000) // 500
    blocks = list(pair_counts.pair_blocks(X, y, [10**5, 10**5], 2, with_marginal=True))
    assert [block.has_class for block in blocks] == [True, False]
    assert [block.n_cells for block in blocks] == [2 * 10**10, 10**10]
    assert blocks[0].counts.ravel().tolist() == [1] * 1000
    assert blocks[1].counts.ravel().tolist() == [2] * 500


def test_single_tables_count_states_and_classes():
    X, y = random_states(3, 30, [2, 4], 3)
    for i, table in enumerate(pair_counts.single_tables(X, y, [2, 4], 3)):
        for a in range(table.shape[0]):
            for c in range(3):
                assert table[a, c] == np.sum((X[:, i] == a) & (y == c))
