"""The training loop: it learns, is repeatable to the bit, and quantizes on request."""

import re
from dataclasses import replace

import numpy as np
import pytest

from bncc.fixed_point import QFormat
from bncc.progress import silence
from bncc.structure.counts import family_rows
from bncc.structure.graph import forest
from bncc.train.checkpoint.callbacks import Callbacks
from bncc.train.gradient import loop as module
from bncc.train.gradient.loop import descend
from bncc.train.hyperparameters import hyperparameters_of
from bncc.train.maximum_likelihood import ml_log_tables
from bncc.train.settings import TrainSettings

GENERATOR = np.random.default_rng(1)
Y = GENERATOR.integers(0, 2, 400)
SIGNAL = np.where(GENERATOR.random(400) < 0.8, Y, 1 - Y)
# Four copies of a weak witness outvote a better one unless trained to discriminate.
STRONG = np.where(GENERATOR.random(400) < 0.9, Y, 1 - Y)
X = np.stack([SIGNAL, SIGNAL, SIGNAL, SIGNAL, STRONG], axis=1)
N_STATES = [2] * 5
NAIVE = forest([None] * 5)
START = ml_log_tables(X, Y, NAIVE, N_STATES, 2)


def hyper(**changes):
    return replace(hyperparameters_of(TrainSettings(epochs=12), len(Y)), **changes)


def told(words):
    """Return the loss and the error in an epoch's report."""
    return [float(number) for number in re.findall(r"\d+\.\d+", words)]


def train(hyperparameters, choose=None, progress=silence):
    return descend(X, Y, NAIVE, N_STATES, START, hyperparameters, choose, Callbacks(progress))


def errors(log_tables):
    log_joint = log_tables[0] + sum(
        table[family_rows(X, NAIVE, N_STATES, i)] for i, table in enumerate(log_tables[1])
    )
    return int((log_joint.argmax(axis=1) != Y).sum())


@pytest.mark.parametrize("loss", ["hybrid", "cross-entropy", "free"])
def test_descent_beats_counting_where_features_repeat_each_other(loss):
    assert errors(train(hyper(loss=loss, gamma=1.0, dropout=0.0))) < errors(START) - 20


def test_the_same_seed_gives_the_same_bits_and_another_seed_others():
    runs = [train(hyper(seed=seed)) for seed in (3, 3, 4)]
    assert np.array_equal(runs[0][0], runs[1][0])
    assert all(map(np.array_equal, runs[0][1], runs[1][1]))
    assert not all(map(np.array_equal, runs[0][1], runs[2][1]))


def test_the_loss_falls_and_every_epoch_is_reported():
    reports = []
    train(hyper(dropout=0.0), progress=lambda *report: reports.append(report))
    assert [share for share, _ in reports] == [(epoch + 1) / 12 for epoch in range(12)]
    (first_loss, first_error), *_, (last_loss, last_error) = (told(words) for _, words in reports)
    assert last_loss < first_loss
    assert last_error <= first_error


def test_the_format_is_asked_for_once_with_the_tables_reached_by_then():
    asked, reports = [], []

    def choose(tables):
        asked.append(tables)
        return QFormat(2, 1)

    epochs_done = []
    train(
        hyper(quantize_from=0.5),
        lambda tables: epochs_done.append(len(reports)) or choose(tables),
        lambda *report: reports.append(report),
    )
    assert epochs_done == [6]
    assert len(asked) == 1
    half = asked[0][1]
    assert not all(map(np.array_equal, half, START[1]))
    assert all((table <= 0).all() for table in half)


def test_quantized_training_ends_elsewhere_than_float_training():
    floats = train(hyper(quantize_from=0.0))
    quantized = train(hyper(quantize_from=0.0), lambda _: QFormat(2, 0))
    assert not all(map(np.array_equal, floats[1], quantized[1]))


def test_one_epoch_is_enough_to_run():
    tables = train(hyper(epochs=1, threads=1), lambda _: QFormat(2, 0))
    assert np.isfinite(tables[0]).all()


def test_free_tables_have_their_best_class_at_zero_and_no_probabilities():
    prior, tables = train(hyper(loss="free"))
    assert all((table.max(axis=1) == 0).all() for table in (prior[None], *tables))
    assert not np.allclose(np.exp(tables[0]).sum(axis=0), 1.0)


class Watched:
    """An engine that remembers its tables after each epoch."""

    def __init__(self, engine):
        self.engine, self.after = engine, []

    def epoch(self, *arguments):
        loss = self.engine.epoch(*arguments)
        self.after.append(self.engine.log_tables())
        return loss

    def log_tables(self):
        return self.engine.log_tables()


def test_the_average_is_that_of_the_tables_after_each_epoch(monkeypatch):
    engines, make = [], module.engine_for

    def watched(problem, hyperparameters):
        engines.append(Watched(make(problem, hyperparameters)))
        return engines[0]

    monkeypatch.setattr(module, "engine_for", watched)
    prior, tables = train(hyper(epochs=4, average=0.75))
    shares = [0.75**3, *(0.25 * 0.75**k for k in (2, 1, 0))]
    pairs = list(zip(shares, engines[0].after, strict=True))
    assert np.allclose(prior, sum(share * now[0] for share, now in pairs))
    for i, table in enumerate(tables):
        assert np.allclose(table, sum(share * now[1][i] for share, now in pairs))
        assert not np.allclose(table, pairs[-1][1][1][i])
