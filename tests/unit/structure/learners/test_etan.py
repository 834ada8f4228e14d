"""ETAN against all structures of small problems, and the structures that it extends."""

from itertools import product

import numpy as np
import pytest

from bncc.structure.graph import Structure, find_cycles
from bncc.structure.learner import Problem
from bncc.structure.learners import LEARNERS
from bncc.structure.learners.etan import DEFAULT_ALPHAS, best_alpha, best_forest, etan
from bncc.structure.learners.trees import bdeu_tree, forest_tan, naive_bayes
from bncc.structure.scores import bdeu_families, bic_families, score_of

NAMES = ("etan", "s-etan", "sa-etan", "a-etan")


def problem_of(seed, n_samples=80, n_features=4):
    """Return data in which features follow the class, an earlier feature, both or neither."""
    generator = np.random.default_rng(seed)
    n_states = tuple(int(r) for r in generator.integers(1, 4, n_features))
    y = generator.integers(0, 2, n_samples)
    X = np.zeros((n_samples, n_features), dtype=np.int64)
    for i, r in enumerate(n_states):
        source = X[:, generator.integers(0, i)] if i and generator.random() < 0.7 else 0
        source = source + y * int(generator.random() < 0.5)
        noise = generator.integers(0, 3, n_samples) * (generator.random(n_samples) < 0.5)
        X[:, i] = (source + noise) % r
    return X, y, n_states, 2


def all_structures(n, is_selective):
    choices = [
        [
            ((), False),
            ((), True),
            *(((j,), c) for j in range(n) if j != i for c in ((True,) if is_selective else (0, 1))),
        ]
        for i in range(n)
    ]
    for families in product(*choices):
        parents = tuple(parent for parent, _ in families)
        if not find_cycles(parents).closing:
            yield Structure(parents, tuple(bool(flag) for _, flag in families))


@pytest.mark.parametrize("is_selective", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_no_structure_scores_more(n, is_selective):
    structures = list(all_structures(n, is_selective))
    for seed in range(3 if n == 4 else 10):
        data = problem_of(seed, n_features=n)
        for families in (*bdeu_families(*data, (0.5, 5.0)), bic_families(*data)):
            best = max(score_of(structure, families) for structure in structures)
            found = best_forest(families, is_selective=is_selective)
            assert score_of(found, families) == pytest.approx(best, abs=1e-5)


@pytest.mark.parametrize("alpha", [0.1, 2.0, 30.0])
def test_what_it_extends_never_scores_more(alpha):
    for seed in range(8):
        data = problem_of(seed, n_samples=300, n_features=12)
        (families,) = bdeu_families(*data, (alpha,))
        best = score_of(etan(*data, (alpha,)), families)
        selective = score_of(etan(*data, (alpha,), is_selective=True), families)
        for other in (bdeu_tree(*data, alpha), forest_tan(*data, alpha), naive_bayes(12)):
            assert best >= score_of(other, families) - 1e-4
        assert best >= selective - 1e-4


def test_a_small_example_of_every_kind_of_family():
    """Feature 0 is the class except where 4 flips it, 1 copies 0, 2 is noise, 3 has one state."""
    generator = np.random.default_rng(0)
    y = generator.integers(0, 2, 2000)
    first = y ^ (generator.random(2000) < 0.3)
    copy = first ^ (generator.random(2000) < 0.1)
    noise = generator.integers(0, 2, 2000)
    X = np.stack([first, copy, noise, np.zeros(2000, int), first ^ y], axis=1)
    data = (X, y, (2, 2, 2, 1, 2), 2)
    found = etan(*data)
    assert found.parents == ((4,), (0,), (), (), ())
    assert found.class_is_parent == (True, False, False, False, False)
    found = etan(*data, is_selective=True)
    assert not any(p and not c for p, c in zip(found.parents, found.class_is_parent, strict=True))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("is_selective", [False, True])
def test_alpha_is_that_of_the_highest_score(seed, is_selective):
    data = problem_of(seed, n_samples=200, n_features=6)
    found = etan(*data, DEFAULT_ALPHAS, is_selective=is_selective)
    scores = [
        score_of(best_forest(families, is_selective=is_selective), families)
        for families in bdeu_families(*data, DEFAULT_ALPHAS)
    ]
    alpha = best_alpha(found, *data, DEFAULT_ALPHAS)
    assert alpha == DEFAULT_ALPHAS[int(np.argmax(scores))]
    assert found == etan(*data, (alpha,), is_selective=is_selective)


@pytest.mark.parametrize("name", NAMES)
def test_edges_of_data(name):
    """No rows, no feature, one class, a constant feature: nothing is learned from nothing."""
    learner = LEARNERS[name]
    X, y, _, _ = problem_of(1)
    nothing = learner.learn(Problem(X[:0], y[:0], (2, 2, 2, 2), 2))
    assert (nothing.n_edges, any(nothing.class_is_parent)) == (0, False)
    assert learner.learn(Problem(X[:, :0], y, (), 2)).n_features == 0
    assert learner.learn(Problem(X * 0, y, (1,) * 4, 2)).n_edges == 0
    one_class = learner.learn(Problem(X, y * 0, (3,) * 4, 1))
    assert one_class.is_bayesian_network


def test_options_choose_score_and_alphas():
    data = problem_of(2, n_samples=300, n_features=8)
    etan_of = LEARNERS["etan"].learn
    assert etan_of(Problem(*data, {"score": "bic"})) == best_forest(bic_families(*data))
    assert etan_of(Problem(*data, {"alpha": "50"})) == etan(*data, (50.0,))
    found = LEARNERS["sa-etan"].learn(Problem(*data, {"alphas": "50"}))
    assert found == etan(*data, (50.0,), is_selective=True)
