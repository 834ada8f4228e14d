"""Typing of cells: one rule for numbers, labels and missing cells."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.data.columns import (
    check_names,
    checked_table,
    column_of_numbers,
    column_of_text,
    first_text_row,
)
from bncc.errors import DataError


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["1", "-2", "+3"], "integer", [1, -2, 3]),
        (["1.0", "2e3", "-0.0"], "integer", [1, 2000, 0]),
        (["2147483647", "-2147483647"], "integer", [2147483647, -2147483647]),
        (["2147483648"], "float", [2147483648.0]),
        (["-2147483648"], "float", [-2147483648.0]),
        (["1", "0.5"], "float", [1.0, 0.5]),
        ([" 7 ", "8\t"], "integer", [7, 8]),
        (["1", "x"], "category", ["1", "x"]),
        (["1_000"], "category", ["1_000"]),
        (["0x10"], "category", ["0x10"]),
        (["1,5"], "category", ["1,5"]),
        (["1", "banan"], "category", ["1", "banan"]),
        (["inf", "x"], "category", ["inf", "x"]),
        (["true", "false"], "category", ["true", "false"]),
    ],
)
def test_cells_decide_the_kind(cells: list[str], kind: str, values: list[object]) -> None:
    """Numbers throughout, whole numbers throughout, or labels."""
    column = column_of_text("a", cells)
    assert column.kind == kind
    assert column.values.tolist() == values
    assert not column.missing.any()


def test_values_have_the_type_of_their_kind() -> None:
    """int64, float64, object; never -0.0."""
    assert column_of_text("a", ["1"]).values.dtype == np.int64
    assert column_of_text("a", ["x"]).values.dtype == object
    floats = column_of_text("a", ["-0.0", "0.5"]).values
    assert floats.dtype == np.float64
    assert not np.signbit(floats).any()


@pytest.mark.parametrize("gap", ["?", "", "  ", "nan", "NaN", "NAN", "-nan", "+NaN", " ? "])
def test_missing_cells(gap: str) -> None:
    """Columns with missing cells can be numbers; the cells hold zero or an empty text."""
    for cells, value in ((["1", gap], 0), (["0.5", gap], 0.0), (["x", gap], "")):
        column = column_of_text("a", cells)
        assert column.missing.tolist() == [False, True]
        assert column.values[1] == value
    assert column_of_text("a", ["1", gap]).kind == "integer"


def test_a_column_without_any_cell_is_a_category() -> None:
    """It has rows but no label."""
    column = column_of_text("a", ["?", ""])
    assert (column.kind, column.values.tolist()) == ("category", ["", ""])
    assert column.missing.all()


@pytest.mark.parametrize("cell", ["inf", "-Infinity", "1e999"])
def test_infinities_are_refused_by_column_and_row(cell: str) -> None:
    """Also a number too large for float64."""
    with pytest.raises(DataError, match="column 'a' contains an infinite number in row 3; clip it"):
        column_of_text("a", ["1", "?", cell])


def test_numbers_of_floating_type_may_stay_so() -> None:
    """An array of float64 is a column of floats though its values happen to be whole."""
    gap = np.zeros(2, dtype=np.bool_)
    assert column_of_numbers("a", np.array([1.0, 2.0]), gap).kind == "integer"
    assert column_of_numbers("a", np.array([1.0, 2.0]), gap, keep_float=True).kind == "float"
    column = column_of_numbers("a", np.array([1.0, np.nan]), gap)
    assert (column.kind, column.missing.tolist()) == ("integer", [False, True])
    small = column_of_numbers("a", np.array([200, 7], dtype=np.uint8), gap)
    assert (small.kind, small.values.dtype) == ("integer", np.int64)
    large = column_of_numbers("a", np.array([2**63, 7], dtype=np.uint64), gap)
    assert (large.kind, large.values[0]) == ("float", 2.0**63)


def test_the_first_text_cell_is_found() -> None:
    """Missing cells and numbers come before it."""
    assert first_text_row(column_of_text("a", ["?", "1", "x"])) == 2
    assert first_text_row(column_of_text("a", ["?", "?"])) == 0


HOSTILE = ['a"b', "line\nbreak", "*/", "int", "é漢字", "a'b", "\\", "%s{}", "x" * 5000, "__class__"]


def test_hostile_names_are_kept_as_they_are() -> None:
    """No name reaches C unescaped, so none need be refused."""
    table = checked_table("f", [column_of_text(name, ["1"]) for name in HOSTILE])
    assert table.names == tuple(HOSTILE)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "'f' has no columns"),
        (["a", "b", "a"], "'f' has two columns named 'a'; rename one"),
        (["a", ""], "column 2 of 'f' has no name; name it in the header, or delete it"),
        ([" "], "column 1 of 'f' has no name"),
        (["a\nb", "a\nb"], r"two columns named 'a\\nb'"),
    ],
)
def test_names_must_be_there_and_differ(names: list[str], message: str) -> None:
    """The message is one line even when the name is not."""
    with pytest.raises(DataError, match=message) as error:
        check_names("f", names)
    assert "\n" not in str(error.value)


def test_a_table_needs_rows() -> None:
    """One at least."""
    with pytest.raises(DataError, match="'f' has no rows; add at least one"):
        checked_table("f", [column_of_text("a", [])])


@given(st.lists(st.text(max_size=6), min_size=1, max_size=8))
def test_any_text_is_typed_or_refused_in_one_sentence(cells: list[str]) -> None:
    """No other error is raised, and labels keep their text except surrounding blanks."""
    try:
        column = column_of_text("a", cells)
    except DataError:
        assert any(np.isinf(float(cell)) for cell in cells if cell.strip(" ?"))
        return
    if column.kind == "category":
        kept = [cell.strip() for cell, gap in zip(cells, column.missing, strict=True) if not gap]
        assert column.values[~column.missing].tolist() == kept


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_are_read_to_the_last_bit(numbers: list[float]) -> None:
    """The output of ``repr`` is read back exactly."""
    column = column_of_text("a", [repr(number) for number in numbers])
    assert column.values.tolist() == numbers


CELLS = st.sampled_from(["1", " 1", "2.5", "-0.0", "?", "", "nan", "x", "1_0", "2147483648"])


@given(st.lists(CELLS, min_size=1, max_size=5), st.integers(2, 4))
def test_repeated_cells_are_typed_as_each_alone(cells: list[str], times: int) -> None:
    """Most cells of such a column are repeated, and each different one is typed once."""
    once, often = column_of_text("a", cells), column_of_text("a", cells * times)
    assert (often.name, often.kind, often.has_gaps) == (once.name, once.kind, once.has_gaps)
    assert often.values.tolist() == once.values.tolist() * times
    assert often.missing.tolist() == once.missing.tolist() * times


def test_an_infinite_number_among_repeated_ones_is_named_by_its_row() -> None:
    with pytest.raises(DataError, match="infinite number in row 7"):
        column_of_text("a", ["1", "2"] * 3 + ["inf"] + ["1", "2"] * 3)
