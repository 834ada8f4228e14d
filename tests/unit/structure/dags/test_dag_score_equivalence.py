"""CPDAGs against pyAgrum and against all graphs of four variables."""

from collections import defaultdict

import pytest

from bncc.structure.dags.dag_score import Distance, arcs_of, compelled_arcs, structural_distance
from tests.unit.structure.dags.rows import ORACLE, all_dags


def dag_of(parents):
    return tuple(map(tuple, parents))


def test_compelled_arcs_are_those_of_the_essential_graph():
    for graph in ORACLE["graphs"]:
        theirs = {tuple(arc) for arc in graph["compelled"]}
        assert compelled_arcs(dag_of(graph["parents"])) == theirs
    assert {len(graph["parents"]) for graph in ORACLE["graphs"]} >= {3, 8}


def collider(dag):
    """Return adjacent pairs and v-structures, which characterize equivalent graphs."""
    edges = frozenset(map(frozenset, arcs_of(dag)))
    v = {
        (frozenset((a, b)), i)
        for i, parents in enumerate(dag)
        for a in parents
        for b in parents
        if a != b and frozenset((a, b)) not in edges
    }
    return edges, frozenset(v)


def test_compelled_arcs_are_those_that_all_equivalent_graphs_share():
    classes = defaultdict(list)
    for dag in all_dags(4):
        classes[collider(dag)].append(dag)
    assert len(classes) == 185
    for dags in classes.values():
        shared = frozenset.intersection(*(frozenset(arcs_of(dag)) for dag in dags))
        assert {compelled_arcs(dag) for dag in dags} == {shared}
        assert all(structural_distance(dag, dags[0]).of_patterns == 0 for dag in dags)
    firsts = [dags[0] for dags in classes.values()]
    zero = [structural_distance(dag, firsts[0]).of_patterns == 0 for dag in firsts]
    assert sum(zero) == 1  # only its own


@pytest.mark.parametrize(
    ("learned", "true", "expected"),
    [
        (((), (0,), (1,)), ((1,), (), (1,)), Distance(0, 0, 0, 0)),  # equivalent
        (((), (), ()), ((), (0,), (1,)), Distance(2, 0, 0, 0)),
        (((), (0,), (0,)), ((), (0,), ()), Distance(0, 1, 0, 0)),
        # 0 -> 2 <- 1, 2 -> 3 against 3 -> 2 <- 1, 2 -> 0: two arcs are turned round
        (((), (), (0, 1), (2,)), ((2,), (), (1, 3), ()), Distance(0, 0, 2, 0)),
        # 0 -> 2 <- 1 against the chain 0, 2, 1: compelled in one alone
        (((), (), (0, 1)), ((), (2,), (0,)), Distance(0, 0, 0, 2)),
    ],
)
def test_distances_by_hand(learned, true, expected):
    assert structural_distance(learned, true) == expected
    assert expected.total == expected.missing + expected.extra + expected.reversed
    assert expected.of_patterns == expected.total + expected.undecided


def test_a_graph_of_nothing_is_at_no_distance():
    assert structural_distance((), ()).total == 0
    assert compelled_arcs(((), ())) == frozenset()
