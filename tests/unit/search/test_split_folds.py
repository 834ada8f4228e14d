"""Folds: each row is evaluated once, and ensembles equal those of a separate training."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.boosting.boost import boost
from bncc.data.dataset import Column, Dataset, Table
from bncc.data.readers import bundled_path, read_table
from bncc.data.splits import SplitRule
from bncc.data.target import dataset_of
from bncc.discretize.feature import states_of
from bncc.model import reference
from bncc.model.file import to_bytes
from bncc.resources import Budget
from bncc.search import split_folds as module
from bncc.search.ensemble_configs import EnsembleConfig
from bncc.search.evaluation import SearchInput
from bncc.search.split_folds import default_choice, folds_of
from bncc.train.fit_tables import fit_sum
from bncc.train.holdout import split_rows
from bncc.train.settings import TrainSettings
from bncc.train.train_model import error_of

BASE = TrainSettings(epochs=3, validation=0.2)


@pytest.fixture(scope="module")
def wifi():
    return dataset_of(read_table(bundled_path("wifi")))


def numbered(n: int) -> Dataset:
    numbers = Column("n", "integer", np.arange(n), np.zeros(n, dtype=bool))
    return Dataset(Table((numbers,)), np.arange(n) % 2, ("a", "b"), "class")


def rows(dataset: Dataset) -> list[int]:
    return dataset.table.columns[0].values.tolist()


def test_each_row_judges_once_what_was_learned_from_the_others():
    folds = list(folds_of(numbered(50), BASE))
    assert len(folds) == 5
    assert sorted(row for fold in folds for row in rows(fold.held)) == list(range(50))
    assert all(sorted(rows(fold.held) + rows(fold.rest)) == list(range(50)) for fold in folds)


def test_the_first_fold_is_that_of_a_training():
    dataset = numbered(50)
    first = next(folds_of(dataset, BASE))
    rest, held = split_rows(dataset, BASE)
    assert (rows(first.rest), rows(first.held)) == (rows(rest), rows(held))


def test_enough_rows_judge_and_no_more():
    assert len(list(folds_of(numbered(50), BASE, enough=21))) == 3
    assert len(list(folds_of(numbered(30000), BASE))) == 1
    assert list(folds_of(numbered(2), BASE)) == []


def test_rows_that_the_others_are_constant_for_judge_nothing():
    """The one row that a column distinguishes is in one fold, which evaluates no ensemble."""
    dataset = numbered(50)
    only = next(iter(rows(list(folds_of(dataset, BASE))[2].held)))
    values = (np.arange(50) == only).astype(np.int64)
    column = Column("n", "integer", values, np.zeros(50, dtype=bool))
    folds = list(folds_of(replace(dataset, table=Table((column,))), BASE))
    assert len(folds) == 4
    assert all(any(rows(fold.rest)) for fold in folds)


def test_sums_that_share_their_tables_are_those_learned_alone(wifi, monkeypatch):
    grown = []

    def counted(samples, settings, *others):
        grown.append(settings.n_tables)
        return boost(samples, settings, *others)

    monkeypatch.setattr(module, "boost", counted)
    (fold, *_) = folds_of(wifi, BASE)
    for n_tables, form in [
        (30, EnsembleConfig(rows=4)),
        (20, EnsembleConfig(rows=4, bits=2)),
        (35, EnsembleConfig(rows=4, refit="soft")),
        (40, EnsembleConfig(rows=4, bits=4)),
        (25, EnsembleConfig(rows=4, front=8)),
        (3, EnsembleConfig(rows=4)),  # corrected after each table: not the first ones of more
        (2, EnsembleConfig(rows=4)),
    ]:
        settings = form.settings(BASE, n_tables)
        model = fold.model(settings)
        assert to_bytes(model) == to_bytes(fit_sum(fold.rest, settings))
        assert fold.misses(model).mean() == error_of(model, fold.held)
    assert grown == [30, 44, 3, 2]


@pytest.mark.parametrize("is_grouped", [False, True])
def test_tables_of_few_columns_are_learned_as_in_training(wifi, is_grouped):
    """In any order of limits, although folds share the elimination and the differences."""
    groups = np.arange(wifi.n_rows) // 10 % 7
    dataset = replace(wifi, split=SplitRule(groups=groups)) if is_grouped else wifi
    base = replace(BASE, readings="smallest")
    (fold, *_) = folds_of(dataset, replace(base, validation=0.5))
    few = EnsembleConfig(rows=4, inputs=2)
    for form in (
        EnsembleConfig(rows=8, differences=4),
        EnsembleConfig(rows=8, differences=4, inputs=3),
        EnsembleConfig(leaves=8, bits=4, differences=4, inputs=2),
        few,
        replace(few, inputs=3),
        replace(few, cuts=7),
        EnsembleConfig(leaves=8, bits=4, inputs=2),
        EnsembleConfig(leaves=8, bits=4, inputs=1, is_single=True),
    ):
        settings = form.settings(base, 1 if form.is_single else 12)
        model = fold.model(settings)
        assert to_bytes(model) == to_bytes(fit_sum(fold.rest, settings))
        if form.inputs and not form.differences:
            assert len(model.structure.features) <= form.inputs


def rare(wifi):
    """Return rows of which one class in four has a twentieth of the others'."""
    kept = (wifi.y > 0) | (np.arange(wifi.n_rows) % 20 == 0)
    return wifi.take(np.flatnonzero(kept))


