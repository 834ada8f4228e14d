"""The graph of a classifier and what it costs."""

import pytest

from bncc.structure.graph import (
    Structure,
    forest,
    free_parameters,
    n_rows,
    table_entries,
    topological_order,
)


def test_a_forest_has_the_class_and_at_most_one_feature_as_parents():
    structure = forest([None, 0, 1])
    assert structure.parents == ((), (0,), (1,))
    assert structure.class_is_parent == (True, True, True)
    assert (structure.n_features, structure.n_edges) == (3, 2)


@pytest.mark.parametrize(
    ("parents", "flags", "message"),
    [
        (((1,), (0,)), (True, True), "cycle"),
        (((0,),), (True,), "cycle"),
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


def test_sizes_count_stored_entries_and_free_parameters():
    """x0 | x1, C and x1 without the class; 3 states, 2 states, 5 classes."""
    structure = Structure(((1,), ()), (True, False))
    assert n_rows(structure, (3, 2), 0) == 6
    assert table_entries(structure, (3, 2), 5) == 5 + 6 * 5 + 2
    assert free_parameters(structure, (3, 2), 5) == 4 + 2 * 2 * 5 + 1
