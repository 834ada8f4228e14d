"""Prices of transitions are learned from sequences of classes, without the rows of a fold."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.data.splits import SplitRule
from bncc.discretize.feature import states_of
from bncc.errors import OptionError
from bncc.model import reference
from bncc.model.filter import FILTER, Filter, decided
from bncc.train import filter_choice
from bncc.train.decision_rules import DecisionRules
from bncc.train.filter_choice import AUTO, decided_by_fold, with_filter
from bncc.train.repeats import held_out_scores
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model
from bncc.train.transitions import SCRIPTED, check_transitions, prices_up_to, transition_costs
from tests.dwelling import dataset

NAIVE = TrainSettings(structure="naive", parameters="ml", discretize="quantile")


def scripted(seed: int = 0):
    """Return rows whose classes follow each other in one order."""
    rows = dataset(seed=seed, noise=40.0)
    y = np.arange(rows.n_rows) // 10 % 3
    means = np.array([[0, 0], [30, 40], [30, 0]])
    noise = np.rint(np.random.default_rng(seed).normal(0, 25, (rows.n_rows, 2))).astype(np.int64)
    columns = [
        replace(column, values=means[y, k] + noise[:, k])
        for k, column in enumerate(rows.table.columns)
    ]
    return replace(rows, table=replace(rows.table, columns=tuple(columns)), y=y)


def test_each_transition_counts_once_more_than_it_was_seen():
    y, sequences = np.array([0, 0, 0, 1, 1, 2, 0]), np.array([0, 0, 0, 0, 0, 0, 1])
    every = np.ones(7, dtype=np.bool_)
    found = np.exp(-transition_costs(y, sequences, every, 3, "matrix"))
    assert found == pytest.approx(np.array([[3, 2, 1], [1, 2, 2], [1, 1, 1]]) / [[6], [5], [3]])
    dwell = np.exp(-transition_costs(y, sequences, every, 3, "dwell"))
    stay = np.array([3 / 5, 2 / 4, 1 / 2])
    assert np.diag(dwell) == pytest.approx(stay)
    assert dwell[0, 1] == dwell[0, 2] == pytest.approx((1 - stay[0]) / 2)
    assert dwell.sum(axis=1) == pytest.approx(1)


def test_only_neighbors_that_are_both_kept_count():
    y, one = np.array([0, 1, 0, 1]), np.zeros(4, dtype=np.int64)
    is_kept = np.array([True, True, False, True])
    found = np.exp(-transition_costs(y, one, is_kept, 2, "matrix"))
    assert found == pytest.approx(np.array([[1 / 3, 2 / 3], [1 / 2, 1 / 2]]))
    without = np.exp(-transition_costs(np.array([0, -1, 0, 1]), one, is_kept | True, 2, "matrix"))
    assert without == pytest.approx(np.array([[1 / 3, 2 / 3], [1 / 2, 1 / 2]]))


def test_prices_are_in_proportion_to_the_largest():
    costs = np.array([[0.5, 1.5], [1.0, 2.5]])
    assert prices_up_to(costs, 100).tolist() == [[0, 50], [25, 100]]
    assert prices_up_to(costs, 0).tolist() == [[0, 0], [0, 0]]
    assert prices_up_to(np.ones((2, 2)), 9).tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("how", ["dwell", "matrix"])
def test_errors_fall_and_a_warning_is_given(how):
    rows, test = scripted(), scripted(1)
    result = with_filter(train_model(rows, NAIVE), rows, NAIVE, AUTO, how=how, test=test)
    rule = result.model.filter
    assert rule.switch == max(max(row) for row in rule.transitions) > 0
    assert result.notes[-1] == SCRIPTED[how]
    record = result.model.training[FILTER]
    for part in ("held_out", "test"):
        assert record[part]["error"] < 0.7 * record[part]["error_before"]
    X = states_of(result.model.features, test.table)
    found = reference.predict_sequences(result.model, X, test.split.groups)
    assert (found != test.y).mean() == record["test"]["error"]


def test_a_matrix_knows_the_script_of_a_recording():
    """It has fewer errors than one price there, and more where classes follow in another order."""
    rows, test = scripted(), scripted(1)
    effects = {}
    for how in ("switch", "matrix"):
        model = with_filter(train_model(rows, NAIVE), rows, NAIVE, AUTO, how=how).model
        scores = reference.scores(model, states_of(model.features, test.table))
        order = np.arange(test.n_rows).reshape(-1, 10)[::-1].ravel()
        one = np.zeros(test.n_rows, dtype=np.int64)
        effects[how] = [
            (decided(scores[at], one, model.filter) != test.y[at]).mean()
            for at in (np.arange(test.n_rows), order)
        ]
    assert effects["matrix"][0] < effects["switch"][0]
    assert effects["matrix"][1] > effects["switch"][1]


def test_transitions_are_learned_without_the_fold_of_a_row(monkeypatch):
    rows, seen = scripted(), []
    learn = filter_choice.transition_costs

    def spied(y, sequences, is_kept, *others):
        seen.append(sorted(set(sequences[is_kept].tolist())))
        return learn(y, sequences, is_kept, *others)

    monkeypatch.setattr(filter_choice, "transition_costs", spied)
    held = held_out_scores(rows, NAIVE, 5)
    decided_by_fold(held, held.sequences, 0, [9, 30], how="matrix")
    assert sorted(min({0, 1, 2, 3} - {*each}) for each in seen) == [0, 1, 2, 3]


def test_a_given_price_is_the_largest_and_zero_has_no_matrix():
    rows = scripted()
    result = train_model(rows, NAIVE)
    assert with_filter(result, rows, NAIVE, 17, how="matrix").model.filter.switch == 17
    assert max(map(max, with_filter(result, rows, NAIVE, 17, how="dwell").model.filter.transitions))
    none = with_filter(result, rows, NAIVE, 0, how="matrix")
    assert none.model.filter == Filter(0)
    assert none.notes == result.notes
    blocks = replace(rows, split=SplitRule(ordered=True))
    found = with_filter(train_model(blocks, NAIVE), blocks, NAIVE, AUTO, how="matrix", hold=2)
    assert found.model.filter.hold == 2


def test_a_way_to_learn_them_is_checked():
    assert check_transitions("switch", None) == "switch"
    assert check_transitions("dwell", "auto") == "dwell"
    with pytest.raises(OptionError, match="use one of switch, dwell, matrix"):
        check_transitions("all", 9)
    with pytest.raises(OptionError, match="transitions need a filter; add --filter auto"):
        DecisionRules(transitions="matrix").check(scripted())
    with pytest.raises(OptionError, match="no price with --filter 0; use --filter auto"):
        DecisionRules(0, transitions="matrix").check(scripted())
