"""Tables from pandas frames and numpy arrays."""

import decimal

import numpy as np
import pandas as pd
import pytest

from bncc.data.dataset import Column
from bncc.data.frames import column_of_array, table_of_arrays, table_of_frame
from bncc.errors import DataError


def _cells(column: Column) -> list[object]:
    values = zip(column.values.tolist(), column.missing, strict=True)
    return [None if gap else value for value, gap in values]


@pytest.mark.parametrize(
    ("series", "kind", "cells"),
    [
        (pd.Series([1, 2]), "integer", [1, 2]),
        (pd.Series([1, 2], dtype="uint8"), "integer", [1, 2]),
        (pd.Series([1, None], dtype="Int64"), "integer", [1, None]),
        (pd.Series([2**40, 1]), "float", [2.0**40, 1.0]),
        (pd.Series([2**63, 1], dtype="uint64"), "float", [2.0**63, 1.0]),
        (pd.Series([1.0, 2.0]), "float", [1.0, 2.0]),
        (pd.Series([1.5, None], dtype="Float64"), "float", [1.5, None]),
        (pd.Series([1.5, np.nan], dtype="float32"), "float", [1.5, None]),
        (pd.Series([True, False]), "category", ["True", "False"]),
        (pd.Series([True, None], dtype="boolean"), "category", ["True", None]),
        (pd.Series(["x", "y"]), "category", ["x", "y"]),
        (pd.Series(["x", None], dtype="string"), "category", ["x", None]),
        (pd.Series(["1", "?"]), "integer", [1, None]),
        (pd.Series([1, 2, 1]).astype("category"), "category", ["1", "2", "1"]),
        (pd.Series(["b", None]).astype("category"), "category", ["b", None]),
        (pd.Series([1, 2], dtype=object), "integer", [1, 2]),
        (pd.Series([1, None, 3], dtype=object), "integer", [1, None, 3]),
        (pd.Series([1, 2.0], dtype=object), "float", [1.0, 2.0]),
        (pd.Series([1, "x"], dtype=object), "category", ["1", "x"]),
        (pd.Series([True, "x"], dtype=object), "category", ["True", "x"]),
        (pd.Series([decimal.Decimal("1.5"), pd.NA], dtype=object), "float", [1.5, None]),
        (pd.Series([None, None], dtype=object), "category", [None, None]),
    ],
)
def test_the_type_of_a_series_decides(series: pd.Series, kind: str, cells: list[object]) -> None:
    """Numbers by type, text as in a CSV, everything with missing cells."""
    (column,) = table_of_frame(series.to_frame("a")).columns
    assert (column.name, column.kind, _cells(column)) == ("a", kind, cells)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])}), "'a' has type datetime64"),
        (pd.DataFrame({"a": [np.inf]}), "'a' contains an infinite number in row 1"),
        (pd.DataFrame({"a": [10**400]}, dtype=object), "'a' contains an infinite number"),
        (pd.DataFrame({"a": [1j]}), "has type complex128, which is not supported"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns named 'a'"),
        (pd.DataFrame({"": [1]}), "column 1 of 'the data frame' has no name"),
        (pd.DataFrame({"a": []}), "has no rows"),
        (pd.DataFrame(index=[0, 1]), "has no columns"),
    ],
)
def test_what_is_no_reading_is_refused(frame: pd.DataFrame, message: str) -> None:
    """In one sentence."""
    with pytest.raises(DataError, match=message):
        table_of_frame(frame)


def test_names_that_are_not_text_are_taken_by_their_text() -> None:
    """As pandas numbers columns by default; the frame itself is left alone."""
    frame = pd.DataFrame([[1, None]], dtype=object)
    assert table_of_frame(frame).names == ("0", "1")
    assert frame.iloc[0, 1] is None


@pytest.mark.parametrize(
    ("X", "kind", "cells"),
    [
        (np.array([[1], [2]], dtype=np.int8), "integer", [1, 2]),
        (np.array([[True], [False]]), "integer", [1, 0]),
        (np.array([[2**40], [0]]), "float", [2.0**40, 0.0]),
        (np.array([[1.0], [np.nan]], dtype=np.float16), "float", [1.0, None]),
        (np.array([["x"], ["?"]]), "category", ["x", None]),
        (np.array([["1"], ["2"]]), "integer", [1, 2]),
        (np.array([[1], [None]], dtype=object), "integer", [1, None]),
        (np.array([[1.0], [pd.NA]], dtype=object), "float", [1.0, None]),
        (np.array([["x"], [np.nan]], dtype=object), "category", ["x", None]),
    ],
)
def test_the_type_of_an_array_decides(X: np.ndarray, kind: str, cells: list[object]) -> None:
    """As for frames, but booleans are 0 and 1."""
    (column,) = table_of_arrays(X).columns
    assert (column.name, column.kind, _cells(column)) == ("x0", kind, cells)


def test_columns_of_an_array_may_be_named() -> None:
    """Otherwise they are x0, x1, ..."""
    assert table_of_arrays(np.zeros((1, 2)), ["a", "b"]).names == ("a", "b")
    assert table_of_arrays(np.zeros((1, 2))).names == ("x0", "x1")


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros(3), "must be a matrix of rows and columns, not 1-dimensional"),
        (np.zeros((0, 3)), "has no rows"),
        (np.zeros((3, 0)), "has no columns"),
        (np.array([[np.inf]]), "'x0' contains an infinite number in row 1"),
        (np.array([[b"x"]]), "has type"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), "has type datetime64"),
    ],
)
def test_arrays_that_are_no_readings_are_refused(X: np.ndarray, message: str) -> None:
    """In one sentence."""
    with pytest.raises(DataError, match=message):
        table_of_arrays(X)


def test_an_array_of_objects_is_left_alone() -> None:
    """No cell of the caller's is overwritten."""
    cells = np.array([1, None], dtype=object)
    column_of_array("a", cells)
    assert cells.tolist() == [1, None]
