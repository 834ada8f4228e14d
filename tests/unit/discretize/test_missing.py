"""The policy for missing readings: marks, states, and marginalization."""

import math

import numpy as np
import pytest

from bncc.data.columns import column_of_text
from bncc.data.dataset import Table
from bncc.discretize.feature import Feature, missing_of, states_of
from bncc.discretize.missing import (
    cuts_above_missing,
    is_marked,
    missing_cells,
    missing_mark,
    missing_state_of,
)
from bncc.discretize.readings import is_missing_reading, raw_of_table, states_of_raw

BYTE, WORD = np.dtype(np.uint8), np.dtype(np.uint16)


def test_a_mark_is_what_no_reading_may_be():
    assert [missing_mark(kind, BYTE) for kind in ("int16", "int32")] == [-(2**15), -(2**31)]
    assert missing_mark("int8", BYTE) == -128
    assert math.isnan(missing_mark("float32", BYTE))
    assert math.isnan(missing_mark("uint8", BYTE))  # no reading is missing
    assert [missing_mark("category", BYTE), missing_mark("state", WORD)] == [255, 65535]


@pytest.mark.parametrize("mark", [-32768.0, math.nan])
def test_marks_are_told_from_readings(mark):
    assert is_marked(np.array([0.0, mark, -32767.0]), mark).tolist() == [False, True, False]


def test_the_mark_of_its_kind_is_missing_in_a_table_too():
    column = column_of_text("a", ["?", "-32768", "0"])
    assert missing_cells("int16", column).tolist() == [True, True, False]
    assert missing_cells("int32", column).tolist() == [True, False, False]
    assert missing_cells("float32", column).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("is_missing", "states", "state"),
    [
        ([0, 1, 0], [2, 0, 2], 3),  # its own
        ([0, 0, 0], [2, 1, 2], 2),  # the most frequent
        ([0, 0], [2, 1], 1),  # the smallest of them
        ([1, 1], [0, 0], 0),
        ([], [], 0),
    ],
)
def test_rows_of_training_say_which_state_missing_readings_have(is_missing, states, state):
    assert missing_state_of(3, np.array(is_missing, bool), np.array(states, int)) == state


def test_a_sum_has_one_cut_above_missing_readings():
    cuts = cuts_above_missing("int16", (2, 5))
    assert cuts == (-32768, 2, 5)
    assert cuts_above_missing("int16", cuts) == cuts


def test_both_ways_from_a_cell_agree():
    """States of a table's cells are those of the readings passed to the C."""
    features = (
        Feature("n", "int16", 3, (2, 5), missing_state=1),
        Feature("f", "float32", 4, (0.5, 1.5), missing_state=3),
        Feature("c", "category", 3, categories=("x", "y"), missing_state=2),
        Feature("s", "state", 4, missing_state=3),
    )
    cells = {
        "n": ["?", "-32768", "-40000", "4"],
        "f": ["nan", "0.5", "-32768", "9"],
        "c": ["", "x", "unseen", "y"],
        "s": ["?", "3", "9", "0"],
    }
    table = Table(tuple(column_of_text(name, texts) for name, texts in cells.items()))
    X, R = states_of(features, table), raw_of_table(features, table)
    assert X.tolist() == [[1, 3, 2, 3], [1, 0, 0, 3], [0, 0, 2, 3], [1, 2, 1, 0]]
    assert np.array_equal(states_of_raw(features, R), X)
    marked = np.stack([is_missing_reading(f, R[:, i]) for i, f in enumerate(features)], axis=1)
    is_missing = missing_of(features, table)
    assert is_missing.tolist() == [[True] * 4, [True, False, False, False], *[[False] * 4] * 2]
    # A label that training has not seen and a state out of range are passed as missing.
    assert np.argwhere(marked & ~is_missing).tolist() == [[2, 2], [2, 3]]
    assert not (is_missing & ~marked).any()
