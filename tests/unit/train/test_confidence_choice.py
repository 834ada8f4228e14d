"""Levels of a confidence are calibrated, and the bound on the error of accepted decisions holds."""

from dataclasses import replace

import numpy as np
import pytest

from bncc._types import BoolArray, IntArray
from bncc.errors import DataError, OptionError
from bncc.model.confidence import CONFIDENCE, Confidence, error_bound, margins_of
from bncc.model.reference import scores
from bncc.train.confidence_choice import (
    COVERAGES,
    LEAST_ROWS,
    LEVELS,
    RISK,
    check_max_error,
    confidence_of,
    effect_on,
    least_margin,
    with_confidence,
)
from bncc.train.decision_rules import DecisionRules
from bncc.train.repeats import HeldOut, held_out_scores
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model
from tests.dwelling import dataset

NAIVE = TrainSettings(structure="naive", parameters="ml", discretize="quantile")


def drawn(n: int, seed: int = 0) -> tuple[IntArray, BoolArray]:
    """Return margins and whether decisions are right, likelier for larger margins."""
    rng = np.random.default_rng(seed)
    margins = rng.integers(0, 61, n)
    return margins, rng.random(n) < 0.5 + margins / 120


def test_levels_are_calibrated() -> None:
    found = confidence_of(*drawn(20000))
    assert 4 <= len(found.margins) <= LEVELS
    margins, right = drawn(200000, seed=1)
    said = found.percent_of(margins)
    for percent in found.percent:
        assert abs(100 * right[said == percent].mean() - percent) < 3


def test_a_level_has_enough_rows() -> None:
    margins, right = drawn(2000)
    found = confidence_of(margins, right)
    level = np.searchsorted(found.margins, margins, side="right")
    assert np.bincount(level)[1:].min() >= LEAST_ROWS


def test_a_margin_that_tells_nothing_has_one_level() -> None:
    rng = np.random.default_rng(0)
    right = rng.random(1000) < 0.8
    assert confidence_of(np.zeros(1000, dtype=np.int64), right).margins == (0,)
    # A larger margin that is right less often is not rated higher.
    found = confidence_of(np.where(right, 0, 5), right)
    assert found == Confidence((0,), (found.percent[0],))


def test_no_level_is_certain() -> None:
    always = confidence_of(np.arange(100), np.ones(100, dtype=np.bool_))
    assert always.percent == (99,)
    assert confidence_of(np.arange(100), np.zeros(100, dtype=np.bool_)).percent == (1,)


def test_the_bound_holds_on_other_rows() -> None:
    """At most 5 % of 200 choices on 1,000 rows each may have a larger error."""
    others, is_right = drawn(200000, seed=10**6)
    n_larger = 0
    for seed in range(200):
        least = least_margin(*drawn(1000, seed), 0.2)
        n_larger += (~is_right[others >= least]).mean() > 0.2
    assert n_larger <= 10


def test_as_many_rows_are_accepted_as_the_bound_allows() -> None:
    margins, right = drawn(20000)
    least = least_margin(margins, right, 0.1)
    assert (
        error_bound(int((~right[margins >= least]).sum()), int((margins >= least).sum()), RISK)
        <= 0.1
    )
    step = 20000 // COVERAGES
    lower = int(np.sort(margins)[::-1][int((margins >= least).sum()) + step])
    accepted = margins >= lower
    assert error_bound(int((~right[accepted]).sum()), int(accepted.sum()), RISK) > 0.1
    assert least_margin(margins, right, 0.9) == 0


def test_an_error_that_rows_cannot_show_is_refused() -> None:
    with pytest.raises(DataError, match=r"no margin keeps the error of accepted decisions at 1 %"):
        least_margin(*drawn(1000), 0.01)
    with pytest.raises(DataError, match=r"50 rows cannot show an error of at most 2 %.*use 297"):
        check_max_error(0.02, 50)
    check_max_error(0.02, 297)
    with pytest.raises(DataError):
        check_max_error(0.02, 296)
    for wrong in (0.0, 1.0, -1.0, float("nan")):
        with pytest.raises(OptionError, match=r"use a fraction such as 0\.02"):
            check_max_error(wrong)
    check_max_error(None, 1)


def held_out() -> tuple[HeldOut, HeldOut]:
    """Return held-out scores, and the same ones in a finer unit for a part of the rows."""
    held = held_out_scores(dataset(), NAIVE, 4)
    assert held is not None
    finer = np.arange(len(held.y)) % 2
    return held, replace(
        held, scores=held.scores << finer[:, None], frac_bits=held.frac_bits + finer
    )


def test_margins_are_in_the_units_of_the_model() -> None:
    result = train_model(dataset(), NAIVE)
    held, mixed = held_out()
    one, other = (with_confidence(result, each).model for each in (held, mixed))
    assert one.confidence == other.confidence
    # In units that are so coarse all margins are 0.
    coarse = with_confidence(result, replace(held, frac_bits=held.frac_bits + 20)).model.confidence
    percent = round(100 * (held.decisions == held.y).mean())
    assert coarse == Confidence((0,), (percent,))


def test_a_training_records_the_effect() -> None:
    test = dataset(seed=1)
    rules = DecisionRules(max_error=0.3)
    rules.check(dataset())
    result = rules.applied(train_model(dataset(), NAIVE), dataset(), NAIVE, test=test)
    model = result.model
    assert model.confidence is not None
    assert model.confidence.least_margin > 0
    record = model.training[CONFIDENCE]
    assert record["held_out"]["n"] == 800
    assert record["held_out"]["error_bound"] < 0.3 < record["held_out"]["error"]
    found = effect_on(model, test)
    assert found is not None
    assert record["test"] == vars(found)
    X = np.array([[0, 0]])
    assert margins_of(scores(model, X)).shape == (1,)
    assert effect_on(train_model(dataset(), NAIVE).model, test) is None


def test_a_filter_and_a_confidence_share_the_held_out_rows() -> None:
    result = train_model(dataset(), NAIVE)
    both = DecisionRules("auto", confidence=True).applied(result, dataset(), NAIVE).model
    assert both.filter == DecisionRules("auto").applied(result, dataset(), NAIVE).model.filter
    alone = DecisionRules(confidence=True).applied(result, dataset(), NAIVE).model
    assert both.confidence == alone.confidence
    assert DecisionRules().applied(result, dataset(), NAIVE) is result
