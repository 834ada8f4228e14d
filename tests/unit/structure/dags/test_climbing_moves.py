"""Gains of moves against scores of whole graphs."""

import numpy as np
import pytest

from bncc.structure.dags.climbing import KINDS, Moves, far_ancestors_of
from bncc.structure.dags.dag_score import DagScore, Limits, ScoreKind, no_arcs
from tests.unit.structure.dags.rows import all_dags, changes, drawn, oracle_columns

ANY = np.ones((5, 5), bool)


@pytest.mark.parametrize("kind", ["bdeu", "bic"])
def test_every_possible_move_gains_what_whole_graphs_differ_by(kind):
    score = DagScore(oracle_columns(), ScoreKind(kind))
    dags = (no_arcs(5), ((), (), (0, 1), (2,), ()), ((1,), (), (0, 1), (0, 2), (1, 2, 3)))
    for dag in dags:
        gains = Moves(score, ANY, dag).gains()
        expected = np.full_like(gains, -np.inf)
        for move, child, parent, after in changes(dag):
            expected[KINDS.index(move), child, parent] = score.total(after) - score.total(dag)
        assert gains == pytest.approx(expected, abs=1e-8)


def test_gains_are_kept_right_by_every_move():
    score = DagScore(oracle_columns())
    moves = Moves(score, ANY)
    rng = np.random.default_rng(4)
    for _ in range(30):
        possible = list(moves.by_gain())
        moves.apply(possible[rng.integers(len(possible))])
        afresh = Moves(score, ANY, moves.dag)
        assert moves.gains() == pytest.approx(afresh.gains(), abs=1e-8)
        assert {kind for kind, *_ in possible} <= set(KINDS)


def test_moves_stay_within_what_is_allowed():
    allowed = np.zeros((5, 5), bool)
    allowed[2, 0] = allowed[3, 2] = allowed[2, 3] = True
    moves = Moves(DagScore(oracle_columns()), allowed, ((), (), (), (2,), (1,)))
    possible = {(kind, child, parent) for kind, child, parent, _ in moves.by_gain()}
    # An arc of the start that is not allowed may go, but not turn.
    assert possible == {
        ("add", 2, 0), ("delete", 3, 2), ("delete", 4, 1), ("reverse", 3, 2),
    }  # fmt: skip


def test_families_over_a_limit_are_no_candidates():
    score = DagScore(oracle_columns(), limits=Limits(parents=1, entries=9))
    moves = Moves(score, ANY, ((), (), (0,), (), ()))
    possible = {(kind, child, parent) for kind, child, parent, _ in moves.by_gain()}
    assert ("add", 2, 1) not in possible  # a second parent
    assert ("add", 3, 1) not in possible  # 12 entries
    assert ("add", 3, 0) in possible
    assert ("reverse", 2, 0) in possible


def test_equal_moves_come_in_order():
    moves = Moves(DagScore(drawn(((), (0,), ()), 200, 1)), np.ones((3, 3), bool))
    assert moves.best()[:3] == ("add", 0, 1)  # scores as its reverse does
    assert [move[:3] for move in moves.by_gain()][:2] == [("add", 0, 1), ("add", 1, 0)]


def test_one_variable_has_no_moves_and_none_at_all_neither():
    for n in (0, 1):
        moves = Moves(DagScore(drawn(((),) * n, 5, 1)), np.ones((n, n), bool))
        assert moves.best().gain == -np.inf
        assert list(moves.by_gain()) == []


def test_far_ancestors_are_those_that_a_path_of_two_arcs_or_more_leads_from():
    for dag in all_dags(4):
        has = np.array([[j in parents for j in range(4)] for parents in dag])
        expected, reach = np.zeros_like(has), has
        for _ in range(3):
            reach = (reach.astype(int) @ has.astype(int)) > 0
            expected |= reach
        assert np.array_equal(far_ancestors_of(has), expected)
