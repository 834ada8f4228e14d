"""The torch engines on a GPU, if there is one: equivalent to the CPU."""

import numpy as np
import pytest
import torch

from bncc.fixed_point import QFormat
from bncc.structure.candidates import all_others
from bncc.structure.learners.trees import naive_bayes
from bncc.train.gradient.engine import Problem, StructureProblem
from bncc.train.gradient.engines import engine_for, structure_engine_for
from bncc.train.hyperparameters import hyperparameters_of
from bncc.train.joint.candidate_layout import candidate_layout
from bncc.train.joint.descent import chance_of
from bncc.train.maximum_likelihood import ml_log_tables
from bncc.train.settings import TrainSettings

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="torch finds no CUDA device on this machine"
)

N, N_STATES = 300, [3, 2, 4, 3]
GENERATOR = np.random.default_rng(0)
X = np.stack([GENERATOR.integers(0, r, N) for r in N_STATES], axis=1)
Y = (X[:, 0] + GENERATOR.integers(0, 2, N)) % 3
CLOSE = 1e-3
"""Nats; sums in another order step apart by less."""


def settings(device, parameters="hybrid"):
    return TrainSettings(
        device=device, engine="torch", parameters=parameters, batch_size=N, lr=0.01
    )


@pytest.mark.parametrize("parameters", ["hybrid", "cross-entropy", "free"])
@pytest.mark.parametrize("fmt", [None, QFormat(3, 2)], ids=str)
def test_tables_step_as_on_the_cpu(parameters, fmt):
    naive = naive_bayes(4)
    problem = Problem(X, Y, naive, N_STATES, ml_log_tables(X, Y, naive, N_STATES, 3))
    tables = []
    for device in ("cpu", "cuda"):
        engine = engine_for(problem, hyperparameters_of(settings(device, parameters), N))
        if fmt is not None:
            engine.quantize(fmt)
        engine.epoch(np.arange(N), np.full(X.shape, 255, dtype=np.uint8), 0.01)
        tables.append(engine.log_tables())
    for a, b in zip(tables[0][1], tables[1][1], strict=True):
        assert np.abs(a - b).max() < CLOSE


def test_structure_and_tables_step_as_on_the_cpu():
    problem = StructureProblem(X, Y, N_STATES, 3, all_others(4), 0.01)
    hyper = hyperparameters_of(settings("cpu"), N)
    chance = chance_of(problem, hyper, np.random.default_rng(0))
    prices = np.zeros(candidate_layout(problem.candidates, N_STATES).offset.shape, np.float32)
    learned = []
    for device in ("cpu", "cuda"):
        engine = structure_engine_for(problem, hyperparameters_of(settings(device), N))
        engine.epoch(chance, 0.01, 1.0, prices)
        learned.append(engine.learned())
    assert learned[0][0] == learned[1][0]
    for a, b in zip(learned[0][1][1], learned[1][1][1], strict=True):
        assert np.abs(a - b).max() < CLOSE
