"""One rule from raw readings to states: thresholds, labels, missing and unknown readings."""

import numpy as np
import pytest

from bncc.data.columns import column_of_text
from bncc.data.dataset import Column, Table
from bncc.discretize.feature import (
    Feature,
    category_codes,
    float32_grid,
    numeric_cells,
    states_of,
    whole_cells,
)
from bncc.discretize.readings import raw_of_table
from bncc.errors import DataError

INT16 = Feature("a", "int16", 3, (2, 5), missing_state=1)
FLOAT = Feature("a", "float32", 3, (-0.5, 0.0), missing_state=2)
LABEL = Feature("a", "category", 3, (), ("x", "y"), missing_state=2)
STATE = Feature("a", "state", 4, missing_state=3)


def _states(feature: Feature, *cells: str) -> list[int]:
    return feature.states(column_of_text("a", cells)).tolist()


def test_the_state_is_the_number_of_thresholds_below_the_value() -> None:
    """A value equal to a threshold is not above it."""
    assert _states(INT16, "-7", "2", "3", "5", "6") == [0, 0, 1, 1, 2]


def test_numbers_beyond_the_type_are_in_the_outer_states() -> None:
    """As if they had been saturated."""
    assert _states(INT16, "-32769", "-32767", "70000") == [0, 0, 2]


def test_the_number_that_marks_a_missing_reading_in_the_c_marks_it_here() -> None:
    feature = Feature("a", "int32", 3, (2,), missing_state=2)
    assert _states(INT16, "-32768") == [INT16.missing_state]
    assert _states(feature, "-2147483648", "-32768", "?") == [2, 0, 2]


def test_float_thresholds_are_compared_on_the_grid_of_float32() -> None:
    """0.1 + 1e-12 is 0.1 to a sensor of float32, so it is not above that threshold."""
    grid = float(np.float32(0.1))
    feature = Feature("a", "float32", 2, (grid,))
    assert _states(feature, "0.1", "0.100000001", "0.10000001") == [0, 0, 1]


def test_negative_zero_is_zero() -> None:
    """-0.0 is not above 0.0 and is above -0.5."""
    column = Column("a", "float", np.array([-0.0, 0.0]), np.zeros(2, dtype=np.bool_))
    assert FLOAT.states(column).tolist() == [1, 1]


@pytest.mark.parametrize("feature", [INT16, FLOAT, LABEL, STATE])
def test_a_missing_reading_has_the_state_of_missing_readings(feature: Feature) -> None:
    """Also when the whole column is missing, which is read as a category."""
    assert _states(feature, "?", "?") == [feature.missing_state] * 2
    assert _states(feature, "", "1")[0] == feature.missing_state


def test_a_label_not_seen_in_training_has_the_state_of_missing_readings() -> None:
    """As a missing one."""
    assert _states(LABEL, "y", "new", "x", "?") == [1, 2, 0, 2]


def test_a_state_out_of_range_has_the_state_of_missing_readings() -> None:
    """Below and above."""
    assert _states(STATE, "-1", "0", "3", "4", "99999999") == [3, 0, 3, 3, 3]


def test_labels_that_are_numbers_match_numbers() -> None:
    """A file whose labels are all numbers is read as numbers; they match by value."""
    feature = Feature("a", "category", 4, (), ("01", "2.50", "x"), missing_state=3)
    assert _states(feature, "1", "2.5", "7") == [0, 1, 3]
    assert _states(feature, "01", "x", "1") == [0, 2, 3]
    assert category_codes(feature, column_of_text("a", ["2.5", "?", "7"])).tolist() == [1, -1, -1]


def test_of_two_labels_of_one_number_the_first_matches_it() -> None:
    """``01`` and ``1`` are the same once they are numbers."""
    feature = Feature("a", "category", 2, (), ("01", "1"))
    assert _states(feature, "1", "1") == [0, 0]


def test_numbers_declared_as_labels_are_numbers() -> None:
    """A nominal ARFF attribute {1,6} suits a model that learned from whole numbers."""
    column = Column(
        "a", "category", np.array(["1", "6"], dtype=object), np.zeros(2, dtype=np.bool_)
    )
    assert INT16.states(column).tolist() == [0, 2]


