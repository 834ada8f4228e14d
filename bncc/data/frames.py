"""Tables from pandas frames and numpy arrays, and from Parquet files, which become frames."""

import re
from collections.abc import Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from bncc._types import AnyArray, StrPath
from bncc.data.columns import category_column, checked_table, column_of_numbers, column_of_text
from bncc.data.dataset import Column, Table
from bncc.data.files import check_cells
from bncc.errors import DataError, extra_command

if TYPE_CHECKING:
    import pandas as pd

_SOURCE = "the data frame"


def table_of_frame(frame: "pd.DataFrame") -> Table:
    """
    Make a table of a pandas frame.

    Numbers keep the kind of their type: ``integer`` for an integer type (``float`` if a value
    leaves int32), ``float`` for a floating-point type, even if all its values are whole.
    Categorical and boolean columns are categories. Text is typed as in a CSV file. None, NaN and
    NA are missing.
    """
    columns = [
        column_of_series(str(name), frame.iloc[:, i]) for i, name in enumerate(frame.columns)
    ]
    return checked_table(_SOURCE, columns)


def column_of_series(name: str, series: "pd.Series[Any]") -> Column:
    """Make a column of a pandas series, by the rules of `table_of_frame`."""
    missing = series.isna().to_numpy(dtype=np.bool_)
    kind = getattr(series.dtype, "kind", "O")
    if str(series.dtype) == "category" or kind == "b":
        texts = [str(cell) for cell in series.astype(object)]
        return category_column(name, texts, missing)
    if kind in "iuf":
        number_type = {"i": np.int64, "u": np.uint64, "f": np.float64}[kind]
        numbers = series.to_numpy(dtype=number_type, na_value=0)
        return column_of_numbers(name, numbers, missing, keep_float=True)
    if kind in "mMc":
        raise DataError(
            f"column {name!r} has type {series.dtype}, which is not supported; convert it to "
            "numbers, or drop it"
        )
    return _column_of_objects(name, series.to_numpy(dtype=object), missing)


def table_of_arrays(X: AnyArray, names: Sequence[str] | None = None) -> Table:
    """
    Make a table of a numpy matrix; its type decides whether readings are whole.

    Shapes: `X` (n_rows, n_columns) array.
    """
    X = np.asarray(X)
    if X.ndim != 2:
        raise DataError(f"readings must be a matrix of rows and columns, not {X.ndim}-dimensional")
    if names is None:
        names = [f"x{i}" for i in range(X.shape[1])]
    columns = [column_of_array(name, X[:, i]) for i, name in enumerate(names)]
    return checked_table("the array", columns)


def column_of_array(name: str, cells: AnyArray) -> Column:
    """
    Make a column of a numpy vector, by the rules of `table_of_arrays`.

    Shapes: `cells` (n_rows,) array.
    """
    missing = np.zeros(len(cells), dtype=np.bool_)
    if cells.dtype.kind in "biu":
        return column_of_numbers(name, cells if cells.dtype.kind != "b" else cells + 0, missing)
    if cells.dtype.kind == "f":
        return column_of_numbers(name, cells.astype(np.float64), missing, keep_float=True)
    if cells.dtype.kind == "U":
        return column_of_text(name, cells.tolist())
    if cells.dtype.kind == "O":
        import pandas as pd  # late: objects are rare, and pandas takes a second to import

        return _column_of_objects(name, cells, pd.isna(cells))
    raise DataError(
        f"column {name!r} has type {cells.dtype}, which is not supported; convert it to numbers"
    )


def _column_of_objects(name: str, cells: AnyArray, missing: AnyArray) -> Column:
    present = cells[~missing]
    if len(present) and all(_is_number(cell) for cell in present):
        is_int = all(isinstance(cell, Integral) for cell in present)
        filled = np.where(missing, 0, cells)
        numbers = np.array([_float(cell) for cell in filled], dtype=np.float64)
        return column_of_numbers(name, numbers, missing, keep_float=not is_int)
    pairs = zip(cells, missing, strict=True)
    return column_of_text(name, ["?" if is_missing else str(cell) for cell, is_missing in pairs])


def _is_number(cell: object) -> bool:
    return isinstance(cell, Real) and not isinstance(cell, bool | np.bool_)


def _float(number: Real) -> float:
    try:
        return float(number)
    except OverflowError:  # an int of more than 308 digits
        return float("inf")


_INDEX = re.compile(r"__index_level_\d+__")
"""The name under which pandas writes an index that has none."""


def read_parquet(path: StrPath) -> Table:
    """Read a Parquet table."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise DataError(
            f"'{path}' cannot be read without pyarrow; run {extra_command('parquet')}"
        ) from None
    try:
        with pq.ParquetFile(path) as file:
            check_cells(path, file.metadata.num_rows, file.metadata.num_columns)
            for field in file.schema_arrow:
                if pa.types.is_nested(field.type):
                    raise DataError(
                        f"column {field.name!r} of '{path}' is nested; store one reading per cell"
                    )
            table = file.read()
        index = [name for name in table.column_names if _INDEX.fullmatch(name)]
        frame = table.drop_columns(index).to_pandas(integer_object_nulls=True, ignore_metadata=True)
        # Text stays in Arrow's arrays: bytes that are no UTF-8 are met only where cells are read.
        return table_of_frame(frame)
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())[:120]
        raise DataError(
            f"'{path}' is a truncated or corrupt Parquet file ({reason}); download or copy it again"
        ) from None
