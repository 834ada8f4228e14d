"""
Comma- and tab-separated tables with one header line, gzip or not.

Parsed by the standard library's strict reader: it starts at once, and it shows the length of
every row, so that a row cut short is an error and not a row of missing cells. The units of columns
come from such a file too, with the header ``column,unit``.
"""

import csv
import io
from collections.abc import Collection, Mapping

from bncc._types import StrPath
from bncc.data.columns import check_names, checked_table, column_of_text
from bncc.data.dataset import Table
from bncc.data.files import check_cells, read_text, suffix_of
from bncc.errors import DataError

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
"""Cell separators by file suffix."""

_OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs", ",": "commas"}


def read_cells(path: StrPath) -> tuple[list[str], list[list[str]]]:
    """Read the names and the rows of a table of comma- or tab-separated cells."""
    separator = SEPARATORS.get(suffix_of(path), ",")
    text = read_text(path)
    rows = _rows(path, text, separator)
    names = rows[0]
    _check_separator(path, names, separator)
    check_names(path, names)
    return names, rows[1:]


def read_csv(path: StrPath) -> Table:
    """Read a table of comma- or tab-separated cells."""
    names, rows = read_cells(path)
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise DataError(
                f"'{path}', row {number}: expected {len(names)} cells, found {len(row)}; fix the "
                "row, with '?' for a missing cell"
            )
    if not rows:
        raise DataError(f"'{path}' has no rows under its header; add at least one")
    cells = zip(*rows, strict=True)
    return checked_table(
        path, [column_of_text(name, column) for name, column in zip(names, cells, strict=True)]
    )


def _rows(path: StrPath, text: str, separator: str) -> list[list[str]]:
    header = text.lstrip().split("\n", 1)[0]
    check_cells(path, text.count("\n"), header.count(separator) + 1)
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        skipinitialspace=True,
        strict=True,
    )
    try:
        rows = [row for row in reader if row]
    except csv.Error as error:
        raise DataError(f"'{path}', line {reader.line_num}: {error}; fix the quotes") from None
    # A line of blanks at the end of a file is no row.
    return [row for row in rows if len(row) > 1 or row[0].strip() or len(rows[0]) == 1]


def _check_separator(path: StrPath, names: list[str], separator: str) -> None:
    if len(names) != 1:
        return
    for other, word in _OTHER_SEPARATORS.items():
        if other != separator and other in names[0]:
            raise DataError(
                f"the cells of '{path}' seem to be separated by {word}; use commas, or tabs and "
                "the suffix .tsv"
            )


UNITS_HEADER = ["column", "unit"]
MAX_UNIT = 30
"""Most characters of a unit."""


def is_unit(text: str) -> bool:
    """Return whether a text can be a unit: short and printable."""
    return 0 < len(text) <= MAX_UNIT and text.isprintable()


def read_units(path: StrPath, columns: Collection[str]) -> Mapping[str, str]:
    """Read the units of columns."""
    reader = csv.reader(
        read_text(path).splitlines(keepends=True), skipinitialspace=True, strict=True
    )
    units: dict[str, str] = {}
    try:
        rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise DataError(
            f"'{path}', line {reader.line_num}: {error}. Fix the quotes of the line"
        ) from None
    if not rows or [cell.strip() for cell in rows[0][1]] != UNITS_HEADER:
        raise DataError(f"'{path}', line 1: expected the header 'column,unit'. Add it")
    for line, row in rows[1:]:
        where = f"'{path}', line {line}"
        if len(row) != 2:
            raise DataError(f"{where}: expected 2 cells, found {len(row)}. Write COLUMN,UNIT")
        name, unit = row[0], row[1].strip()
        if name not in columns:
            listed = ", ".join(repr(column) for column in list(columns)[:8])
            raise DataError(
                f"{where}: there is no column {name!r}. Correct the name; the columns are {listed}"
            )
        if name in units:
            raise DataError(f"{where}: column {name!r} occurs twice. Remove one of its lines")
        if not is_unit(unit):
            raise DataError(
                f"{where}: {unit!r} is not a unit. Write 1 to {MAX_UNIT} printable characters"
            )
        units[name] = unit
    return units
