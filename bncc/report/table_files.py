"""Tables of results as CSV and Parquet files."""

import csv
import io
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from bncc._types import StrPath
from bncc.errors import OptionError, extra_command

FORMS: Mapping[str, str] = {".csv": "csv", ".parquet": "parquet"}
"""Formats by suffix."""

Record = Mapping[str, Any]
"""Values of a row by column: text, numbers, booleans, None, and mappings of these."""


def form_of(path: StrPath) -> str:
    """Return the format that a suffix selects, or reject it before any work is done."""
    form = FORMS.get(Path(path).suffix.lower())
    if form is None:
        raise OptionError(
            f"a table is written as {' or '.join(FORMS)}, not as '{path}'; name a file such as "
            f"{Path(path).stem or 'results'}.csv"
        )
    check_form(form)
    return form


def check_form(form: str) -> None:
    """Reject Parquet without pyarrow."""
    if form == "parquet":
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise OptionError(
                f"Parquet files need pyarrow; run {extra_command('parquet')}, or name a .csv"
            ) from None


def table_bytes(records: Sequence[Record], form: str) -> bytes:
    """
    Return a table as a file of a format.

    Columns are those of all records, in the order in which they occur. A mapping becomes a column
    for each of its keys. In CSV missing values are empty; in Parquet they are nulls, and whole
    numbers stay whole.
    """
    rows = flattened(records)
    names = list(dict.fromkeys(name for row in rows for name in row))
    if form == "parquet":
        return _parquet(rows, names)
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode("utf-8", "backslashreplace")


def flattened(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Return records whose values are no mappings; None has no column if others are mappings."""
    nested = {k for record in records for k, v in record.items() if isinstance(v, Mapping)}
    return [
        {
            name: each
            for key, value in record.items()
            for name, each in (
                [(f"{key}_{sub}", part) for sub, part in value.items()]
                if isinstance(value, Mapping)
                else [(key, value)] * (value is not None or key not in nested)
            )
        }
        for record in records
    ]


def _parquet(rows: Sequence[Record], names: Sequence[str]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {name: _column([row.get(name) for row in rows], pa) for name in names}
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def _column(values: Sequence[Any], pa: Any) -> Any:
    """Return a column: of one type if its values have one, of numbers, or else of text."""
    kinds = {_kind_of(value) for value in values if value is not None}
    if not kinds:
        return pa.nulls(len(values))
    kind = kinds.pop() if len(kinds) == 1 else float if kinds == {int, float} else str
    if kind is not str:
        return pa.array([None if value is None else kind(value) for value in values])
    texts = (None if value is None else str(value) for value in values)
    return pa.array([
        None if text is None else text.encode("utf-8", "backslashreplace").decode()
        for text in texts
    ], pa.string())  # fmt: skip


def _kind_of(value: Any) -> type[bool | int | float | str]:
    """Return the type that a value has in a column, whether it is NumPy's or Python's."""
    if isinstance(value, bool | np.bool_):
        return bool
    if isinstance(value, Integral):
        return int
    return float if isinstance(value, Real) else str