def test_losses_are_errors_balanced_errors_or_log_losses(wifi):
    """A balanced error is the mean over classes of the rate of each."""
    dataset = rare(wifi)
    counts = np.bincount(dataset.y)
    settings = EnsembleConfig(rows=4).settings(BASE, 6)
    by_error, balanced, log_loss = (
        list(folds_of(dataset, BASE, choice)) for choice in ("error", "balanced-error", "log-loss")
    )
    models = [fold.model(settings) for fold in by_error]
    misses = np.concatenate([f.misses(m) for f, m in zip(by_error, models, strict=True)])
    y = np.concatenate([fold.held.y for fold in by_error])
    losses = [
        np.concatenate([f.losses(m, f.misses(m)) for f, m in zip(folds, models, strict=True)])
        for folds in (by_error, balanced, log_loss)
    ]
    assert (losses[0] == misses).all()
    of_class = np.array([misses[y == c].sum() for c in range(4)]) / counts
    assert losses[1].mean() == pytest.approx(of_class.mean())
    first = states_of(models[0].features, by_error[0].held.table)
    expected = -reference.log_proba(models[0], first)[np.arange(len(first)), by_error[0].held.y]
    assert losses[2][: len(first)] == pytest.approx(expected)


def test_weighted_classes_weigh_the_choice(wifi):
    weighted = replace(BASE, class_weight="balanced")
    assert default_choice(BASE) == "error"
    assert default_choice(weighted) == "balanced-error"
    assert next(folds_of(wifi, BASE)).chooses_by_error
    assert not next(folds_of(wifi, weighted)).chooses_by_error
    assert next(folds_of(wifi, weighted, "error")).chooses_by_error


def test_forms_of_other_tables_are_grown_anew(wifi):
    (fold, *_) = folds_of(wifi, replace(BASE, validation=0.5))
    for form in (
        EnsembleConfig(rows=4),
        EnsembleConfig(rows=8),
        EnsembleConfig(rows=8, features=2),
        EnsembleConfig(rows=8, cuts=7),
    ):
        settings = form.settings(BASE, 12)
        assert to_bytes(fold.model(settings)) == to_bytes(fit_sum(fold.rest, settings))


def test_differences_are_tried_of_bytes_alone(wifi):
    """Not of int16, the usual readings, and not where the user has chosen."""
    assert not next(folds_of(wifi, BASE)).are_bytes
    small = replace(BASE, readings="smallest")
    assert next(folds_of(wifi, small)).are_bytes
    named = replace(small, structure="tables", structure_options={"differences": "4"})
    assert not next(folds_of(wifi, named)).are_bytes


def test_a_limit_on_columns_that_the_user_names_is_not_searched(wifi):
    assert next(folds_of(wifi, BASE)).n_columns == len(wifi.table.columns)
    named = replace(BASE, structure="tables", structure_options={"inputs": "3"})
    assert next(folds_of(wifi, named)).n_columns == 0


def test_the_type_of_most_columns_says_how_many_bits_may_be_compared(wifi):
    """Those of wifi fit in a byte."""
    rng = np.random.default_rng(0)
    present = np.zeros(50, dtype=bool)
    wide = Column("w", "integer", rng.integers(-30000, 30000, 50), present)
    floats = Column("f", "float", rng.normal(size=50), present)
    states = Column("s", "state", np.arange(50), present)
    bits = {
        names: next(folds_of(replace(numbered(50), table=Table(columns)), BASE)).cut_bits
        for names, columns in {
            "wide": (wide, replace(states, name="t")), "float": (floats, states),
            "states": (floats, states, replace(states, name="t")),
        }.items()
    }  # fmt: skip
    assert bits == {"wide": 8, "float": 16, "states": 0}
    assert next(folds_of(wifi, BASE)).cut_bits == 0


def test_cuts_are_chosen_of_numbers_alone(wifi):
    assert next(folds_of(wifi, BASE)).are_numbers
    assert not next(folds_of(wifi, replace(BASE, discretize="mdl"))).are_numbers
    states = Column("n", "state", np.arange(50), np.zeros(50, dtype=bool))
    dataset = replace(numbered(50), table=Table((states,)))
    assert not next(folds_of(dataset, BASE)).are_numbers


def test_there_are_as_many_folds_as_have_enough_rows():
    dataset = numbered(50)
    every = [rows(fold.held) for fold in folds_of(dataset, BASE)]
    for enough, n_folds in ((10, 1), (11, 2), (20, 2), (31, 4)):
        some = [rows(fold.held) for fold in folds_of(dataset, BASE, enough=enough)]
        assert some == every[:n_folds]


def test_folds_for_the_choice_continue_the_first_ones():
    given = SearchInput(numbered(50), BASE, Budget("avr", flash=500))
    every = [rows(fold.held) for fold in given.folds]
    vars(given)["folds"] = given.folds[:2]
    assert [rows(fold.held) for fold in given.more_folds] == every[2:]
    assert [rows(given.fold(k).held) for k in range(5)] == every
