"""Limits of accepted readings, to the last value of each type, and readings outside."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.discretize.feature import Feature
from bncc.errors import ModelError, OptionError
from bncc.fixed_point import QFormat
from bncc.model.checked import ERR_MISSING, ERR_RANGE, Limits, limits_of, predict_checked
from bncc.model.ranges import READINGS
from bncc.structure.graph import forest
from tests import models as hand

F = np.float32


def model_over(feature: Feature, low, high):
    """Return a model of one feature with a recorded range; None records none at all."""
    model = hand.model_of(
        [feature],
        forest([None]),
        QFormat(4, 0),
        [0, 1],
        [[[r, 3] for r in range(feature.n_states)]],
    )
    if feature.kind == "category":
        return replace(model, training={READINGS: {}})
    return replace(model, training={READINGS: {feature.name: {"min": low, "max": high}}})


@pytest.mark.parametrize(
    ("low", "high", "margin", "limits"),
    [
        (0, 100, 0, (0, 100)),
        (0, 100, 10, (-10, 110)),
        (0, 105, 10, (-10, 115)),  # 10.5 on each side, inwards to whole readings
        (-7, -7, 50, (-7, -7)),
        (-32767, 32767, 10, (-32767, 32767)),
        (-32000, 0, 10, (-32767, 3200)),
        (0, 1000, 0.1, (-1, 1001)),
    ],
)
def test_limits_of_whole_readings(low, high, margin, limits):
    """Margins count in percent of the trained span and end at the type, short of its marker."""
    model = model_over(Feature("x", "int16", 2, thresholds=(5,)), low, high)
    assert limits_of(model, margin) == (Limits(*limits),)


@pytest.mark.parametrize(
    ("low", "high", "margin", "limits"),
    [
        (0.0, 1.0, 0, (0.0, 1.0)),
        (0.0, 1.0, 50, (-0.5, 1.5)),
        (-1.0, 0.0, 0, (-1.0, 0.0)),
        # -0.1 and 1.1 are no float32: the least above the one, the largest below the other
        (0.0, 1.0, 10, (-float(np.nextafter(F(0.1), F(0))), float(np.nextafter(F(1.1), F(0))))),
        (-3e38, 3e38, 100, (-3.4028234663852886e38, 3.4028234663852886e38)),
        (0.0, 1.401298464324817e-45, 40, (0.0, 1.401298464324817e-45)),
    ],
)
def test_limits_of_floats_are_exact_values_of_float32(low, high, margin, limits):
    """Exactly the float32 readings within the margin are decided on."""
    low, high = float(F(low)), float(F(high))
    model = model_over(Feature("x", "float32", 2, thresholds=(0.5,)), low, high)
    (found,) = limits_of(model, margin)
    assert (found.low, found.high) == limits
    assert not np.signbit(found.high) or found.high
    assert not np.signbit(found.low) or found.low


def test_a_category_or_state_has_to_be_known_whatever_the_margin():
    """Categories by their labels; states by the trained smallest and largest."""
    color = Feature("c", "category", 3, categories=("a", "b"), missing_state=2)
    assert limits_of(model_over(color, None, None), 100) == (Limits(0, 1),)
    assert limits_of(model_over(Feature("s", "state", 9), 2, 5), 100) == (Limits(2, 5),)


def test_states_of_a_model_without_a_record_are_its_own():
    """A model made by hand or from a network has no training rows; its states are the limits."""
    model = replace(model_over(Feature("s", "state", 9), 2, 5), training={})
    assert limits_of(model) == (Limits(0, 8),)


def test_every_error_in_the_order_of_the_features():
    """The first reading that is missing or out of range decides which error it is."""
    base = hand.category_with_missing()
    model = replace(base, training={READINGS: {"weight": {"min": 1.0, "max": 3.0}}})
    limits = limits_of(model, 0)
    nan, inf = np.nan, np.inf
    R = np.array(
        [[0, 2.0], [2, 3.0], [0, nan], [255, nan], [3, nan], [254, 2.0], [1, inf], [1, -inf],
         [1, 0.99], [1, 3.1], [1, 1.0], [255, inf]]
    )  # fmt: skip
    M, B = ERR_MISSING, ERR_RANGE
    answers = predict_checked(model, limits, R)
    assert answers[[0, 1, 10]].min() >= 0
    assert answers[[2, 3, 4, 5, 6, 7, 8, 9, 11]].tolist() == [M, M, B, B, B, B, B, B, M]


def test_zeros_of_both_signs_are_one_reading():
    """A range that ends at zero takes -0.0 too, as comparing floats does."""
    model = model_over(Feature("x", "float32", 2, thresholds=(0.5,)), 0.0, 1.0)
    assert predict_checked(model, limits_of(model, 0), np.array([[-0.0], [0.0]])).min() >= 0


@pytest.mark.parametrize("margin", [-1, float("nan"), float("inf"), 1e7])
def test_a_margin_that_makes_no_sense_is_refused(margin):
    """One sentence that names the range."""
    model = model_over(Feature("x", "int16", 2, thresholds=(5,)), 0, 1)
    with pytest.raises(OptionError, match=r"choose 0 \.\. 1000000"):
        limits_of(model, margin)


def test_a_model_without_ranges_names_training_as_the_remedy():
    """A file of an older version loads, and lacks what this needs."""
    with pytest.raises(ModelError, match="train it again with this version of bncc"):
        limits_of(hand.naive_integer())


@pytest.mark.parametrize(
    "feature", [Feature("x", "int16", 1), Feature("x", "category", 1), Feature("x", "state", 1)]
)
def test_a_feature_without_any_reading_is_refused(feature):
    """Every input would be an error; the column is to be left out."""
    with pytest.raises(ModelError, match="feature 'x' had no reading in training"):
        limits_of(model_over(feature, None, None))
