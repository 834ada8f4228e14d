"""The price of a switch is chosen on held-out groups, and errors are those of these rows."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.data.splits import SplitRule
from bncc.discretize.feature import states_of
from bncc.errors import DataError, OptionError
from bncc.interrupts import StopRequest
from bncc.model import reference
from bncc.model.filter import FILTER, MAX_SWITCH, Filter, filtered, switches
from bncc.progress import silence
from bncc.train import repeats
from bncc.train.decision_rules import DecisionRules
from bncc.train.filter_choice import (
    AUTO,
    NO_GAIN,
    best_price,
    decided_by_fold,
    effect_on,
    price_of,
    prices_to_try,
    with_filter,
)
from bncc.train.repeats import DEFAULT_FOLDS, HeldOut, held_out_scores
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model
from tests.dwelling import dataset

NAIVE = TrainSettings(structure="naive", parameters="ml", discretize="quantile")
TABLES = TrainSettings(structure="tables", structure_options={"tables": "4"}, epochs=1)


@pytest.mark.parametrize("settings", [NAIVE, TABLES], ids=["naive", "tables"])
def test_errors_fall_where_classes_last(settings):
    rows, test = dataset(), dataset(seed=1)
    result = with_filter(train_model(rows, settings), rows, settings, AUTO, test=test)
    model = result.model
    assert model.filter is not None
    assert model.filter.switch > 0
    assert result.notes == train_model(rows, settings).notes
    record = model.training[FILTER]
    for part in ("held_out", "test"):
        assert record[part]["n"] == 800
        assert record[part]["error"] < 0.7 * record[part]["error_before"]
        assert record[part]["switches"] < 0.5 * record[part]["switches_before"]
    X = states_of(model.features, test.table)
    assert test.split.groups is not None
    found = reference.predict_sequences(model, X, test.split.groups)
    assert (found != test.y).mean() == record["test"]["error"]
    assert switches(found, test.split.groups) == record["test"]["switches"]
    assert (reference.predict(model, X) != test.y).mean() == record["test"]["error_before"]


def test_errors_do_not_rise_where_classes_change_with_every_row():
    rows = dataset(dwell=1)
    result = with_filter(train_model(rows, NAIVE), rows, NAIVE, AUTO)
    record = result.model.training[FILTER]["held_out"]
    assert record["error"] <= record["error_before"]
    assert result.model.training[FILTER]["test"] is None


def test_a_price_without_gain_is_zero_and_said():
    rows = dataset(noise=0.0)
    result = with_filter(train_model(rows, NAIVE), rows, NAIVE, AUTO)
    assert result.model.filter == Filter(0)
    assert result.notes[-1] == NO_GAIN


def test_no_training_sees_the_rows_that_choose(monkeypatch):
    rows, seen = dataset(), []
    learn = repeats.model_alone

    def spied(rest, *others):
        assert rest.split.groups is not None
        seen.append(frozenset(rest.split.groups.tolist()))
        return learn(rest, *others)

    monkeypatch.setattr(repeats, "model_alone", spied)
    with_filter(train_model(rows, NAIVE), rows, NAIVE, AUTO)
    assert sorted(min({0, 1, 2, 3} - each) for each in seen) == [0, 1, 2, 3]
    assert {len(each) for each in seen} == {3}


def test_a_given_price_is_kept_and_needs_no_training(monkeypatch):
    rows = dataset()
    result = train_model(rows, NAIVE)
    monkeypatch.setattr(repeats, "model_alone", None)
    found = with_filter(result, rows, NAIVE, 17).model
    assert found.filter == Filter(17)
    assert found.training[FILTER] == {"held_out": None, "test": None}


def held(scores, y, frac_bits=0, groups=None):
    """Return scores of rows in one fold each."""
    rows = dataset(n_groups=1, n=len(y))
    groups = np.zeros(len(y), dtype=np.int64) if groups is None else groups
    rows = replace(rows, y=np.array(y), split=SplitRule(groups))
    units = np.broadcast_to(frac_bits, len(y)).astype(np.int64)
    return HeldOut(
        np.array(scores), units, np.arange(len(y)) % 2, rows, np.zeros((len(y), 0), np.int64)
    )


def test_the_smallest_of_the_best_prices_is_taken():
    scores = [[0, 9, 9], [4, 0, 9], [0, 9, 9]]
    found = held(scores, [0, 0, 0])
    # A price of 4 ties with the switch, and the smallest index wins.
    assert best_price(found, np.zeros(3), 0) == 4
    assert best_price(held(scores, [0, 1, 0]), np.zeros(3), 0) == 0
    assert best_price(held(scores, [0, 1, 0]), np.arange(3), 0) == 0


@pytest.mark.parametrize(("of_fold", "of_model"), [(0, 0), (2, 2), (2, 0), (0, 2), (-1, 2)])
def test_prices_are_in_units_of_the_model(of_fold, of_model):
    scores = np.array([[0, 9, 9], [4, 0, 9], [0, 9, 9]])
    in_units = held(scores, [0, 0, 0], of_fold)
    price = best_price(in_units, np.zeros(3), of_model)
    least = 4 * 2.0 ** (of_model - of_fold)
    assert price == max(1, least)


def test_units_of_folds_may_differ():
    scores = [[0, 9, 9], [8, 0, 9], [0, 9, 9], [0, 9, 9], [2, 0, 9]]
    found = held(scores, [0, 0, 0, 0, 0], [1, 1, 0, 0, -1])
    assert best_price(found, np.zeros(5), 0) == 4


def test_prices_are_geometric_up_to_several_scores():
    assert prices_to_try(np.array([[0, 3]])) == [0, 1, 2, 3, 4, 6, 8, 11, 16, 23]
    assert prices_to_try(np.zeros((0, 2), dtype=np.int64)) == [0, 1, 2, 3, 4, 6, 8]
    assert max(prices_to_try(np.array([[0, 2**31]]))) <= MAX_SWITCH


def test_rows_without_an_order_are_refused():
    rows = replace(dataset(), split=SplitRule())
    with pytest.raises(DataError, match="a filter needs rows in time order"):
        with_filter(train_model(rows, NAIVE), rows, NAIVE, AUTO)


def test_blocks_are_one_sequence():
    rows = replace(dataset(), split=SplitRule(ordered=True))
    model = with_filter(train_model(rows, NAIVE), rows, NAIVE, AUTO).model
    effect = effect_on(model, rows)
    assert effect is not None
    assert model.filter is not None
    scores = reference.scores(model, states_of(model.features, rows.table))
    found = filtered(scores, np.zeros(800, dtype=np.int64), model.filter.switch)
    assert effect.error == (found != rows.y).mean()
    assert effect_on(model, replace(rows, split=SplitRule())) is None


def test_a_stopped_choice_leaves_the_training_as_it_was():
    rows, stop = dataset(), StopRequest()
    result = train_model(rows, NAIVE)
    stop.signal = 2
    assert with_filter(result, rows, NAIVE, AUTO, stop=stop) is result
    assert held_out_scores(rows, NAIVE, 5, stop=stop) is None


@pytest.mark.parametrize("text", [None, AUTO, 0, 5, "5", str(MAX_SWITCH)])
def test_prices_are_parsed(text):
    found = price_of(text)
    assert found == (int(text) if text not in (None, AUTO) else text)


@pytest.mark.parametrize("text", ["", "-1", "five", "1.5", 1.5, True, -1, MAX_SWITCH + 1])
def test_other_prices_are_refused(text):
    with pytest.raises(OptionError, match="use auto, or the price of a switch"):
        price_of(text)


def test_decisions_in_a_row_that_a_switch_needs_are_part_of_the_choice():
    rules = DecisionRules("auto", hold=3)
    settings = TrainSettings(structure="naive", parameters="ml", discretize="quantile")
    result = rules.applied(train_model(dataset(), settings), dataset(), settings)
    assert result.model.filter.hold == 3
    effect = result.model.training[FILTER]["held_out"]
    assert effect["error"] <= effect["error_before"]
    assert effect["switches"] < effect["switches_before"]


def test_a_price_is_chosen_with_the_lag():
    settings = TrainSettings(structure="naive", parameters="ml", discretize="quantile")
    result = train_model(dataset(), settings)
    effects = {}
    for lag in (0, 3):
        found = DecisionRules("auto", lag=lag).applied(result, dataset(), settings).model
        assert found.filter.lag == lag
        effects[lag] = found.training[FILTER]["held_out"]
    assert effects[3]["error"] < effects[0]["error"]
    held = held_out_scores(dataset(), settings, DEFAULT_FOLDS, silence, None)
    unit = result.model.q_format.frac_bits
    price = found.filter.switch
    assert price == best_price(held, held.sequences, unit, lag=3)
    (after,) = decided_by_fold(held, held.sequences, unit, [price], lag=3)
    assert effects[3]["error"] == (after != held.y).mean()
    (none,) = decided_by_fold(held, held.sequences, unit, [price])
    assert (none != after).any()


def test_a_lag_without_a_gain_is_none():
    """Rows of classes that change at once are decided best alone."""
    rows = dataset(dwell=1, noise=1.0)
    settings = TrainSettings(structure="naive", parameters="ml", discretize="quantile")
    found = DecisionRules("auto", lag=3).applied(train_model(rows, settings), rows, settings)
    assert (found.model.filter.switch, found.model.filter.lag) == (0, 0)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (DecisionRules("auto", lag=-1), "the lag of the filter is -1 rows; use 0 .. 100"),
        (DecisionRules("auto", lag=101), "the lag of the filter is 101 rows; use 0 .. 100"),
        (DecisionRules("auto", lag=True), "the lag of the filter is True rows"),
        (DecisionRules(lag=2), "a lag of 2 needs a filter; add --filter auto, or a price"),
        (DecisionRules(0, lag=2), "a lag changes no decision with --filter 0; use --filter auto"),
    ],
)
def test_a_lag_that_no_filter_has_is_refused(rules, message):
    with pytest.raises(OptionError, match=message):
        rules.check(dataset())


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (DecisionRules("auto", hold=0), "needs 0 decisions in a row; use 1 .. 200"),
        (DecisionRules("auto", hold=201), "needs 201 decisions in a row; use 1 .. 200"),
        (DecisionRules(hold=2), "2 decisions in a row need a filter; add --filter auto"),
    ],
)
def test_a_hold_that_no_filter_has_is_refused(rules, message):
    with pytest.raises(OptionError, match=message):
        rules.check(dataset())
