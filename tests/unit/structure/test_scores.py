"""Scores against hand computation, the authors' matrices, and local differences."""

import numpy as np
import pytest

from bncc.structure.counts import family_counts
from bncc.structure.graph import forest
from bncc.structure.scores import bdeu, bdeu_gains, conditional_mutual_information


def states(seed, n_samples=200, n_states=(3, 2, 4, 1), n_classes=3):
    generator = np.random.default_rng(seed)
    X = np.stack([generator.integers(0, r, n_samples) for r in n_states], axis=1)
    X[:, 1] = (X[:, 0] + generator.integers(0, 2, n_samples)) % 2
    return X, generator.integers(0, n_classes, n_samples), n_states, n_classes


def test_information_of_a_copied_bit_within_each_class_is_its_entropy():
    """Class 0: two equal bits, one nat times ln 2; class 1: constant bits, nothing to learn."""
    X = np.array([[0, 0], [1, 1], [0, 0], [0, 0]])
    y = np.array([0, 0, 1, 1])
    information = conditional_mutual_information(X, y, [2, 2], 2)
    assert information == pytest.approx(np.full((2, 2), 0.5 * np.log(2)), abs=1e-15)


def test_information_equals_its_definition():
    X, y, n_states, n_classes = states(1)
    information = conditional_mutual_information(X, y, n_states, n_classes)
    for i in range(4):
        for j in range(4):
            total = 0.0
            for c in range(n_classes):
                rows = X[y == c]
                for a in range(n_states[i]):
                    for b in range(n_states[j]):
                        joint = np.mean((rows[:, i] == a) & (rows[:, j] == b))
                        apart = np.mean(rows[:, i] == a) * np.mean(rows[:, j] == b)
                        if joint > 0:
                            total += len(rows) / len(X) * joint * np.log(joint / apart)
            assert information[i, j] == pytest.approx(total, abs=1e-12)


def test_information_is_never_negative_and_zero_without_rows():
    X, y, n_states, n_classes = states(2, n_samples=0)
    assert not conditional_mutual_information(X, y, n_states, n_classes).any()
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    assert conditional_mutual_information(X, np.zeros(4, int), [2, 2], 1)[0, 1] == 0.0


@pytest.mark.shared
@pytest.mark.parametrize(("name", "folds"), [("letter", 1), ("satimage", 5), ("usps", 1)])
def test_information_equals_the_authors_matrices(shared_data, name, folds):
    """Lower triangle I(Xi;Xj|C), diagonal H(Xi|C), in nats."""
    data = np.load(shared_data / "paper" / f"{name}.npz")
    theirs = np.load(shared_data / "paper" / f"{name}_mi.npz")
    for fold in range(1, folds + 1):
        X, y = data[f"x_tr_fold{fold}"].astype(np.int64) - 1, data[f"t_tr_fold{fold}"]
        ours = conditional_mutual_information(
            X, y.astype(np.int64), (X.max(axis=0) + 1).tolist(), int(y.max()) + 1
        )
        assert np.abs(np.tril(ours) - theirs[f"mi_graph_{fold}"]).max() < 1e-9


def test_bdeu_of_one_coin_is_the_beta_function():
    """Alpha 2, one parent configuration: B(1 + 3, 1 + 1) / B(1, 1) = 3! 1! / 5! = 1 / 20."""
    assert bdeu(np.array([[3, 1]]), 2.0) == pytest.approx(-np.log(20))


@pytest.mark.parametrize("alpha", [0.5, 2.0, 10.0])
def test_gains_are_differences_of_local_scores(alpha):
    X, y, n_states, n_classes = states(3)
    gains = bdeu_gains(X, y, n_states, n_classes, alpha)
    for i in range(4):
        for j in set(range(4)) - {i}:
            score = []
            for parent in (j, None):
                family = forest([parent if k == i else None for k in range(4)])
                cells = family_counts(X, y, family, n_states, n_classes, i)
                score.append(bdeu(np.moveaxis(cells, 1, 2).reshape(-1, n_states[i]), alpha))
            assert gains[i, j] == pytest.approx(score[0] - score[1], abs=1e-9)
    assert np.all(np.diagonal(gains) == -np.inf)
    assert gains == pytest.approx(gains.T)
