"""
Typing of cells: which column is numeric, which numbers are whole, which cells are missing.

One rule for text, wherever it comes from: ``?``, the empty cell and ``nan`` in any case are
missing; a column whose other cells are all numbers is numeric, ``integer`` when all of them are
whole and lie within int32 (its smallest value, the C's mark of a missing reading, excluded),
else ``float``; anything else, and a column without any cell, is a category.
"""

from collections.abc import Sequence

import numpy as np

from bncc._types import AnyArray, BoolArray, StrPath
from bncc.data.dataset import Column, Table
from bncc.errors import DataError

INT32_MAX = 2**31 - 1


def column_of_text(name: str, cells: Sequence[str]) -> Column:
    """Type a column of text cells, each different one once where most are repeated."""
    different = list(dict.fromkeys(cells))
    if 2 * len(different) > len(cells):
        return _typed(name, cells)
    try:
        column = _typed(name, different)
    except DataError:
        return _typed(name, cells)  # Its message has the number of the row
    place = {cell: k for k, cell in enumerate(different)}
    return column.take(np.fromiter(map(place.__getitem__, cells), np.int64, len(cells)))


def _typed(name: str, cells: Sequence[str]) -> Column:
    texts = [cell.strip() for cell in cells]
    missing = np.array([not text or text == "?" or _is_nan(text) for text in texts], np.bool_)
    numbers = None if missing.all() else _numbers(texts, missing)
    if numbers is None:
        return category_column(name, texts, missing)
    return column_of_numbers(name, numbers, missing)


def _is_nan(text: str) -> bool:
    # C's printf writes a NaN with its sign.
    return len(text) in (3, 4) and text.lower() in ("nan", "-nan", "+nan")


def _numbers(texts: list[str], missing: BoolArray) -> AnyArray | None:
    pairs = zip(texts, missing.tolist(), strict=True)
    filled = ["0" if is_missing else text for text, is_missing in pairs]
    try:
        numbers = np.array([float(text) for text in filled], dtype=np.float64)
    except ValueError:
        return None
    # float() also takes 1_000, which no other program writes as a number.
    return None if any("_" in text for text in filled) else numbers


def first_text_row(column: Column) -> int:
    """Return the first row of a category column whose cell is no number, to point at it."""
    for row, (cell, is_missing) in enumerate(zip(column.values, column.missing, strict=True)):
        if not is_missing and _numbers([cell], np.zeros(1, dtype=np.bool_)) is None:
            return row
    return 0


def category_column(name: str, texts: Sequence[str], missing: BoolArray) -> Column:
    """
    Make a column of labels.

    Shapes: `missing` (n_rows,) bool.
    """
    values = np.empty(len(texts), dtype=object)
    values[:] = texts
    values[missing] = ""
    return Column(name, "category", values, missing)


def column_of_numbers(
    name: str, numbers: AnyArray, missing: BoolArray, *, keep_float: bool = False
) -> Column:
    """
    Make a numeric column, ``integer`` if all its numbers are whole and within int32.

    Shapes: `numbers` (n_rows,) int or float; `missing` (n_rows,) bool.
    """
    is_float = np.issubdtype(numbers.dtype, np.floating)
    if is_float:
        missing = missing | np.isnan(numbers)
    filled = np.where(missing, numbers.dtype.type(0), numbers)
    if is_float and not np.isfinite(filled).all():
        row = int(np.flatnonzero(~np.isfinite(filled))[0])
        raise DataError(
            f"column {name!r} contains an infinite number in row {row + 1}; clip it, or mark it "
            "as missing with '?'"
        )
    whole = not is_float or (not keep_float and bool((filled == np.floor(filled)).all()))
    if whole and (not len(filled) or (filled.max() <= INT32_MAX and filled.min() >= -INT32_MAX)):
        return Column(name, "integer", filled.astype(np.int64), missing)
    return Column(name, "float", filled.astype(np.float64) + 0.0, missing)


def checked_table(source: StrPath, columns: Sequence[Column]) -> Table:
    """Gather columns into a table after checking their names."""
    check_names(source, [column.name for column in columns])
    if not len(columns[0].values):
        raise DataError(f"'{source}' has no rows; add at least one")
    return Table(tuple(columns))


def check_names(source: StrPath, names: Sequence[str]) -> None:
    """Refuse a header without names, with an empty name, or with a name used twice."""
    if not names:
        raise DataError(f"'{source}' has no columns; add at least one")
    seen: set[str] = set()
    for position, name in enumerate(names, start=1):
        if not name.strip():
            raise DataError(
                f"column {position} of '{source}' has no name; name it in the header, or delete "
                "it if it contains row numbers"
            )
        if name in seen:
            raise DataError(
                f"'{source}' has two columns named {name!r}; rename one (is the first line "
                "really a header?)"
            )
        seen.add(name)
