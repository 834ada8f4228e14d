"""Ranges are those of training rows, and the limit is a conformal quantile on held-out rows."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.data.splits import SplitRule
from bncc.discretize.feature import Feature
from bncc.errors import DataError, OptionError
from bncc.model.unknown import UNKNOWN, Unknown
from bncc.train.decision_rules import DecisionRules
from bncc.train.repeats import held_out_scores
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model
from bncc.train.unknown_choice import (
    check_false_alarms,
    conformal_limit,
    effect_on,
    ranges_of,
    with_unknown,
)
from tests.dwelling import dataset

NAIVE = TrainSettings(structure="naive", parameters="ml", discretize="quantile")
INPUTS = (
    Feature("a", "int16", 2, (0,), (), 0),
    Feature("b", "float32", 2, (0.5,), (), 0),
)


def test_the_limit_is_a_rank_of_one_more_row() -> None:
    novelties = np.arange(1, 20)
    # ceil(20 * 0.95) = 19: the largest of 19
    assert conformal_limit(novelties, 0.05) == 19
    assert conformal_limit(novelties, 0.1) == 18
    assert conformal_limit(np.arange(1, 100), 0.07) == 93  # 100 * (1 - 0.07) is not 93 in floats
    with pytest.raises(DataError, match=r"18 rows cannot show a rate of 5 % false alarms; use 19"):
        conformal_limit(novelties[:-1], 0.05)
    check_false_alarms(0.05, 19)
    check_false_alarms(None, 1)
    for wrong in (0.0, 1.0, -1.0, float("nan")):
        with pytest.raises(OptionError, match=r"use a fraction such as 0\.05"):
            check_false_alarms(wrong)


def test_the_limit_holds_for_another_row() -> None:
    """Over draws of 59 rows and one more, that one exceeds the limit with a probability of 0.05."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, 10**6, (4000, 60))
    exceeded = np.mean([row[-1] > conformal_limit(row[:-1], 0.05) for row in drawn])
    assert 0.03 < exceeded < 0.07


def test_ranges_are_quantiles_of_the_readings_of_a_class() -> None:
    R = np.column_stack([np.arange(200), np.arange(200) / 8])
    y = np.repeat([0, 1], 100)
    found = ranges_of(INPUTS, [*INPUTS], R, y, 3)
    assert found["a"] == ((0, 98), (100, 198), None)
    assert found["b"] == ((0.0, 98 / 8), (12.5, 198 / 8), None)
    assert [*ranges_of(INPUTS, [INPUTS[1]], R, y, 3)] == ["b"]
    assert all(type(end) is int for end in found["a"][0])


def test_missing_readings_and_infinities_are_in_no_range() -> None:
    R = np.array([[-(2**15), np.nan], [4, -0.0], [4, np.inf]])
    found = ranges_of(INPUTS, [*INPUTS], R, np.zeros(3, int), 1)
    assert found["a"] == ((4, 4),)
    low, high = found["b"][0]
    assert (low, np.signbit(low)) == (0.0, False)
    assert high == np.finfo(np.float32).max


@pytest.mark.parametrize("structure", ["naive", "tables"])
def test_a_training_records_the_false_alarms(structure: str) -> None:
    settings = NAIVE if structure == "naive" else TrainSettings(structure=structure, epochs=20)
    test = dataset(seed=1)
    rules = DecisionRules(unknown=0.05)
    rules.check(dataset())
    model = rules.applied(train_model(dataset(), settings), dataset(), settings, test=test).model
    assert model.unknown is not None
    assert [*model.unknown.ranges] == ["a", "b"]
    held = model.training[UNKNOWN]["held_out"]
    assert held["n"] == 800
    assert 0 < held["false_alarms"] <= 40
    assert held["worst_group"] > held["false_alarms"] / 800
    found = effect_on(model, test)
    assert found is not None
    assert model.training[UNKNOWN]["test"] == vars(found)
    assert effect_on(train_model(dataset(), settings).model, test) is None


def test_ranges_and_scores_of_a_row_are_those_of_other_folds() -> None:
    result = train_model(dataset(), NAIVE)
    held = held_out_scores(dataset(), NAIVE, 4)
    assert held is not None
    assert held.n_folds == 4
    groups = dataset().split.groups
    assert len({*zip(groups.tolist(), held.folds.tolist(), strict=True)}) == 4
    plain = with_unknown(result, held, 0.05).model.unknown
    assert plain is not None
    # If one fold has other readings than all the others, none of its rows is inside their ranges.
    columns = held.dataset.table.columns
    moved = tuple(
        replace(each, values=np.where(held.folds == 0, each.values + 1000, each.values))
        for each in columns
    )
    table = replace(held.dataset.table, columns=moved)
    apart = replace(held, dataset=replace(held.dataset, table=table))
    found = with_unknown(result, apart, 0.2).model.unknown
    assert found is not None
    margin = int(held.margins_in(result.model.q_format.frac_bits).max())
    assert found.limit >= 2 * found.weight - margin


def test_margins_are_in_the_units_of_the_model() -> None:
    result = train_model(dataset(), NAIVE)
    held = held_out_scores(dataset(), NAIVE, 4)
    assert held is not None
    finer = np.arange(len(held.y)) % 2
    mixed = replace(held, scores=held.scores << finer[:, None], frac_bits=held.frac_bits + finer)
    rules = [with_unknown(result, each, 0.05).model.unknown for each in (held, mixed)]
    assert rules[0] == rules[1]
    assert isinstance(rules[0], Unknown)
    assert rules[0].weight == round(float(held.margins_in(result.model.q_format.frac_bits).mean()))
    coarse = with_unknown(result, replace(held, frac_bits=held.frac_bits + 20), 0.05).model.unknown
    assert coarse is not None
    assert coarse.weight == 1


def test_rows_of_one_group_are_refused_before_training() -> None:
    single = replace(dataset(), split=SplitRule(np.zeros(800, dtype=np.int64)))
    with pytest.raises(DataError, match="all rows are of one group"):
        DecisionRules(unknown=0.05).check(single)
    with pytest.raises(DataError, match="800 rows cannot show"):
        DecisionRules(unknown=0.001).check(dataset())
