"""
Comma- and tab-separated tables with one header line, gzip or not.

Parsed by the standard library's strict reader: it starts at once, and it shows the length of
every row, so that a row cut short is an error and not a row of missing cells.
"""

import csv
import io

from bncc._types import StrPath
from bncc.data.columns import check_names, checked_table, column_of_text
from bncc.data.dataset import Table
from bncc.data.files import check_cells, read_text, suffix_of
from bncc.errors import DataError

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
"""File suffixes and what stands between their cells."""

_OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs", ",": "commas"}


def read_csv(path: StrPath) -> Table:
    """Read a table of comma- or tab-separated cells."""
    separator = SEPARATORS.get(suffix_of(path), ",")
    text = read_text(path)
    rows = _rows(path, text, separator)
    names = rows[0]
    _check_separator(path, names, separator)
    check_names(path, names)
    for number, row in enumerate(rows[1:], start=1):
        if len(row) != len(names):
            raise DataError(
                f"'{path}', row {number}: expected {len(names)} cells, found {len(row)}; fix the "
                "row, with '?' for a missing cell"
            )
    if len(rows) < 2:
        raise DataError(f"'{path}' has no rows under its header; add at least one")
    cells = zip(*rows[1:], strict=True)
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
