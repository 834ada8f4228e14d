"""Random search: chosen on validation rows, the same however it is computed."""

import json
from dataclasses import replace

import numpy as np
import pytest

from bncc.bench import search as module
from bncc.bench.search import Fold, draw_settings, search, train_error
from bncc.data.dataset import Column, Dataset, Table
from bncc.train.pipeline import train_model
from bncc.train.settings import TrainSettings

BASE = TrainSettings(structure="naive", float_=True, epochs=2, batch_size=20)
DRAWN = draw_settings(BASE, 4)


def fold(name="some", seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 200)
    X = np.stack([np.where(rng.random(200) < keep, y, 1 - y) for keep in (0.9, 0.7, 0.6)], axis=1)
    return Fold(name, X[:150], y[:150], X[150:], y[150:], [2, 2, 2], 2)


def dataset_of(X, y):
    """Return states and classes as a data set."""
    present = np.zeros(len(y), dtype=np.bool_)
    columns = (Column(f"x{i}", "state", values, present) for i, values in enumerate(X.T))
    return Dataset(Table(tuple(columns)), y, ("0", "1"), "class")


@pytest.fixture
def errors(monkeypatch):
    """Return errors by fold and settings, which trainings are replaced by; and what was asked."""
    table = {"some": [(0.3, 0.1), (0.2, 0.4), (0.2, 0.2), (0.5, 0.05)], "other": [(0.1, 0.1)] * 4}
    asked = []

    def fake(given, settings, *, is_final):
        asked.append((given.name, DRAWN.index(settings), is_final))
        return table[given.name][DRAWN.index(settings)][is_final]

    monkeypatch.setattr(module, "train_error", fake)
    return asked


def test_the_least_validation_error_is_chosen_and_its_test_error_reported(errors):
    found = search([fold()], DRAWN)
    assert found.settings == DRAWN[1]
    assert (found.validation, found.test, found.least_test) == (0.2, 0.4, 0.05)


def test_errors_are_means_over_folds(errors):
    found = search([fold(), fold("other")], DRAWN)
    assert (found.validation, found.test) == pytest.approx((0.15, 0.25))


def test_a_search_goes_on_from_its_log(errors, tmp_path):
    log = tmp_path / "log.jsonl"
    first = search([fold()], DRAWN[:2], log=log)
    lines = log.read_text("utf-8").splitlines()
    assert len(lines) == len(errors) == 4
    log.write_text("\n".join([*lines[:3], lines[3][:10]]) + "\n", "utf-8")
    errors.clear()
    assert search([fold()], DRAWN[:2], log=log) == first
    assert errors == [("some", 1, True)]
    errors.clear()
    search([fold()], DRAWN, log=log)
    assert [settings for _, settings, _ in errors] == [2, 2, 3, 3]
    assert all(set(json.loads(line)) == {"key", "error"} for line in lines)


def test_progress_is_told(errors):
    told = []
    search([fold()], DRAWN[:2], advance=lambda done, text: told.append((done, text)))
    assert told[0] == (0.25, "training 1 of 4")
    assert told[-1] == (1.0, "training 4 of 4")


def test_more_runs_begin_with_the_same_ones():
    assert draw_settings(BASE, 2) == DRAWN[:2]
    assert draw_settings(BASE, 2, seed=1) != DRAWN[:2]
    assert all(settings.structure == "naive" for settings in DRAWN)
    assert len({settings.seed for settings in DRAWN}) == 4


def test_the_rows_held_out_and_the_test_rows_are_not_learned_from(monkeypatch):
    seen = []
    monkeypatch.setattr(module, "fit_in_turn", lambda task, *_: seen.append(task.y) or TABLES)
    from bncc.structure.naive import naive_bayes

    TABLES = (naive_bayes(3), (np.log([0.4, 0.6]), (np.zeros((2, 2)),) * 3))
    given = fold()
    assert train_error(given, BASE, is_final=True) == np.mean(given.y_test == 0)
    train_error(given, BASE, is_final=False)
    assert [len(y) for y in seen] == [150, 120]


@pytest.mark.parametrize(
    "options",
    [
        {"structure": "naive", "bits": 1, "int_bits": 2},
        {"structure": "chow-liu", "bits": 2, "frac_bits": -1},
        {"structure": "tan-subset", "bits": 4, "int_bits": 3},
        {"structure": "naive", "float_": True},
    ],
)
def test_the_error_is_that_of_the_model_that_train_freezes(options):
    given = fold()
    settings = TrainSettings(**options, epochs=3, batch_size=20, lr=0.3, validation=0.0)
    train, test = (dataset_of(X, y) for X, y in ((given.X, given.y), (given.X_test, given.y_test)))
    model = train_model(train, settings, test=test).model
    assert train_error(given, settings, is_final=True) == model.training["error_test"]


def test_an_open_binary_point_is_refused():
    with pytest.raises(ValueError, match="unpack"):
        train_error(fold(), TrainSettings(bits=2), is_final=True)


def test_processes_find_the_same():
    short = [replace(settings, epochs=1) for settings in DRAWN[:2]]
    assert search([fold()], short, jobs=2) == search([fold()], short)
