"""The networks of S2, learned from one count."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from bncc.papers.folds import Fold
from bncc.papers.s2_study import ALPHAS, NETWORKS, Network, check_scores, learn_networks
from bncc.structure.counts import class_counts, family_counts
from bncc.structure.graph import Structure, forest
from bncc.structure.learners.etan import etan
from bncc.structure.scores import bdeu


def drawn_fold(n_features=5, n_classes=3, n=200, seed=0):
    """Return a fold whose features depend on the class, on each other, or on nothing."""
    generator = np.random.default_rng(seed)
    y = generator.integers(0, n_classes, n)
    columns = [generator.integers(0, 2, n)]
    for i in range(1, n_features):
        source = (y, columns[-1], generator.integers(0, 3, n))[i % 3]
        noise = generator.integers(0, 3, n)
        columns.append(np.where(generator.random(n) < 0.7, source % 3, noise))
    X = np.column_stack(columns)
    train, test = slice(0, 3 * n // 4), slice(3 * n // 4, n)
    n_states = [2] + [3] * (n_features - 1)
    return Fold("drawn", X[train], y[train], X[test], y[test], n_states, n_classes)


def score(structure, fold, alpha):
    """Return a structure's BDeu from its own tables of counts."""
    total = bdeu(class_counts(fold.y, fold.n_classes)[None, :], alpha)
    for i, has_class in enumerate(structure.class_is_parent):
        counts = family_counts(fold.X, fold.y, structure, fold.n_states, fold.n_classes, i)
        r = fold.n_states[i]
        tables = np.moveaxis(counts, 1, 2).reshape(-1, r) if has_class else counts.sum(axis=2)
        total += bdeu(tables, alpha)
    return total


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_the_structures_and_ordered_as_the_searches_are(seed):
    fold = drawn_fold(seed=seed)
    found = learn_networks(fold)
    assert tuple(found) == NETWORKS
    for network in found.values():
        assert network.bdeu == pytest.approx(
            score(network.structure, fold, network.alpha), abs=1e-6
        )
    order = [found[name].bdeu for name in ("NB", "S-ETAN", "ETAN", "A-ETAN")]
    assert all(less <= more + 1e-6 for less, more in pairwise(order))
    assert found["TAN"].bdeu <= found["ETAN"].bdeu + 1e-6
    assert found["S-ETAN"].bdeu <= found["SA-ETAN"].bdeu + 1e-6
    assert found["SA-ETAN"].bdeu <= found["A-ETAN"].bdeu + 1e-6


def test_each_learner_has_its_kind_of_structure_and_alpha():
    fold = drawn_fold()
    found = learn_networks(fold)
    assert found["NB"].structure == forest([None] * 5)
    assert found["TAN"].structure.n_edges == 4
    assert all(found["TAN"].structure.class_is_parent)
    for name in ("S-ETAN", "SA-ETAN"):
        structure = found[name].structure
        arcs = zip(structure.parents, structure.class_is_parent, strict=True)
        assert all(has_class or not parents for parents, has_class in arcs)
    assert [found[name].alpha for name in NETWORKS[:5]] == [2.0, 2.0, 2.0, 10.0, 2.0]
    data = (fold.X, fold.y, fold.n_states, fold.n_classes)
    assert found["ETAN"].structure == etan(*data)
    assert found["A-ETAN"].structure == etan(*data, ALPHAS)
    assert found["SA-ETAN"].structure == etan(*data, ALPHAS, is_selective=True)


def test_tan_has_the_greatest_score_of_all_trees_over_three_features():
    fold = drawn_fold(n_features=3)
    trees = ([None, 0, 0], [None, 0, 1], [None, 2, 0])
    best = max(score(forest(tree), fold, 2.0) for tree in trees)
    assert learn_networks(fold)["TAN"].bdeu == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize(
    ("n_states", "n_classes"), [([1], 2), ([2], 2), ([1, 2], 2), ([2, 2], 1), ([1, 1, 1], 3)]
)
def test_one_feature_one_state_and_one_class_are_no_errors(n_states, n_classes):
    generator = np.random.default_rng(0)
    X = np.column_stack([generator.integers(0, r, 30) for r in n_states])
    y = generator.integers(0, n_classes, 30)
    found = learn_networks(Fold("small", X, y, X, y, n_states, n_classes))
    for i, r in enumerate(n_states):
        if r == 1:
            assert not found["ETAN"].structure.parents[i]


def test_an_etan_that_scores_less_is_an_error():
    structure = Structure(((),), (True,))
    found = {name: Network(structure, 2.0, -10.0) for name in ("NB", "TAN", "ETAN")}
    check_scores(found, "here")
    for name in ("NB", "TAN"):
        better = {**found, name: replace(found[name], bdeu=-9.9)}
        with pytest.raises(RuntimeError, match=rf"0\.1 nats less than {name} in here"):
            check_scores(better, "here")
