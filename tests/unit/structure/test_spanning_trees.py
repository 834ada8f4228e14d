"""Prim's algorithm against all forests of small graphs."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.structure.graph import forest
from bncc.structure.spanning_trees import maximum_spanning_forest


def is_acyclic(edges, n):
    component = list(range(n))
    for a, b in edges:
        if component[a] == component[b]:
            return False
        merged, gone = component[a], component[b]
        component = [merged if c == gone else c for c in component]
    return True


def symmetric(values, n):
    weights = np.zeros((n, n))
    weights[np.triu_indices(n, 1)] = values[: n * (n - 1) // 2]
    return weights + weights.T


def weight_of(weights, parents):
    return sum(weights[i, j] for i, j in enumerate(parents) if j is not None)


graphs = st.integers(1, 5).flatmap(
    lambda n: st.lists(st.integers(-3, 3), min_size=10, max_size=10).map(
        lambda values: symmetric(values, n)
    )
)


@given(graphs)
def test_no_spanning_tree_weighs_more(weights):
    n = len(weights)
    edges = list(combinations(range(n), 2))
    trees = (t for t in combinations(edges, n - 1) if is_acyclic(t, n))
    best = max(sum(weights[e] for e in tree) for tree in trees)
    parents = maximum_spanning_forest(weights)
    assert parents[0] is None
    assert None not in parents[1:]
    forest(parents)  # refuses a cycle
    assert weight_of(weights, parents) == best


@given(graphs)
def test_no_forest_weighs_more_than_the_one_of_positive_edges(weights):
    n = len(weights)
    edges = list(combinations(range(n), 2))
    forests = (f for size in range(n) for f in combinations(edges, size) if is_acyclic(f, n))
    best = max(sum(weights[e] for e in f) for f in forests)
    parents = maximum_spanning_forest(weights, threshold=0.0)
    forest(parents)
    assert weight_of(weights, parents) == best
    assert all(weights[i, j] > 0 for i, j in enumerate(parents) if j is not None)


def test_ties_keep_the_first():
    """All weights equal: feature 0 is the parent of every feature."""
    assert maximum_spanning_forest(np.ones((4, 4))) == (None, 0, 0, 0)


def test_each_tree_of_a_forest_is_rooted_at_its_smallest_feature():
    weights = np.full((5, 5), -1.0)
    weights[1, 4] = weights[4, 1] = weights[2, 3] = weights[3, 2] = 1.0
    assert maximum_spanning_forest(weights, threshold=0.0) == (None, None, None, 2, 1)


@pytest.mark.parametrize("n", [0, 1])
def test_nothing_to_span(n):
    assert maximum_spanning_forest(np.zeros((n, n))) == (None,) * n
