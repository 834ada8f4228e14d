"""Readings as the C takes them: their types, their states, and their boundary values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bncc.data.dataset import Column, Table
from bncc.discretize.feature import Feature, states_of
from bncc.discretize.readings import (
    probe_values,
    raw_dtypes,
    raw_of_table,
    representatives,
    state_dtype,
    states_of_raw,
)
from bncc.errors import DataError
from tests.strategies import features
from tests.tiers import examples

COLOR = Feature("color", "category", 4, categories=("red", "green", "blue"), missing_state=3)
LEVEL = Feature("level", "int16", 3, thresholds=(-5, 100), missing_state=1)
WEIGHT = Feature("weight", "float32", 3, thresholds=(0.5, 2.0), missing_state=0)


def test_states_are_bytes_until_a_feature_has_more_than_255():
    """With more states a byte would leave no number for an invalid state."""
    assert state_dtype((2, 255)) == np.uint8
    assert state_dtype((2, 256)) == np.uint16


def test_a_raw_category_needs_no_number_for_its_missing_state():
    """255 labels fit a byte, though missing cells bring the states to 256."""
    labels = tuple(str(k) for k in range(255))
    (dtype,) = raw_dtypes((Feature("c", "category", 256, categories=labels, missing_state=255),))
    assert dtype == np.uint8


@pytest.mark.parametrize(
    ("value", "state"), [(-32768, 1), (-32767, 0), (-5, 0), (-4, 1), (100, 1), (101, 2)]
)
def test_the_state_of_an_integer_counts_the_thresholds_below_it(value, state):
    """The smallest int16 marks a missing reading, which takes its state."""
    assert states_of_raw((LEVEL,), np.array([[value]], dtype=float))[0, 0] == state


@pytest.mark.parametrize(
    ("value", "state"),
    [(np.nan, 0), (-np.inf, 0), (0.5, 0), (0.50000006, 1), (2.0, 1), (np.inf, 2)],
)
def test_the_state_of_a_float_counts_the_thresholds_below_it(value, state):
    """Infinities are readings, NaN is a missing one."""
    assert states_of_raw((WEIGHT,), np.array([[value]]))[0, 0] == state


@pytest.mark.parametrize(("value", "state"), [(0, 0), (2, 2), (3, 3), (255, 3)])
def test_a_number_beyond_the_categories_takes_the_missing_state(value, state):
    """Also the number directly after the last label, although it is a state of the model."""
    assert states_of_raw((COLOR,), np.array([[value]], dtype=float))[0, 0] == state


def test_probes_of_an_integer_surround_its_thresholds_and_meet_the_extremes():
    """Every threshold at -1, 0, +1, the missing marker and both ends."""
    assert {-6, -5, -4, 99, 100, 101, -32768, -32767, 0, 32767} <= set(probe_values(LEVEL))


def test_probes_of_a_float_are_neighbors_in_float32():
    """One step of float32 up and down, both zeros, infinities and NaN of both signs."""
    values = probe_values(WEIGHT)
    assert {np.nextafter(np.float32(2), np.float32(k)) for k in (0, 9)} <= set(values)
    assert np.array_equal(values.astype(np.float32).astype(float), values, equal_nan=True)
    assert {tuple(np.signbit(values[values == 0]))} == {(False, True)}
    assert set(np.signbit(values[np.isnan(values)])) == {True, False}
    assert {np.inf, -np.inf} <= set(values)


def test_probes_never_leave_the_type():
    """A threshold at the end of the range has no neighbor beyond it."""
    edge = Feature("edge", "int32", 3, thresholds=(-(2**31), 2**31 - 1))
    values = probe_values(edge)
    assert values.min() == -(2**31)
    assert values.max() == 2**31 - 1


@settings(max_examples=examples(100))
@given(st.integers(0, 99).flatmap(lambda k: features(f"f{k}")))
def test_every_state_that_a_reading_can_have_has_a_representative(feature):
    """Among the probes each reachable state occurs, and its representative has that state."""
    reachable = set(states_of_raw((feature,), probe_values(feature)[:, None])[:, 0])
    chosen = representatives(feature)
    states = states_of_raw((feature,), chosen[:, None])[:, 0]
    assert len(chosen) == feature.n_states
    assert all(states[s] == s for s in reachable)
    if feature.kind in ("category", "state"):
        assert len(reachable) == feature.n_states


def table() -> Table:
    n = np.array
    return Table(
        (
            Column("unused", "integer", n([7, 7, 7, 7]), n([False] * 4)),
            Column("color", "category", n(["blue", "red", "pink", ""], dtype=object),
                   n([False, False, False, True])),
            Column("level", "integer", n([-40000, 100, 40000, 0]), n([False, False, False, True])),
            Column("weight", "float", n([0.5, 3e38, 0.7, 0.0]), n([False, False, False, True])),
            Column("bin", "state", n([0, 1, 9, -1]), n([False, False, False, True])),
        )
    )  # fmt: skip


BIN = Feature("bin", "state", 2, missing_state=1)


def test_a_table_becomes_readings_of_the_c_types():
    """Labels become numbers; values out of range saturate; missing cells become markers."""
    R = raw_of_table((COLOR, LEVEL, WEIGHT, BIN), table())
    assert R[:, 0].tolist() == [2, 0, 255, 255]
    assert R[:, 1].tolist() == [-32767, 100, 32767, -32768]
    assert R[:3, 2].tolist() == np.float32([0.5, 3e38, 0.7]).tolist()
    assert np.isnan(R[3, 2])
    assert R[:, 3].tolist() == [0, 1, 255, 255]


def test_both_ways_from_a_table_to_states_meet():
    """The states of the readings are the states that the features give the table."""
    inputs = (COLOR, LEVEL, WEIGHT, BIN)
    R = raw_of_table(inputs, table())
    assert np.array_equal(states_of_raw(inputs, R), states_of(inputs, table()))


def test_a_reading_that_is_the_marker_of_a_missing_one_reaches_the_c_as_it_is():
    """Python takes it as missing, and so does the C: it must not saturate."""
    column = Column("level", "integer", np.array([-(2**15), -(2**15) - 1]), np.zeros(2, np.bool_))
    data = Table((column,))
    assert raw_of_table((LEVEL,), data)[:, 0].tolist() == [-(2**15), -(2**15) + 1]
    assert states_of((LEVEL,), data)[:, 0].tolist() == [LEVEL.missing_state, 0]


def test_labels_that_are_numbers_are_matched_by_value():
    """A file in which all labels happen to be numbers is read as numbers."""
    level = Feature("level", "category", 2, categories=("1", "2.0"), missing_state=0)
    column = Column("level", "float", np.array([2.0, 1.0, 3.0]), np.array([False, False, False]))
    assert raw_of_table((level,), Table((column,)))[:, 0].tolist() == [1, 0, 255]


def test_a_missing_column_is_named():
    """The error names the column that the model reads."""
    with pytest.raises(DataError, match="no column 'speed'"):
        raw_of_table((Feature("speed", "int16", 1),), table())
