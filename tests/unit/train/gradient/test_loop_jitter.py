"""Jittered states, and engines that learn from them."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.structure.candidates import all_others
from bncc.structure.learners.trees import naive_bayes
from bncc.train.gradient.engine import Problem, StructureProblem
from bncc.train.gradient.engines import engine_for, structure_engine_for
from bncc.train.gradient.loop import Jitter, descend
from bncc.train.hyperparameters import hyperparameters_of
from bncc.train.joint.descent import chance_of, descend_structure
from bncc.train.maximum_likelihood import ml_log_tables
from bncc.train.settings import TrainSettings

RNG = np.random.default_rng(0)
N_STATES = [5, 2, 1, 300]
X = np.stack([RNG.integers(0, r, 4000) for r in N_STATES], axis=1)
Y = (X[:, 0] + X[:, 1]) % 3
NAIVE = naive_bayes(4)
START = ml_log_tables(X, Y, NAIVE, N_STATES, 3)


def hyper(**changes):
    return replace(hyperparameters_of(TrainSettings(epochs=3), len(Y)), **changes)


@pytest.mark.parametrize("chance", [0.0, 0.25, 1.0])
def test_states_move_to_a_neighbor_as_often_as_asked_for(chance):
    move = Jitter(X, N_STATES, (), chance).draw(np.random.default_rng(1)) - X
    assert set(np.unique(move)) <= {-1, 0, 1}
    inside = (X > 0) & (X < np.array(N_STATES) - 1)
    for step in (-1, 1):
        assert (move[inside] == step).mean() == pytest.approx(chance / 2, abs=0.02)
        assert (move[:, :2] == step).any() == (chance > 0)


def test_nothing_leaves_its_states_and_categories_stay():
    is_ordered = (True, False, True, True)
    moved = Jitter(X, N_STATES, is_ordered, 1.0).draw(np.random.default_rng(1))
    assert (moved >= 0).all()
    assert (moved < N_STATES).all()
    assert (moved[:, [1, 2]] == X[:, [1, 2]]).all()
    assert (moved[:, [0, 3]] != X[:, [0, 3]]).any(axis=0).all()


def test_every_epoch_moves_others():
    jitter, rng = Jitter(X, N_STATES, (), 0.1), np.random.default_rng(1)
    assert (jitter.draw(rng) != jitter.draw(rng)).any()


@pytest.mark.cc
@pytest.mark.parametrize("engine", ["native", "torch"])
def test_engines_learn_from_the_states_that_they_see(engine):
    seen = X[::-1].copy()
    tables = []
    for first, shown in ((X, seen), (seen, None)):
        made = engine_for(Problem(first, Y, NAIVE, N_STATES, START), hyper(engine=engine))
        if shown is not None:
            made.see(shown)
        made.epoch(np.arange(len(Y)), np.full(X.shape, 255, dtype=np.uint8), 0.01)
        tables.append(made.log_tables()[1])
    assert all(map(np.array_equal, *tables))


@pytest.mark.cc
@pytest.mark.parametrize("engine", ["native", "torch"])
def test_so_do_those_that_learn_structures(engine):
    few, steered = X[:300, :3], hyper(engine=engine)
    problem = StructureProblem(few, Y[:300], N_STATES[:3], 3, all_others(3), 0.01)
    prices = np.zeros(problem.layout.offset.shape, dtype=np.float32)
    errors = []
    for shown in (None, few, few[::-1].copy()):
        made = structure_engine_for(problem, steered)
        if shown is not None:
            made.see(shown)
        chance = chance_of(problem, steered, np.random.default_rng(0))
        errors.append(made.epoch(chance, 0.0, 1.0, prices).error)
    assert errors[0] == errors[1] < errors[2]


def test_descents_take_it_up():
    def tables(**changes):
        return descend(X, Y, NAIVE, N_STATES, START, hyper(**changes), None)[1]

    def of_structures(**changes):
        problem = StructureProblem(X, Y, N_STATES, 3, all_others(4), 0.01)
        rng = np.random.default_rng(0)
        return descend_structure(problem, hyper(**changes), rng, None)[1][1]

    for learn in (tables, of_structures):
        still, moved, again = learn(), learn(jitter=0.2), learn(jitter=0.2)
        assert not np.allclose(still[0], moved[0])
        assert all(map(np.array_equal, moved, again))
