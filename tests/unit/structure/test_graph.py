"""The graph of a classifier and what it costs."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.structure.graph import (
    Structure,
    acyclic_part,
    class_rows,
    forest,
    free_parameters,
    n_rows,
    one_parent_each,
    table_entries,
    topological_order,
)
from tests.strategies import structures


def test_a_forest_has_the_class_and_at_most_one_feature_as_parents():
    structure = forest([None, 0, 1])
    assert structure.parents == ((), (0,), (1,))
    assert structure.class_is_parent == (True, True, True)
    assert (structure.n_features, structure.n_edges) == (3, 2)


@pytest.mark.parametrize(
    ("parents", "flags", "message"),
    [
        (((0,),), (True,), "its own parent"),
        (((1,), (0, 1)), (True, True), "its own parent"),
        (((5,), ()), (True, True), "repeated or unknown"),
        (((1, 1), ()), (True, True), "repeated or unknown"),
        (((),), (True, True), "one entry per feature"),
    ],
)
def test_a_graph_that_is_none_is_refused(parents, flags, message):
    with pytest.raises(ValueError, match=message):
        Structure(parents, flags)


def test_parents_come_before_children_layer_by_layer():
    structure = Structure(((2, 1), (3,), (3,), ()), (True,) * 4)
    assert topological_order(structure) == (3, 1, 2, 0)


def test_a_chain_of_ten_thousand_features_is_ordered_at_once():
    chain = forest([None, *range(9999)])
    assert topological_order(chain) == tuple(range(10_000))


def test_a_graph_may_have_cycles_and_says_so():
    ring = one_parent_each([1, 2, 0, None])
    assert not ring.is_bayesian_network
    assert len(ring.cycles.closing) == 1
    assert sorted(ring.cycles.first) == [0, 1, 2]
    assert forest([1, 2, None, 0]).is_bayesian_network


def test_what_promises_a_forest_or_an_order_refuses_a_cycle():
    with pytest.raises(ValueError, match="form a cycle"):
        forest([1, 0])
    with pytest.raises(ValueError, match="features \\(0, 1\\) form a cycle"):
        topological_order(one_parent_each([1, 0, 0]))


def test_the_acyclic_part_of_a_bayesian_network_is_the_network_itself():
    tree = forest([None, 0, 1])
    assert acyclic_part(tree) is tree


@given(st.integers(2, 6).flatmap(structures))
def test_the_acyclic_part_lacks_the_closing_arcs_and_no_others(structure):
    part = acyclic_part(structure)
    assert part.is_bayesian_network
    assert sorted(topological_order(part)) == list(range(structure.n_features))
    arcs, kept = (
        {(j, i) for i, parents in enumerate(graph.parents) for j in parents}
        for graph in (structure, part)
    )
    assert arcs - kept == set(structure.cycles.closing)
    assert part.class_is_parent == structure.class_is_parent


def test_sizes_count_stored_entries_and_free_parameters():
    """x0 | x1, C and x1 without the class; 3 states, 2 states, 5 classes."""
    structure = Structure(((1,), ()), (True, False))
    assert n_rows(structure, (3, 2), 0) == 6
    assert table_entries(structure, (3, 2), 5) == 5 + 6 * 5 + 2
    assert free_parameters(structure, (3, 2), 5) == 4 + 2 * 2 * 5 + 1


GENERAL = Structure(((), (), (1,)), (False, False, True), class_parents=(0, 1), given=(0,))


def test_a_class_with_parents_and_given_features_are_counted():
    # 4 joint states above a class of 3; feature 1 alone, feature 2 below feature 1 and the class
    assert class_rows(GENERAL, (2, 2, 5)) == 4
    assert table_entries(GENERAL, (2, 2, 5), 3) == 4 * 3 + 2 + 2 * 5 * 3
    assert free_parameters(GENERAL, (2, 2, 5), 3) == 4 * 2 + 1 + 2 * 4 * 3
    assert not GENERAL.is_bayesian_network
    assert replace(GENERAL, given=()).is_bayesian_network
    assert class_rows(forest([None]), (2,)) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"class_parents": (2,)}, "cycle through feature 2"),
        ({"class_parents": (3,)}, "cycle through feature 2"),
        ({"class_parents": (0, 0)}, "class has a repeated or unknown parent"),
        ({"class_parents": (4,)}, "class has a repeated or unknown parent"),
        ({"given": (1, 0)}, "are not in ascending order"),
        ({"given": (0, 0)}, "are not in ascending order"),
        ({"given": (4,)}, "unknown"),
        ({"given": (2,)}, "feature 2 is given and has parents"),
        ({"given": (1,)}, "feature 1 is given and has parents"),
    ],
)
def test_impossible_parents_of_the_class_are_refused(options, message):
    """Feature 1 is below the class, 2 below 0 and the class, 3 below 2."""
    with pytest.raises(ValueError, match=message):
        Structure(((), (), (0,), (2,)), (False, True, True, False), **options)
