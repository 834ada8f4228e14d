"""Losses of S2's learners on a fold."""

import numpy as np
import pytest

from bncc.baselines.aode import averaged
from bncc.baselines.baseline import Rows
from bncc.papers import s2_study
from bncc.papers.s2_study import (
    WITH_MISSING,
    Losses,
    Network,
    aode_losses,
    learn_networks,
    losses,
    missing_name,
)
from bncc.papers.s2_study import network_losses as judged
from bncc.structure.graph import Structure
from tests.unit.papers.test_s2_learners import drawn_fold


def test_losses_by_hand():
    scores = np.log([[0.1, 0.1], [0.2, 0.6], [0.9, 0.3]])
    found = losses(scores, np.array([1, 1, 0]))
    assert found.errors == 1, "a tie goes to the smallest class"
    assert found.log_loss == pytest.approx(-np.log(0.5) - 2 * np.log(0.75))
    assert losses(np.zeros((0, 3)), np.zeros(0, int)) == Losses(0, 0.0)


def test_a_network_is_judged_by_its_posterior_means():
    fold = drawn_fold(n=2000)
    alone = Structure(((),) * 5, (False,) * 5)
    networks = {**learn_networks(fold), "NB": Network(alone, 3.0, 0.0)}
    found = judged(fold, networks, np.ones(fold.X_test.shape))
    chances = (np.bincount(fold.y, minlength=3) + 1.0) / (len(fold.y) + 3.0)
    expected = losses(np.log(np.tile(chances, (500, 1))), fold.y_test)
    assert found["NB"].errors == expected.errors
    assert found["NB"].log_loss == pytest.approx(expected.log_loss, abs=1e-12)
    assert found["TAN"].log_loss < expected.log_loss, "features tell of the class"


def test_more_missing_cells_tell_less_and_all_missing_leaves_the_prior():
    fold = drawn_fold(n=2000)
    networks = learn_networks(fold)
    drawn = np.random.default_rng(0).random(fold.X_test.shape)
    found = judged(fold, networks, drawn)
    for name in WITH_MISSING:
        at = [found[missing_name(name, percent)].log_loss for percent in (10, 20, 30)]
        assert found[name].log_loss < at[0] < at[1] < at[2]
    gone = judged(fold, networks, np.zeros(fold.X_test.shape))
    for name in WITH_MISSING:
        alpha = networks[name].alpha
        chances = np.bincount(fold.y, minlength=3) + alpha / 3
        prior = losses(np.log(np.tile(chances / chances.sum(), (len(drawn), 1))), fold.y_test)
        assert gone[missing_name(name, 10)].log_loss == pytest.approx(prior.log_loss)


def test_equal_networks_have_equal_losses_and_are_judged_once(monkeypatch):
    fold = drawn_fold()
    network = learn_networks(fold)["A-ETAN"]
    calls = []
    log_joint = s2_study.log_joint
    monkeypatch.setattr(s2_study, "log_joint", lambda *args: calls.append(1) or log_joint(*args))
    both = {"SA-ETAN": network, "A-ETAN": network}
    found = judged(fold, both, np.random.default_rng(0).random(fold.X_test.shape))
    assert found["SA-ETAN 20 % missing"] == found["A-ETAN 20 % missing"]
    assert len(calls) == 4


def test_aode_is_judged_in_parts_as_a_whole(monkeypatch):
    fold = drawn_fold()
    rows = Rows(fold.X, fold.y, tuple(fold.n_states), fold.n_classes)
    scores = averaged(rows, 1.0, 1).log_scores(fold.X_test)
    expected = losses(scores, fold.y_test)
    monkeypatch.setattr(s2_study, "PART", 7)
    found = aode_losses(fold)
    assert found.errors == expected.errors
    assert found.log_loss == pytest.approx(expected.log_loss, abs=1e-9)
