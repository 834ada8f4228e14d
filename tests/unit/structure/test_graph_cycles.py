"""Cycles: found where there are any, reported in the arcs' direction, in linear time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bncc.structure.graph import Cycles, Structure, find_cycles
from tests.strategies import rings

graphs = st.integers(1, 6).flatmap(
    lambda n: st.tuples(
        *(st.lists(st.integers(0, n - 1).filter(lambda j, i=i: j != i), unique=True) if n > 1
          else st.just([]) for i in range(n))
    )
)  # fmt: skip


def reach_themselves(parents, without=()):
    """Return which features are on a cycle, by powers of the adjacency matrix."""
    n = len(parents)
    step = np.zeros((n, n), dtype=bool)
    for i, some in enumerate(parents):
        for j in some:
            step[j, i] = (j, i) not in without
    reached = step
    for _ in range(n):
        reached = reached | (reached @ step)
    return reached.diagonal()


def test_a_tree_has_none():
    assert find_cycles(((), (0,), (1,), (0,))) == Cycles((), ())


def test_a_pair_closes_with_the_arc_into_the_second():
    assert find_cycles(((1,), (0,))) == Cycles(((0, 1),), (0, 1))


def test_a_ring_is_told_in_the_direction_of_its_arcs():
    """2 -> 0 -> 3 -> 1 -> 2, with the child 4."""
    assert find_cycles(((2,), (3,), (1,), (0,), (3,))).first == (0, 3, 1, 2)


def test_a_feature_that_only_hangs_on_a_cycle_is_not_on_it():
    assert find_cycles(((1,), (2,), (3,), (2,))) == Cycles(((2, 3),), (2, 3))


@given(graphs)
def test_nothing_is_left_without_the_closing_arcs_and_each_closes_a_cycle(parents):
    found = find_cycles(parents)
    assert not reach_themselves(parents, without=found.closing).any()
    assert bool(found.closing) == bool(found.first) == bool(reach_themselves(parents).any())
    for arc in found.closing:
        assert reach_themselves(parents, without=set(found.closing) - {arc}).any()
    for j, i in zip(found.first, (*found.first[1:], *found.first[:1]), strict=True):
        assert j in parents[i]
    assert len(set(found.first)) == len(found.first)


@given(st.integers(2, 9).flatmap(rings))
def test_one_arc_closes_each_cycle_of_features_with_one_parent(structure: Structure):
    """As many cycles as arcs too many: a graph without cycles has an arc fewer per component."""
    n_roots = sum(not parents for parents in structure.parents)
    component = list(range(structure.n_features))
    for i, parents in enumerate(structure.parents):
        for j in parents:
            old, new = component[i], component[j]
            component = [new if c == old else c for c in component]
    assert len(structure.cycles.closing) == len(set(component)) - n_roots


def test_a_ring_of_fifty_thousand_features_is_searched_at_once():
    n = 50_000
    assert len(find_cycles([((i + 1) % n,) for i in range(n)]).first) == n


def test_pairs_that_share_a_chain_are_searched_at_once():
    n = 50_000
    chain = [tuple(j for j in (i - 1, i + 1) if 0 <= j < n) for i in range(n)]
    assert len(find_cycles(chain).closing) == n - 1
