"""Choice of an adaptation on held-out groups, and its effect in the record."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.data.splits import SplitRule
from bncc.errors import DataError
from bncc.model.adaptation import ADAPTATION, Adaptation, labeled_halves
from bncc.train.adaptation_choice import NO_GAIN, adaptations_to_try, effect_on, with_adaptation
from bncc.train.decision_rules import DecisionRules
from bncc.train.repeats import HeldOut, held_out_scores
from bncc.train.train_model import TrainResult, train_model
from tests.adapting import SETTINGS, adapting
from tests.dwelling import dataset

RULES = DecisionRules(adapts=True)


def held_of(structure: str = "tables", n_folds: int = 4) -> tuple[TrainResult, HeldOut]:
    settings = SETTINGS[structure]
    held = held_out_scores(dataset(), settings, n_folds)
    assert held is not None
    return train_model(dataset(), settings), held


def test_rows_of_tables_are_those_of_the_training_without_the_fold() -> None:
    result, held = held_of()
    assert held.rows.shape == (800, 8)
    assert 0 < held.rows.max() < max(each.n_rows for each in result.model.lookups)
    assert held_of("naive")[1].rows.shape == held_of("trees")[1].rows.shape == (800, 0)


def test_a_group_that_is_shifted_is_adapted_to() -> None:
    result, held = held_of("naive")
    # In each group the scores of one class are too large by 40 units.
    shifted = held.scores + 40 * (np.arange(3) == dataset().split.groups[:, None] % 3)
    found = with_adaptation(result, replace(held, scores=shifted)).model
    effect = found.training[ADAPTATION]["held_out"]
    assert effect["n_groups"] == 4
    assert effect["error"] < effect["error_before"] / 1.2
    assert found.training[ADAPTATION]["test"] is None


def test_units_of_trainings_are_made_one() -> None:
    result, held = held_of()
    finer = np.arange(len(held.y)) % 2
    mixed = replace(held, scores=held.scores << finer[:, None], frac_bits=held.frac_bits + finer)
    found = [with_adaptation(result, each).model for each in (held, mixed)]
    assert found[0].adaptation == found[1].adaptation
    assert found[0].training[ADAPTATION] == found[1].training[ADAPTATION]


def test_scores_that_are_right_are_left_alone_with_a_note() -> None:
    result, held = held_of()
    right = np.where(np.arange(3) == held.y[:, None], 0, 10**6)
    found = with_adaptation(result, replace(held, scores=right))
    assert found.notes == (*result.notes, NO_GAIN)
    assert found.model.adaptation is not None
    assert found.model.adaptation.tables == ()
    assert with_adaptation(result, held).notes in (result.notes, found.notes)


def test_tables_are_tried_as_far_as_they_fit() -> None:
    model = adapting("tables")
    tried = list(adaptations_to_try(model, 8))
    assert [*{len(each.tables) for each in tried}] == list(range(9))
    assert {len(each.tables) for each in adaptations_to_try(model, 2)} == {0, 1, 2}
    assert all(each.step & (each.step - 1) == 0 for each in tried)
    wide = replace(model, classes=tuple(map(str, range(255))))
    n_rows = model.lookups[0].n_rows
    assert max(len(each.tables) for each in adaptations_to_try(wide, 8)) == (128 * n_rows <= 256)


def test_a_training_records_the_effect() -> None:
    test = dataset(seed=1)
    RULES.check(dataset())
    assert RULES.any
    result = train_model(dataset(), SETTINGS["naive"])
    assert not RULES.are_those_of(result.model)
    model = RULES.applied(result, dataset(), SETTINGS["naive"], test=test).model
    assert RULES.are_those_of(model)
    found = effect_on(model, test)
    assert found is not None
    assert model.training[ADAPTATION]["test"] == vars(found)
    halves = list(labeled_halves(test.y, test.split.groups))
    assert (found.n, found.n_groups) == (sum(len(half.judged) for half in halves), 4)
    assert effect_on(result.model, test) is None
    assert effect_on(model, replace(test, split=SplitRule())) is None
    assert isinstance(model.adaptation, Adaptation)


def test_rows_without_groups_are_refused_before_training() -> None:
    with pytest.raises(DataError, match="name the column of the person or device with --groups"):
        RULES.check(replace(dataset(), split=SplitRule()))
    with pytest.raises(DataError, match="all rows are of one group"):
        RULES.check(replace(dataset(), split=SplitRule(np.zeros(800, dtype=np.int64))))
