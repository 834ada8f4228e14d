"""Edmonds' algorithm against all branchings of small graphs, and networkx."""

from itertools import product

import networkx as nx
import numpy as np
import pytest

from bncc.structure.graph import find_cycles
from bncc.structure.spanning_trees import maximum_branching


def is_branching(parent):
    return not find_cycles([() if j is None else (j,) for j in parent]).closing


def weight_of(weights, parent):
    return sum(weights[j, i] for i, j in enumerate(parent) if j is not None)


def all_branchings(n):
    """Return the parents of all branchings, n for none."""
    choices = [[j for j in range(n + 1) if j != i] for i in range(n)]
    every = (tuple(None if j == n else j for j in parent) for parent in product(*choices))
    return np.array([[n if j is None else j for j in p] for p in every if is_branching(p)])


BRANCHINGS = {n: all_branchings(n) for n in range(1, 7)}


def best_weight(weights):
    n = len(weights)
    padded = np.concatenate([weights, np.zeros((1, n))])
    return padded[BRANCHINGS[n], np.arange(n)].sum(axis=1).max()


@pytest.mark.parametrize("is_whole", [True, False])
def test_no_branching_weighs_more(is_whole):
    """Whole numbers tie often."""
    generator = np.random.default_rng(1)
    for _ in range(250):
        n = int(generator.integers(1, 7))
        weights = generator.normal(0.5, 1, (n, n))
        if is_whole:
            weights = np.round(3 * weights)
        weights[generator.random((n, n)) < 0.2] = -np.inf
        parent = maximum_branching(weights)
        assert is_branching(parent)
        assert all(weights[j, i] > 0 for i, j in enumerate(parent) if j is not None)
        assert weight_of(weights, parent) == pytest.approx(best_weight(weights))


@pytest.mark.parametrize("seed", range(5))
def test_networkx_finds_no_more(seed):
    weights = np.random.default_rng(seed).normal(0.2, 1, (30, 30))
    graph = nx.DiGraph()
    graph.add_nodes_from(range(30))
    arcs = ((j, i) for j in range(30) for i in range(30) if i != j and weights[j, i] > 0)
    graph.add_weighted_edges_from((j, i, weights[j, i]) for j, i in arcs)
    theirs = sum(w for _, _, w in nx.maximum_branching(graph).edges(data="weight"))
    parent = maximum_branching(weights)
    assert is_branching(parent)
    assert weight_of(weights, parent) == pytest.approx(theirs)


def test_cycles_within_cycles_are_contracted_and_opened():
    """Each node best follows the next; the least loss is to open the ring before node 2."""
    weights = np.zeros((4, 4))
    for child, gain in enumerate((9, 9, 5, 9)):
        weights[(child + 1) % 4, child] = gain
    weights[0, 1] = weights[2, 3] = 8.5
    assert maximum_branching(weights) == (1, 2, None, 0)


def test_ties_keep_no_parent_then_the_smallest():
    assert maximum_branching(np.zeros((3, 3))) == (None, None, None)
    weights = np.zeros((4, 4))
    weights[:, 3] = 1.0
    assert maximum_branching(weights) == (None, None, None, 0)


def test_the_diagonal_and_arcs_of_no_weight_are_never_taken():
    weights = np.full((3, 3), -np.inf)
    np.fill_diagonal(weights, 5.0)
    assert maximum_branching(weights) == (None, None, None)


@pytest.mark.parametrize("n", [0, 1])
def test_nothing_to_branch(n):
    assert maximum_branching(np.ones((n, n))) == (None,) * n


def test_a_long_chain_of_nested_cycles_is_opened_once():
    """Neighbors prefer each other in pairs, so that every contraction holds the one before."""
    n = 300
    weights = np.zeros((n, n))
    for i in range(n - 1):
        weights[i, i + 1] = weights[i + 1, i] = 2.0 * n - i
    parent = maximum_branching(weights)
    assert is_branching(parent)
    assert parent.count(None) == 1
