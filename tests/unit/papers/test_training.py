"""One training of a search: its training rows, and its error, which is the model's."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.data.dataset import Column, Dataset, Table
from bncc.papers import training
from bncc.papers.folds import N_SPLITS
from bncc.papers.training import decide, train_and_judge, training_key
from bncc.structure.graph import forest
from bncc.structure.learners.trees import naive_bayes
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model
from tests.folds import small_fold

BASE = TrainSettings(structure="naive", float_=True, epochs=2, batch_size=20)


def dataset_of(X, y):
    """Return states and classes as a data set."""
    present = np.zeros(len(y), dtype=np.bool_)
    columns = (Column(f"x{i}", "state", values, present) for i, values in enumerate(X.T))
    return Dataset(Table(tuple(columns)), y, ("0", "1"), "class")


def test_the_rows_held_out_and_the_test_rows_are_not_learned_from(monkeypatch):
    seen = []
    learned = (naive_bayes(3), (np.log([0.4, 0.6]), (np.zeros((2, 2)),) * 3))
    monkeypatch.setattr(training, "fit_in_turn", lambda task, *_: seen.append(task) or learned)
    fold = small_fold()
    assert train_and_judge(fold, BASE, None).error == np.mean(fold.y_test == 0)
    assert len(seen.pop().y) == 150
    errors = [train_and_judge(fold, BASE, split).error for split in range(N_SPLITS)]
    assert np.mean(errors) == pytest.approx(np.mean(fold.y == 0))
    assert [len(task.y) for task in seen] == [120] * N_SPLITS
    assert len({task.y.tobytes() for task in seen}) == N_SPLITS


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
    fold = small_fold()
    settings = TrainSettings(**options, epochs=3, batch_size=20, lr=0.3, validation=0.0)
    train, test = (dataset_of(X, y) for X, y in ((fold.X, fold.y), (fold.X_test, fold.y_test)))
    model = train_model(train, settings, test=test).model
    assert train_and_judge(fold, settings, None).error == model.training["error_test"]


def test_an_open_binary_point_is_refused():
    with pytest.raises(ValueError, match="unpack"):
        train_and_judge(small_fold(), TrainSettings(bits=2), None)


def test_decisions_take_the_smallest_class_on_ties():
    tables = (np.zeros(3), (np.array([[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]),))
    assert decide(np.array([[0], [1]]), forest([None]), [2], tables).tolist() == [1, 0]


def test_of_several_descents_the_one_that_fits_its_own_rows_best_is_judged(monkeypatch):
    """Training rows are mostly of class 0, test rows of class 1; only seed 5 predicts 0."""
    fold = small_fold()
    fold = replace(fold, y=(np.arange(150) < 50).astype(int), y_test=np.ones(50, dtype=int))
    seeds = []

    def learned(task, *_):
        seeds.append(task.settings.seed)
        prior = np.log([0.6, 0.4] if task.settings.seed == 5 else [0.4, 0.6])
        return naive_bayes(3), (prior, (np.zeros((2, 2)),) * 3)

    monkeypatch.setattr(training, "fit_in_turn", learned)
    settings = replace(BASE, seed=4)
    assert train_and_judge(fold, settings, None).error == 0.0
    assert train_and_judge(fold, settings, None, 3).error == 1.0
    assert seeds == [4, 4, 5, 6]


def test_rows_options_and_split_tell_trainings_apart():
    fold, settings = small_fold(), TrainSettings(float_=True)
    keys = [
        training_key(fold, settings, 0),
        training_key(fold, settings, 1),
        training_key(fold, settings, None),
        training_key(fold, settings, None, 5),
        training_key(fold, replace(settings, lr=0.5), 0),
        training_key(small_fold(seed=1), settings, 0),
    ]
    assert len(set(keys)) == len(keys)
    assert training_key(small_fold(), replace(settings), 0) == keys[0]
