"""Searches against brute force on few variables."""

import numpy as np
import pytest

from bncc.structure.dags import climbing
from bncc.structure.dags.climbing import Moves, climb, tabu_search
from bncc.structure.dags.dag_score import DagScore, ScoreKind, no_arcs, structural_distance
from bncc.structure.dags.neighbors import varying_pairs
from tests.unit.structure.dags.rows import all_dags, changes, columns, drawn, oracle_columns

TRUE = ((), (), (0, 1), (2,), (2, 3))


def brute_climb(score, dag):
    """Yield the graphs of a climb that scores whole graphs."""
    while True:
        best = max(score.total(after) for *_, after in changes(dag))
        if best <= score.total(dag) + 1e-6:
            return
        order = {"add": 0, "delete": 1, "reverse": 2}
        equal = [c for c in changes(dag) if score.total(c[3]) >= best - 1e-6]
        dag = min(equal, key=lambda c: (order[c[0]], c[1], c[2]))[3]
        yield dag


@pytest.mark.parametrize("kind", ["bdeu", "bic"])
@pytest.mark.parametrize("seed", [0, 1])
def test_each_move_is_the_best_of_all(kind, seed):
    score = DagScore(drawn(TRUE, 120, seed, fidelity=0.6), ScoreKind(kind))
    expected = list(brute_climb(score, no_arcs(5)))
    told = []
    found = climb(score, np.ones((5, 5), bool), tell=lambda share, words: told.append(share))
    assert found == expected[-1]
    assert len(told) == len(expected)
    assert told == sorted(told)
    assert told[-1] < 1


def test_a_climb_deletes_and_reverses_arcs_of_its_start():
    score = DagScore(oracle_columns())
    start = ((2,), (), (), (0, 1), (0,))
    found = climb(score, np.ones((5, 5), bool), start)
    assert found == list(brute_climb(score, start))[-1]
    assert score.total(found) > score.total(start)


def test_a_climb_finds_an_equivalent_of_the_network():
    data = drawn(((), (0,), (1,), (2,)), 2000, 3, fidelity=0.7)
    found = climb(DagScore(data), np.ones((4, 4), bool))
    assert structural_distance(found, ((), (0,), (1,), (2,))).total == 0


def test_tabu_search_sees_no_less_than_the_climb_and_never_more_than_the_best():
    wins = 0
    for seed in range(12):
        score = DagScore(drawn(((), (), (0, 1), (1, 2)), 60, seed, fidelity=0.5))
        every = np.ones((4, 4), bool)
        climbed, found = (score.total(s(score, every)) for s in (climb, tabu_search))
        best = max(score.total(dag) for dag in all_dags(4))
        assert climbed - 1e-6 <= found <= best + 1e-6
        wins += found > climbed + 1e-6
    assert wins > 0


def test_tabu_search_goes_back_to_no_graph_and_ends(monkeypatch):
    visited = []
    apply = Moves.apply

    def noted(self, move):
        apply(self, move)
        visited.append(self.dag)

    monkeypatch.setattr(Moves, "apply", noted)
    score = DagScore(oracle_columns())
    found = tabu_search(score, np.ones((5, 5), bool))
    assert len(set(visited)) == len(visited)
    assert found == max(visited, key=score.total)
    assert visited[-climbing.TABU_PATIENCE - 1] == found


def test_tabu_search_ends_where_all_graphs_were_seen():
    score = DagScore(columns([[0, 0], [1, 1], [1, 1], [0, 0]]))
    assert tabu_search(score, np.ones((2, 2), bool)) == ((1,), ())


def test_constant_variables_stay_alone():
    """BDeu would reward a parent with states that never occur: it lessens the prior's weight."""
    data = columns([[0, 0, 0], [0, 1, 1], [0, 1, 1], [0, 0, 0]] * 5, (3, 2, 2))
    for search in (climb, tabu_search):
        assert search(DagScore(data), varying_pairs(data)) == ((), (2,), ())
