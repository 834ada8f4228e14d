"""MMPC on networks whose neighbors are known."""

import numpy as np
import pytest

from bncc.structure.dags.neighbors import (
    IndependenceTests,
    max_min,
    parents_and_children,
    varying_pairs,
)
from tests.unit.structure.dags.rows import columns, drawn

CHAIN = ((), (0,), (1,), (2,))
DIAMOND = ((), (0,), (0,), (1, 2))


def pairs(found):
    return {(int(i), int(j)) for i, j in np.argwhere(found) if i < j}


def noisy_or(seed, n_samples=3000):
    """Draw 0 -> 1, 0 -> 2 and 1, 2 -> 3, each a noisy or of its parents."""
    rng = np.random.default_rng(seed)
    X = np.zeros((n_samples, 4), np.int64)
    X[:, 0] = rng.random(n_samples) < 0.5
    for i, parents in ((1, [0]), (2, [0]), (3, [1, 2])):
        X[:, i] = rng.random(n_samples) < 0.1 + 0.4 * X[:, parents].sum(axis=1)
    return columns(X)


def test_a_chain_joins_its_neighbors_alone():
    told = []
    data = drawn(CHAIN, 1500, 2, fidelity=0.8)
    found = parents_and_children(data, tell=lambda share, words: told.append((share, words)))
    assert pairs(found) == {(0, 1), (1, 2), (2, 3)}
    assert np.array_equal(found, found.T)
    assert told[0][1].startswith("1 neighbors of variable 0, ")
    assert told[-1][0] == 1.0


def test_spouses_are_no_neighbors():
    assert pairs(parents_and_children(noisy_or(0))) == {(0, 1), (0, 2), (1, 3), (2, 3)}


def test_without_conditions_every_dependence_joins():
    data = drawn(CHAIN, 1500, 2, fidelity=0.9)
    found = parents_and_children(data, most_given=0)
    assert len(pairs(found)) == 6


def test_who_joined_too_soon_leaves_again():
    """1 and 2 are copies of 0 with errors; together they make 3, which 0 seems nearest to."""
    rng = np.random.default_rng(5)
    n = 4000
    a, b = rng.integers(0, 2, (2, n))
    c = a * 2 + b  # all that 3 depends on is in 0 and 1
    noise = rng.random(n) < 0.2
    near = np.where(rng.random(n) < 0.05, rng.integers(0, 4, n), c)
    y = (a & b) ^ noise
    data = columns(np.stack([a, b, near, y], axis=1), (2, 2, 4, 2))
    tests = IndependenceTests(data)
    assert tests.association(2, 3, ()) > tests.association(0, 3, ())
    assert max_min(tests, 3, 4, 0.05, 4) == [0, 1]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_test_has_more_conditions_than_asked_for(most):
    X = np.random.default_rng(8).normal(size=(3000, 1)) + np.random.default_rng(9).normal(
        size=(3000, 6)
    )
    tests = IndependenceTests(columns(X > 0, (2,) * 6))
    assert max_min(tests, 0, 6, 0.05, most) == [1, 2, 3, 4, 5]
    assert max(len(key) - 2 for key in tests._found) == most


def test_neighbors_are_those_that_both_name():
    data = noisy_or(3, 60)
    tests = IndependenceTests(data)
    named = [max_min(tests, target, 4, 0.2, 4) for target in range(4)]
    found = parents_and_children(data, level=0.2)
    for i in range(4):
        for j in range(4):
            assert found[i, j] == (j in named[i] and i in named[j])


@pytest.mark.parametrize("n_samples", [0, 1, 4])
def test_too_few_rows_join_nobody(n_samples):
    assert not parents_and_children(drawn(DIAMOND, n_samples, 1)).any()


def test_constants_join_nobody():
    X = np.array([[0, 0, 0], [0, 1, 1]] * 30)
    assert pairs(parents_and_children(columns(X, (2, 2, 2)))) == {(1, 2)}
    assert pairs(varying_pairs(columns(X, (2, 2, 2)))) == {(1, 2)}
    assert not varying_pairs(columns(X[:0], (2, 2, 2))).any()
    assert varying_pairs(columns(X)).diagonal().sum() == 0