@pytest.mark.parametrize("feature", [INT16, FLOAT, STATE])
def test_text_where_numbers_were_is_an_error_that_shows_the_cell(feature: Feature) -> None:
    """The first cell that is no number, with its row."""
    with pytest.raises(
        DataError, match="'a' had numbers in training but contains the text 'soup' in row 3"
    ):
        _states(feature, "1", "?", "soup", "salad")


@pytest.mark.parametrize("feature", [INT16, STATE])
def test_a_fraction_where_whole_numbers_were_is_an_error(feature: Feature) -> None:
    """The message shows the number and its row."""
    with pytest.raises(
        DataError, match="had integers in training but contains 1\\.5 in row 2; round it"
    ):
        _states(feature, "1", "1.5")


def test_whole_numbers_of_float_type_are_whole_numbers() -> None:
    """3.0 is 3; the value of a missing cell does not matter."""
    column = Column("a", "float", np.array([3.0, 0.0]), np.array([False, True]))
    assert whole_cells("a", column).tolist() == [3.0, 0.0]
    assert INT16.states(column).tolist() == [1, 1]


def test_a_number_beyond_float32_is_an_error() -> None:
    """It would be an infinity on the device."""
    with pytest.raises(
        DataError, match="'a' contains -1e\\+40, which is out of range for float32; clip it"
    ):
        float32_grid("a", column_of_text("a", ["0.5", "-1e40"]))


def test_numeric_columns_pass_as_they_are() -> None:
    """No copy is made."""
    column = column_of_text("a", ["1", "2"])
    assert numeric_cells("a", column) is column


def test_a_feature_without_thresholds_has_one_state() -> None:
    """Every reading is in it."""
    assert _states(Feature("a", "int16", 1), "-5", "5") == [0, 0]


def test_one_column_of_states_per_feature_found_by_name() -> None:
    """The order of the table and its other columns do not matter."""
    table = Table((column_of_text("b", ["y", "x"]), column_of_text("a", ["9", "0"])))
    b = Feature("b", "category", 2, (), ("x", "y"))
    states = states_of((INT16, b), table)
    assert states.dtype == np.int64
    assert states.tolist() == [[2, 1], [0, 0]]


def test_an_absent_column_is_named_beside_those_there_are() -> None:
    """A wrong file is noticed this way."""
    table = Table((column_of_text("b", ["1"]), column_of_text("c\nd", ["1"])))
    said = r"no column 'a', .* its columns are 'b', 'c\\nd'; add it, or use a table"
    with pytest.raises(DataError, match=said):
        states_of((INT16,), table)


def test_long_labels_cost_no_more_than_their_text() -> None:
    """Labels are compared one by one, not padded to the longest."""
    long = "z" * 10**6
    cells = np.array([long] + ["x"] * 9999, dtype=object)
    column = Column("a", "category", cells, np.zeros(10**4, dtype=np.bool_))
    assert LABEL.states(column)[[0, 1]].tolist() == [2, 0]


def test_feature_kinds_know_whether_they_are_numeric() -> None:
    """Thresholds belong to numbers."""
    assert [f.is_numeric for f in (INT16, FLOAT, LABEL, STATE)] == [True, True, False, False]


UINT8 = Feature("a", "uint8", 3, (0, 200), missing_state=1)
INT8 = Feature("a", "int8", 3, (-5,), missing_state=2)


def test_readings_beyond_a_type_of_8_bits_have_the_state_of_its_end() -> None:
    """-128 marks a missing int8; every value of a uint8 is a reading."""
    assert _states(UINT8, "-1", "0", "1", "200", "255", "256", "70000") == [0, 0, 1, 1, 2, 2, 2]
    assert _states(INT8, "-300", "-129", "-128", "-127", "-5", "-4", "500") == [0, 0, 2, 0, 0, 1, 1]


def test_a_missing_cell_of_a_uint8_is_an_error() -> None:
    """The C has no value for it, in a table of states as in one of readings."""
    message = "'a' is missing in row 2, but the model reads it as uint8.*--readings int16"
    with pytest.raises(DataError, match=message):
        _states(UINT8, "1", "?")
    with pytest.raises(DataError, match=message):
        raw_of_table((UINT8,), Table((column_of_text("a", ["1", "?"]),)))


def test_only_a_uint8_has_no_mark_of_a_missing_reading() -> None:
    """Categories and states have one, too."""
    marked = [f.has_marker for f in (INT8, UINT8, INT16, FLOAT, LABEL, STATE)]
    assert marked == [True, False, True, True, True, True]
