"""Networks of several forms: the choice, its rows, and its processes."""

from dataclasses import replace

import pytest

from bncc.baselines.plan import Form, plan_of
from bncc.baselines.trainer import NetworkSettings
from bncc.papers import s3_networks
from bncc.papers.experiments import Effort
from bncc.papers.s3_networks import Trial, best_network, task_of, train_one
from bncc.papers.training import Judged
from tests.folds import small_fold

FOLD = small_fold()
PLAN = plan_of(task_of(FOLD), Form(2, 8, "relu", has_norm=False, is_one_hot=True), 4)
TRIALS = tuple(Trial(PLAN, NetworkSettings(60, 20, 0.03, seed)) for seed in range(3))


def ignored(*_):
    """Ignore progress."""


def test_a_network_is_judged_by_rows_that_it_has_not_seen():
    """The first feature determines nine of ten classes. Labels of test rows count only in tests."""
    held, tested = train_one(FOLD, TRIALS[0], True), train_one(FOLD, TRIALS[0], False)
    assert 0 < held.error < 0.25
    assert 0 < tested.error < 0.25
    wrong = replace(FOLD, y_test=1 - FOLD.y_test)
    assert train_one(wrong, TRIALS[0], True) == held
    assert train_one(wrong, TRIALS[0], False).error == pytest.approx(1 - tested.error)
    assert tested.entries == PLAN.parameter_bits


def test_a_trial_that_comes_twice_is_trained_once(monkeypatch, tmp_path):
    """The next network keeps its own error."""
    seen = []

    def judged(fold, trial, is_judged):
        seen.append(trial.settings.seed)
        return Judged((4 - trial.settings.seed) / 10, 1)

    monkeypatch.setattr(s3_networks, "train_one", judged)
    twice = (TRIALS[0], TRIALS[0], TRIALS[1], TRIALS[2])
    best = best_network(FOLD, twice, Effort(log=tmp_path / "log"), ignored)
    assert seen == [0, 1, 2, 2]
    assert (best.trial, best.validation, best.n_trials) == (TRIALS[2], 0.2, 4)


def test_another_process_finds_what_this_one_finds():
    found = [best_network(FOLD, TRIALS[:1], Effort(jobs=jobs), ignored) for jobs in (1, 2)]
    assert found[0] == found[1]
