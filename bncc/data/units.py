"""Units of columns: a CSV file with the header ``column,unit``."""

import csv
from collections.abc import Collection, Mapping

from bncc._types import StrPath
from bncc.data.files import read_text
from bncc.errors import DataError

HEADER = ["column", "unit"]
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
    if not rows or [cell.strip() for cell in rows[0][1]] != HEADER:
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
