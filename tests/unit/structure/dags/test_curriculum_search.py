"""The curriculum's search, stage by stage."""

import numpy as np
import pytest

from bncc.structure.dags.climbing import Moves, climb
from bncc.structure.dags.curriculum import (
    CurriculumSettings,
    arc_price,
    choose_step,
    held_rows,
    learn_by_curriculum,
    pair_information,
    stages_of,
    unfixing_order,
)
from bncc.structure.dags.dag_score import DagScore, Limits, ScoreKind
from tests.unit.structure.dags.rows import columns, drawn, oracle_columns

DATA = drawn(((), (0,), (1,), (1, 2), (), (3, 4), (5,)), 800, 7, fidelity=0.7)
ANY = np.ones((7, 7), bool)


def test_the_price_of_an_arc():
    assert arc_price(DATA) == pytest.approx(1000 / 800 + 7 / 100)
    assert arc_price(columns(np.zeros((0, 2), int), (2, 2))) == 1000.02


def test_without_a_curriculum_it_is_hill_climbing_with_a_price():
    score = DagScore(DATA, ScoreKind("bdeu", 10.0, arc_price(DATA)))
    assert learn_by_curriculum(DATA, ANY, 0) == climb(score, ANY)


@pytest.mark.parametrize("step", [1, 2, 3])
def test_the_last_graph_is_a_local_optimum_of_all_rows(step):
    found = learn_by_curriculum(DATA, ANY, step)
    score = DagScore(DATA, ScoreKind("bdeu", 10.0, arc_price(DATA)))
    assert Moves(score, ANY, found).best().gain <= 1e-6


def test_each_stage_begins_where_the_last_one_ended_and_joins_its_variables_alone():
    told = []
    found = learn_by_curriculum(DATA, ANY, 2, tell=lambda share, words: told.append((share, words)))
    stages = stages_of(DATA, unfixing_order(pair_information(DATA)), 2)
    dag = ((),) * 7
    for stage, (_, words) in zip(stages, told, strict=True):
        inside = np.isin(np.arange(7), stage.variables)
        kind = ScoreKind("bdeu", 10.0, arc_price(DATA))
        score = DagScore(DATA, kind, segments=stage.segments)
        dag = climb(score, np.outer(inside, inside), dag)
        assert all(not dag[i] for i in range(7) if not inside[i])
        size, n_segments = len(stage.variables), stage.n_segments
        expected = f"{size} variables, {n_segments} segments, {sum(map(len, dag))} arcs"
        assert words == expected
    assert found == dag
    assert told[-1][0] == 1.0


def test_arcs_stay_within_the_candidates_and_limits():
    allowed = ANY.copy()
    allowed[3] = False
    settings = CurriculumSettings(limits=Limits(parents=1))
    found = learn_by_curriculum(DATA, allowed, 1, settings)
    assert found[3] == ()
    assert max(map(len, found)) == 1


def test_the_step_is_chosen_by_rows_that_no_graph_was_learned_of():
    is_held = np.arange(800) % 5 == 0
    settings = CurriculumSettings(alpha=3.0)
    judge = DagScore(DATA.rows(is_held), ScoreKind("bdeu", 3.0))
    scores = [
        judge.total(learn_by_curriculum(DATA.rows(~is_held), ANY, step, settings))
        for step in (0, 1, 2, 3)
    ]
    assert choose_step(DATA, is_held, ANY, settings) == int(np.argmax(scores))
    assert choose_step(DATA, is_held, ~ANY, settings, (2, 1)) == 2  # all equal: the first


def test_fewer_than_four_variables_are_learned_in_one_stage():
    data = oracle_columns()
    small = columns(data.states[:3].T, data.n_states[:3])
    steps = [learn_by_curriculum(small, np.ones((3, 3), bool), step) for step in (0, 1, 3)]
    assert steps[0] == steps[1] == steps[2]
    assert learn_by_curriculum(columns(np.zeros((3, 1), int), (2,)), np.ones((1, 1), bool), 1) == (
        (),
    )


def test_a_fifth_of_the_rows_judges_and_copies_go_together():
    held = held_rows(100, 3)
    assert held.sum() == 20
    assert np.array_equal(held, held_rows(100, 3))
    assert not np.array_equal(held, held_rows(100, 4))
    origin = np.arange(100) // 4
    copies = held_rows(100, 3, origin)
    assert copies.sum() == 20
    assert all(len(set(copies[origin == k])) == 1 for k in range(25))
    assert held_rows(0, 1).shape == (0,)
    assert held_rows(4, 1).sum() == 0
