"""Structure and tables in one descent: its results, its limits, and its repeatability."""

import re
from dataclasses import replace

import numpy as np
import pytest

from bncc.fixed_point import QFormat
from bncc.structure.candidates import all_earlier
from bncc.structure.graph import topological_order
from bncc.structure.learners.trees import chow_liu_tree
from bncc.train.checkpoint.callbacks import Callbacks
from bncc.train.gradient.engine import Chance, StructureProblem
from bncc.train.hyperparameters import hyperparameters_of
from bncc.train.joint import descent as module
from bncc.train.joint.descent import descend_structure
from bncc.train.joint.torch_engine import TorchStructureEngine
from bncc.train.settings import TrainSettings

GENERATOR = np.random.default_rng(1)
N = 600
Y = GENERATOR.integers(0, 2, N)


def noisy(parent, keep, states):
    return np.where(GENERATOR.random(N) < keep, parent, GENERATOR.integers(0, states, N))


# A tree 0 -> 1 -> 2, 0 -> 3 whose arcs carry different information; the class moves the root.
ROOT = noisy(Y, 0.4, 3)
ONE = noisy(ROOT, 0.9, 3)
X = np.stack([ROOT, ONE, noisy(ONE, 0.7, 3), noisy(ROOT, 0.5, 3)], axis=1)
N_STATES = [3, 3, 3, 3]


def hyper(**changes):
    settings = TrainSettings(epochs=30, lambda_=0.0)
    return replace(hyperparameters_of(settings, N), **{"dropout": 0.0, **changes})


def learn(hyperparameters=None, size_weight=0.0, order=(0, 1, 2, 3), seed=0, choose=None, **kwargs):
    candidates = all_earlier(np.array(order))
    problem = StructureProblem(X, Y, N_STATES, 2, candidates, 0.05, size_weight)
    rng = np.random.default_rng(seed)
    return descend_structure(problem, hyperparameters or hyper(), rng, choose, **kwargs)


@pytest.fixture(params=["torch", pytest.param("native", marks=pytest.mark.cc)])
def engine(request, require_tool):
    """Return the name of an available engine."""
    if request.param == "native":
        require_tool("gcc")
    return request.param


def test_likelihood_alone_recovers_the_chow_liu_tree_in_its_order(engine):
    tree = chow_liu_tree(X, Y, N_STATES, 2)
    assert tree.parents == ((), (0,), (1,), (0,))
    structure, _ = learn(hyper(engine=engine), order=topological_order(tree))
    assert structure == tree


def test_a_heavy_price_of_size_leaves_naive_bayes(engine):
    structure, _ = learn(hyper(engine=engine), size_weight=1e3)
    assert structure.n_edges == 0


def test_a_price_of_size_keeps_only_arcs_that_are_worth_it(engine):
    likelihood = hyper(engine=engine)
    edges = [learn(likelihood, weight)[0].n_edges for weight in (0.0, 0.02, 1.0)]
    assert edges == sorted(edges, reverse=True)
    assert edges[0] > edges[1] > edges[2] == 0


@pytest.mark.parametrize("loss", ["hybrid", "cross-entropy", "free"])
def test_the_same_seed_gives_the_same_bits_and_another_seed_others(loss, engine):
    few = hyper(loss=loss, epochs=3, engine=engine)
    runs = [learn(few, seed=seed)[1] for seed in (3, 3, 4)]
    assert np.array_equal(runs[0][0], runs[1][0])
    assert all(map(np.array_equal, runs[0][1], runs[1][1]))
    assert not np.array_equal(runs[0][0], runs[2][0])


def test_every_epoch_is_reported_and_the_loss_falls():
    reports = []
    learn(
        hyper(lambda_=10.0, gamma=1.0), callbacks=Callbacks(lambda *report: reports.append(report))
    )
    assert [share for share, _ in reports] == [(epoch + 1) / 30 for epoch in range(30)]
    (first_loss, first_error), *_, (last_loss, last_error) = (
        [float(number) for number in re.findall(r"\d+\.\d+", words)] for _, words in reports
    )
    assert last_loss < first_loss
    assert last_error <= first_error


def test_the_format_is_asked_for_once_with_a_structure_and_its_tables():
    asked, done = [], []

    def choose(structure, tables):
        asked.append((len(done), structure, tables))
        return QFormat(2, 0)

    half = hyper(quantize_from=0.5, epochs=8, lambda_=10.0)
    quantized = learn(half, choose=choose, callbacks=Callbacks(lambda *report: done.append(report)))
    ((epochs_done, structure, (log_prior, tables)),) = asked
    assert epochs_done == 4
    assert [len(table) for table in tables] == [3 * 3 if p else 3 for p in structure.parents]
    assert log_prior.shape == (2,)
    floats = learn(half)
    assert not np.array_equal(quantized[1][0], floats[1][0])


def test_the_average_is_of_the_epochs_since_the_structure_became_what_it_is(monkeypatch):
    """The learner is observed after each epoch; the average is computed here again."""
    seen, make = [], module.structure_engine_for

    class Watched:
        def __init__(self, *arguments):
            self.engine = make(*arguments)

        def epoch(self, *arguments):
            loss = self.engine.epoch(*arguments)
            seen.append(self.engine.learned())
            return loss

        def learned(self):
            return self.engine.learned()

    monkeypatch.setattr(module, "structure_engine_for", Watched)
    structure, (log_prior, _) = learn(hyper(average=0.9))
    since = max((k for k, (other, _) in enumerate(seen) if other != structure), default=-1) + 1
    assert 0 < since < len(seen) - 2
    expected = seen[since][1][0]
    for _, (now, _) in seen[since + 1 :]:
        expected = 0.9 * expected + 0.1 * now
    assert np.allclose(log_prior, expected, rtol=1e-12, atol=0)
    assert not np.allclose(log_prior, seen[-1][1][0], rtol=1e-12, atol=0)


def loss_of_an_epoch(noise, size):
    """Return the mean loss over the same structures and order of samples."""
    dropping = hyper(dropout=0.5, batch_size=size)
    problem = StructureProblem(X, Y, N_STATES, 2, all_earlier(np.arange(4)), 0.05)
    gumbel = np.random.default_rng(0).gumbel(size=(-(-N // size), 4, 4))
    chance = Chance(np.arange(N), noise, gumbel)
    return TorchStructureEngine(problem, dropping).epoch(chance, 0.1, 1.0, np.zeros((4, 4))).loss


@pytest.mark.parametrize("size", [N, 32])
def test_a_feature_is_left_out_of_the_samples_whose_noise_says_so(size):
    kept = np.full((N, 4), 255, dtype=np.uint8)
    first, last, nearly, none = kept.copy(), kept.copy(), kept.copy(), np.zeros_like(kept)
    first[0], last[-1], nearly[-1] = 127, 127, 128
    assert loss_of_an_epoch(first, size) < loss_of_an_epoch(kept, size)
    assert loss_of_an_epoch(last, size) < loss_of_an_epoch(kept, size)
    assert loss_of_an_epoch(nearly, size) == loss_of_an_epoch(kept, size)
    assert loss_of_an_epoch(none, N) == pytest.approx(np.log(2), abs=0.01)  # the prior alone


def test_one_epoch_and_one_feature_are_enough_to_run():
    problem = StructureProblem(X[:, :1], Y, [3], 2, all_earlier(np.arange(1)), 0.1)
    rng = np.random.default_rng(0)
    structure, tables = descend_structure(problem, hyper(epochs=1), rng, lambda *_: QFormat(2, 0))
    assert structure.parents == ((),)
    assert np.isfinite(tables[1][0]).all()
