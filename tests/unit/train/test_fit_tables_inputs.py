"""Inputs of boosted tables: all columns alike, and missing readings below all others."""

import numpy as np
import pytest

from bncc.data.dataset import Column, Table
from bncc.discretize.feature import Feature
from bncc.train.fit_tables import image_of, missing_below, one_kind, one_range, sum_inputs


def test_columns_of_states_get_one_range():
    states = [
        Feature(name, "state", n, missing_state=1) for name, n in [("a", 4), ("b", 2), ("w", 300)]
    ]
    category = Feature("c", "category", 2, categories=("x", "y"))
    assert [each.n_states for each in one_range([*states, category])] == [4, 4, 300, 2]
    assert [each.missing_state for each in one_range(states)] == [1, 1, 1]


def test_a_missing_reading_lies_below_where_none_was_seen():
    plain = Feature("a", "int16", 3, (2, 5), missing_state=1)
    assert missing_below(plain) == Feature("a", "int16", 3, (2, 5), missing_state=0)


@pytest.mark.parametrize(
    ("kind", "thresholds", "lowest"),
    [
        ("int16", (2, 5), -32768),
        ("int32", (2, 5), -(2**31)),
        ("float32", (2.0, 5.0), -float(np.finfo(np.float32).max)),
    ],
)
def test_missing_readings_have_the_first_state_where_some_were_seen(kind, thresholds, lowest):
    feature = missing_below(Feature("a", kind, 4, thresholds, missing_state=3))
    assert feature == Feature("a", kind, 4, (lowest, *thresholds), missing_state=0)
    values = np.array([0, 1, 3, 9])
    column = Column("a", "integer", values, np.array([True, False, False, False]))
    assert feature.states(column).tolist() == [0, 1, 2, 3]


def test_a_threshold_below_all_readings_is_not_there_twice():
    feature = Feature("a", "int16", 4, (-32768, 5), missing_state=3)
    assert missing_below(feature) == Feature("a", "int16", 3, (-32768, 5), missing_state=0)


@pytest.mark.parametrize(
    ("kinds", "wanted"),
    [
        (["float32", "int16"], ["float32", "float32"]),
        (["int32", "int16", "int32"], ["int32"] * 3),
        (["float32", "int16", "int16"], ["float32", "int16", "int16"]),
        (["float32", "int32", "int16"], ["float32", "int32", "int16"]),
        (["state", "int16"], ["state", "int16"]),
        (["int16", "int16"], ["int16", "int16"]),
    ],
)
def test_few_narrow_columns_take_the_kind_of_the_others(kinds, wanted):
    features = [Feature(str(k), kind, 1) for k, kind in enumerate(kinds)]
    assert [each.kind for each in one_kind(features)] == wanted


def test_types_that_were_asked_for_stay():
    features = [Feature(k, kind, 1) for k, kind in (("a", "int32"), ("b", "int16"), ("c", "int32"))]
    kept = sum_inputs(features, is_one_kind=False)
    assert [each.kind for each in kept] == ["int32", "int16", "int32"]


def test_a_shift_moves_missing_pixels_to_all_columns():
    values = np.array([3, 0])
    pixels = (
        Column("a", "integer", values, np.array([False, True])),
        Column("b", "integer", values, np.array([False, False])),
    )
    assert [each.has_gaps for each in image_of(Table(pixels), 1, 2).columns] == [True, True]


def test_whole_thresholds_become_floats():
    features = [Feature("a", "float32", 2, (0.5,)), Feature("b", "int16", 2, (-7,))]
    last = sum_inputs(features)[1]
    assert last == Feature("b", "float32", 2, (-7.0,))
    assert type(last.thresholds[0]) is float
