"""Random search in stages: the better settings are tried on more splits, the best are tested."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.papers import search as search_module
from bncc.papers.draw import draw_settings
from bncc.papers.experiments import Effort
from bncc.papers.search import search, search_each
from bncc.papers.training import Judged
from bncc.train.halving import FEWEST, STAGES, Stage
from bncc.train.settings import TrainSettings
from tests.folds import small_fold

BASE = TrainSettings(structure="naive", float_=True, epochs=2, batch_size=20)
DRAWN = draw_settings(BASE, 20)
TEST = -1


@pytest.fixture
def asked(monkeypatch):
    """
    Replace trainings; return the requests: fold, settings, split.

    Settings k have error 0.20 + k / 100 on the first split; on others odd ones have 0.06 less, even
    ones by 0.01 more. On test rows the error grows with k too, from 0.5 on.
    """
    asked = []

    def fake(fold, settings, split, n_restarts):
        k = DRAWN.index(settings)
        asked.append((fold.name, k, TEST if split is None else split))
        if split is None:
            return Judged(0.5 + k / 100 + (0.1 if fold.name == "other" else 0.0), 10 * k)
        error = 0.2 + k / 100 + (0.0 if split == 0 else 0.01 if k % 2 == 0 else -0.06)
        return Judged(error, 7)

    monkeypatch.setattr(search_module, "train_and_judge", fake)
    return asked


def splits_by_settings(asked):
    return {k: [split for _, other, split in asked if other == k] for _, k, _ in asked}


def test_the_better_settings_are_tried_on_more_splits_and_the_best_are_tested(asked):
    stages = (Stage(1.0, 1), Stage(0.5, 3), Stage(0.2, 4))
    found = search(small_fold(), DRAWN, stages=stages)
    splits = splits_by_settings(asked)
    assert [k for k in splits if splits[k] == [0]] == [*range(10, 20)]
    assert [k for k in splits if splits[k] == [0, 1, 2]] == [2, 4, 6, 7, 8, 9]
    assert [k for k in splits if splits[k] == [0, 1, 2, 3, TEST]] == [0, 1, 3, 5]
    assert found.settings == (DRAWN[1],)
    assert found.validation == pytest.approx((0.21 + 3 * 0.15) / 4)
    assert (found.test, found.least_test, found.n_tested) == pytest.approx((0.51, 0.5, 4))
    assert found.entries == (10,)


def test_more_are_tried_near_the_best(monkeypatch):
    """The error is the distance of lr from 1; later settings near the best have smaller ones."""
    tried = {}

    def fake(fold, settings, split, n_restarts):
        tried[settings.lr] = abs(np.log10(settings.lr))
        return Judged(tried[settings.lr], 7)

    monkeypatch.setattr(search_module, "train_and_judge", fake)
    found = search(small_fold(), DRAWN, n_near=30)
    assert len(tried) == 50
    errors = list(tried.values())
    assert max(errors[40:]) < np.median(errors[:20])
    assert found.settings[0].lr > 1.2 * max(settings.lr for settings in DRAWN)
    assert found == search(small_fold(), DRAWN, n_near=30)


def test_only_what_learns_from_all_rows_begins_anew(monkeypatch):
    asked = []

    def fake(fold, settings, split, n_restarts):
        asked.append((split is None, n_restarts))
        return Judged(0.5, 7)

    monkeypatch.setattr(search_module, "train_and_judge", fake)
    search(small_fold(), DRAWN[:2], n_restarts=5)
    assert set(asked) == {(False, 1), (True, 5)}


def test_few_settings_are_not_thinned_out(asked):
    assert search(small_fold(), DRAWN[:2]).n_tested == 2
    assert search(small_fold(), DRAWN[:7]).n_tested == FEWEST


def test_a_stage_may_thin_out_without_more_splits(asked):
    found = search(small_fold(), DRAWN, stages=(Stage(1.0, 1), Stage(0.2, 1)))
    assert (found.settings, found.n_tested) == ((DRAWN[0],), 4)
    assert len(asked) == 20 + 4


def test_each_fold_has_settings_of_its_own(monkeypatch):
    """Their training rows contain test rows of others; errors are means."""
    best = {"some": DRAWN[3], "other": DRAWN[5]}

    def fake(fold, settings, split, n_restarts):
        is_best = settings == best[fold.name]
        return Judged(0.1 if is_best else 0.4, 30 if is_best else 7)

    monkeypatch.setattr(search_module, "train_and_judge", fake)
    told = []
    folds = [small_fold(), small_fold("other", 1)]
    found = search_each(folds, DRAWN, Effort(), lambda *said: told.append(said))
    assert found.settings == (DRAWN[3], DRAWN[5])
    assert (found.test, found.validation) == pytest.approx((0.1, 0.1))
    assert found.entries == (30, 30)
    assert "on each of 2 folds" in found.note
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1][1].startswith("fold 2, training")


def test_the_note_names_the_tables_that_won(asked):
    found = search(small_fold(), DRAWN[:2])
    (won,) = found.settings
    assert found.note.endswith(
        f"; hybrid tables won, lambda and gamma {won.lambda_:.3g} {won.gamma:.3g}"
    )
    free = replace(found, settings=(replace(won, parameters="free"),))
    assert "; free tables won," in free.note


def test_the_first_of_equals_is_chosen(monkeypatch):
    monkeypatch.setattr(search_module, "train_and_judge", lambda *_: Judged(0.25, 7))
    assert search(small_fold(), DRAWN).settings == (DRAWN[0],)


def test_a_search_goes_on_from_its_log(asked, tmp_path):
    log = tmp_path / "log.jsonl"
    first = search(small_fold(), DRAWN[:2], log=log)
    lines = log.read_text("utf-8").splitlines(keepends=True)
    assert len(lines) == 1 + len(asked) == 1 + 2 * (5 + 1)
    log.write_text("".join(lines[:-1]) + lines[-1][:10], "utf-8")
    asked.clear()
    assert search(small_fold(), DRAWN[:2], log=log) == first
    assert asked == [("some", 1, TEST)]
    asked.clear()
    assert search(small_fold(), DRAWN[:2], log=log) == first
    assert asked == []
    search(small_fold(), DRAWN[:3], log=log)
    assert {k for _, k, _ in asked} == {2}
    search(small_fold(seed=1), DRAWN[:1], log=log)
    assert asked[-1] == ("some", 0, TEST), "other rows under the same name are learned from anew"


def test_progress_is_told(asked):
    told = []
    search(small_fold(), DRAWN, advance=lambda done, text: told.append((done, text)))
    n = 20 * STAGES[0].n_splits + 5 * 2 + 3 * 2 + 3
    assert told[0] == (1 / n, f"training 1 of {n}")
    assert told[-1] == (1.0, f"training {n} of {n}")
    assert len(told) == n == len(asked)


def test_processes_find_the_same():
    short = [replace(settings, epochs=1) for settings in DRAWN[:2]]
    assert search(small_fold(), short, jobs=2) == search(small_fold(), short)
