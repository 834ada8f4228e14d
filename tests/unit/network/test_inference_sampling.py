"""Rows sampled from a network follow it, and its seed."""

import numpy as np

from bncc.network import inference
from bncc.network.inference import parent_rows, sample
from tests.unit.network.networks import drawn

PARENTS, N_STATES = [(3,), (0, 3), (), ()], [3, 2, 1, 2]


def test_frequencies_are_those_of_the_tables():
    network = drawn(PARENTS, N_STATES, seed=1)
    X = sample(network, 40_000, 0)
    for i, table in enumerate(network.tables):
        rows = parent_rows(network, X, i)
        for row, chances in enumerate(table):
            drawn_states = X[rows == row, i]
            found = np.bincount(drawn_states, minlength=len(chances)) / len(drawn_states)
            np.testing.assert_allclose(found, chances, atol=4.5 * 0.5 / len(drawn_states) ** 0.5)


def test_a_row_counts_the_first_parent_outermost():
    network = drawn(PARENTS, N_STATES)
    X = np.array([[2, 0, 0, 1], [0, 0, 0, 1]])
    assert parent_rows(network, X, 1).tolist() == [5, 1]
    assert parent_rows(network, X, 3).tolist() == [0, 0]


def test_impossible_states_are_never_drawn():
    network = drawn(PARENTS, [3, 5, 1, 2], seed=2, zeros=0.6)
    X = sample(network, 5000, 0)
    for i, table in enumerate(network.tables):
        assert (table[parent_rows(network, X, i), X[:, i]] > 0).all()


def test_the_seed_decides_and_parts_do_not(monkeypatch):
    network = drawn(PARENTS, N_STATES)
    X = sample(network, 100, 3)
    monkeypatch.setattr(inference, "_PART", 7)
    np.testing.assert_array_equal(sample(network, 100, 3), X)
    assert (sample(network, 100, 4) != X).any()
    assert sample(network, 0, 3).shape == (0, 4)
