"""Trained and counted parts of a structure: the latter stay as they are."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.structure.graph import Structure
from bncc.train.gradient.layout import class_tables
from bncc.train.gradient.loop import descend
from bncc.train.hyperparameters import hyperparameters_of
from bncc.train.maximum_likelihood import ml_log_tables
from bncc.train.settings import TrainSettings

GENERATOR = np.random.default_rng(1)
Y = GENERATOR.integers(0, 2, 300)
X = np.stack([GENERATOR.integers(0, r, 300) for r in (2, 3, 2, 4, 2)], axis=1)
X[:, 4] = Y ^ X[:, 2] ^ (GENERATOR.random(300) < 0.1)
N_STATES = [2, 3, 2, 4, 2]
# Feature 0 is isolated, 1 depends on 3 without the class, 2 is read by 4 alone.
STRUCTURE = Structure(((), (3,), (), (4,), (2,)), (False, False, False, True, True))
START = ml_log_tables(X, Y, STRUCTURE, N_STATES, 2)


def test_features_with_the_class_come_first_then_what_they_read():
    part = class_tables(STRUCTURE, START)
    assert part.columns == (3, 4, 2)
    assert part.structure == Structure(((1,), (2,), ()), (True, True, False))
    assert part.of("abcde") == ["d", "e", "c"]
    assert np.array_equal(part.states(X), X[:, [3, 4, 2]])
    assert [table.shape for table in part.start[1]] == [(8, 2), (4, 2)]


def test_all_features_stay_in_place_where_all_have_the_class():
    structure = Structure(STRUCTURE.parents, (True,) * 5)
    part = class_tables(structure, START)
    assert part.structure == structure
    assert part.states(X) is X


@pytest.mark.parametrize("engine", ["torch", pytest.param("native", marks=pytest.mark.cc)])
@pytest.mark.parametrize("loss", ["hybrid", "free"])
def test_descent_changes_tables_with_the_class_alone(engine, loss):
    hyper = hyperparameters_of(TrainSettings(epochs=3), len(Y))
    hyper = replace(hyper, loss=loss, engine=engine, jitter=0.1, average=0.5)
    prior, tables = descend(X, Y, STRUCTURE, N_STATES, START, hyper, None, None, [True] * 5)
    is_changed = [not np.array_equal(a, b) for a, b in zip(tables, START[1], strict=True)]
    assert is_changed == [False, False, False, True, True]
    assert not np.array_equal(prior, START[0])
    log_joint = prior + tables[4][2 * X[:, 2] + X[:, 4]]
    assert np.mean(log_joint.argmax(axis=1) == Y) > 0.85


def test_there_is_no_descent_where_no_feature_has_the_class():
    alone = Structure(((),) * 5, (False,) * 5)
    start = ml_log_tables(X, Y, alone, N_STATES, 2)
    hyper = hyperparameters_of(TrainSettings(epochs=3), len(Y))
    assert descend(X, Y, alone, N_STATES, start, hyper, lambda _: 1 / 0) is start
