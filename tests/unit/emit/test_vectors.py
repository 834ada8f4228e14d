"""Vectors shipped with the C: correct, few, varied, and reproducible."""

import numpy as np
import pytest

from bncc.data.dataset import Column, Table
from bncc.discretize.feature import Feature, states_of
from bncc.discretize.readings import states_of_raw
from bncc.emit.vectors import (
    FEW_VECTORS,
    MAX_BYTES,
    MOST_VECTORS,
    drawn_vectors,
    end_readings,
    has_all_states,
    vectors_of_table,
)
from bncc.errors import DataError
from bncc.fixed_point import QFormat
from bncc.model.reference import predict
from bncc.structure.graph import forest
from tests import models as hand
from tests.agreement.large import mixed_kinds


@pytest.mark.parametrize("name", hand.NAMED)
def test_answers_are_the_reference_s(name):
    model = hand.NAMED[name]()
    vectors = drawn_vectors(model)
    assert vectors.classes.tolist() == predict(model, vectors.states).tolist()
    assert states_of_raw(model.features, vectors.readings).tolist() == vectors.states.tolist()
    assert FEW_VECTORS <= len(vectors.states) <= MOST_VECTORS


def test_the_same_model_gives_the_same_vectors():
    first, second = (drawn_vectors(hand.tan_float()) for _ in range(2))
    assert np.array_equal(first.readings, second.readings, equal_nan=True)
    assert first.states.tolist() == second.states.tolist()
    assert first.classes.tolist() == second.classes.tolist()


def test_the_first_two_are_the_corners():
    states = drawn_vectors(hand.general_network()).states
    assert states[0].tolist() == [0, 0, 0, 0]
    assert states[1].tolist() == [1, 2, 1, 1]


def test_in_the_third_every_reading_is_missing():
    vectors = drawn_vectors(mixed_kinds())
    missing = [-(2**15), 255, np.nan, 255, -(2**31), 65535]
    assert np.array_equal(vectors.readings[2], missing, equal_nan=True)
    assert vectors.states[2].tolist() == [3, 5, 2, 3, 2, 299]


@pytest.mark.parametrize("name", hand.NAMED)
def test_every_end_of_a_state_is_read(name):
    """Both sides of every threshold, every number, a missing reading and NaN of either sign."""
    model = hand.NAMED[name]()
    vectors = drawn_vectors(model)
    for i, feature in enumerate(model.features):
        ends = end_readings(feature)
        if len(ends) + 3 <= len(vectors.classes):
            drawn = vectors.readings[:, i]
            assert set(ends[~np.isnan(ends)]) <= set(drawn[~np.isnan(drawn)])
            signs = {bool(sign) for sign in np.signbit(drawn[np.isnan(drawn)])}
            assert len(signs) == 2 * (feature.kind == "float32")


def test_of_a_feature_the_ends_of_states_are_read_with_what_is_treated_apart():
    light = Feature("light", "int16", 3, thresholds=(0, 10), missing_state=2)
    assert end_readings(light).tolist() == [-32767, 0, 1, 10, 11, 32767, -32768]
    color = Feature("color", "category", 3, categories=("a", "b"), missing_state=2)
    assert end_readings(color).tolist() == [0, 1, 2, 255]
    assert end_readings(hand.feature("wide", 255)).tolist() == [*range(255), 255]


def test_a_state_that_is_only_of_missing_readings_has_none_at_its_ends():
    assert has_all_states(Feature("a", "int16", 2, thresholds=(0,)))
    assert not has_all_states(Feature("a", "int16", 2, thresholds=(2**15 - 1,)))


def test_numeric_readings_lie_at_both_ends_of_a_state():
    """Every threshold of the model is tried from both sides."""
    model = hand.tan_float()
    found = set(drawn_vectors(model, 200).readings[:, 1].tolist())
    for threshold in model.features[1].thresholds:
        above = np.nextafter(np.float32(threshold), np.float32(np.inf))
        assert {threshold, float(above)} <= found
    assert not np.isinf(list(found)).any()


def rare():
    """Return a model that decides for class 1 at one of 50 states only."""
    costs = [[0, 1]] * 49 + [[1, 0]]
    return hand.model_of([hand.feature("a", 50)], forest([None]), QFormat(1, 0), [0, 0], [costs])


def test_a_rare_class_is_preferred():
    vectors = drawn_vectors(rare())
    assert np.bincount(vectors.classes)[1] >= 10


def wide(n):
    features = [Feature(f"x{i}", "state", 2) for i in range(n)]
    rows = [[[0, 1], [1, 0]]] * n
    return hand.model_of(features, forest([None] * n), QFormat(1, 0), [0, 0], rows)


@pytest.mark.parametrize(("n", "expected"), [(128, 32), (129, 31), (512, 8), (2000, 4)])
def test_models_of_many_features_carry_fewer(n, expected):
    """A reading and a state take a byte each here."""
    vectors = drawn_vectors(wide(n))
    assert len(vectors.states) == expected
    assert 2 * vectors.states.size <= max(MAX_BYTES, 4 * 2 * n)


@pytest.mark.parametrize("n", [1, 2, 255])
def test_there_are_as_many_as_one_asks_for(n):
    assert len(drawn_vectors(hand.tan_float(), n).states) == n


def measured(n_rows):
    """Return readings of `naive_integer`, one in seven without light; no two rows are equal."""
    k = np.arange(n_rows)
    return Table(
        (
            Column("light", "integer", k % 5 - 2, k % 7 == 3),
            Column("pressure", "integer", 3 * k - 90, np.zeros(n_rows, np.bool_)),
        )
    )


def test_rows_of_a_table_come_as_they_are_and_in_its_order():
    model, table = hand.naive_integer(), measured(90)
    vectors = vectors_of_table(model, table, 40)
    pressure, light = vectors.readings.T
    rows = ((pressure + 90) / 3).astype(int)
    assert len(rows) == 40
    assert (np.diff(rows) > 0).all()
    assert light.tolist() == np.where(rows % 7 == 3, -(2**15), rows % 5 - 2).tolist()
    assert (rows % 7 == 3).any()
    assert vectors.states.tolist() == states_of(model.features, table)[rows].tolist()
    assert vectors.classes.tolist() == predict(model, vectors.states).tolist()


def test_rows_are_spread_over_the_classes_that_are_decided_for():
    states = np.repeat([0, 49], [900, 30])
    table = Table((Column("a", "state", states, np.zeros(930, np.bool_)),))
    vectors = vectors_of_table(rare(), table)
    assert np.bincount(vectors.classes).tolist() == [16, 16]


def test_a_table_of_fewer_rows_gives_all_of_them():
    assert len(vectors_of_table(hand.naive_integer(), measured(3), 9).states) == 3


def test_a_table_without_rows_is_refused():
    with pytest.raises(DataError, match="no row to take test vectors from; give readings"):
        vectors_of_table(hand.naive_integer(), measured(0))


def test_a_table_without_a_column_is_refused():
    with pytest.raises(DataError, match="no column 'light'"):
        vectors_of_table(hand.naive_integer(), Table(measured(9).columns[1:]))
