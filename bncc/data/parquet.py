"""Parquet tables, with pyarrow: an optional extra of the package."""

import re

from bncc._types import StrPath
from bncc.data.dataset import Table
from bncc.data.files import check_cells
from bncc.data.frames import table_of_frame
from bncc.errors import DataError, extra_command

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
