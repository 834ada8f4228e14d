"""Labels of intervals: a table of recording, start, end and label."""

from collections.abc import Mapping

import numpy as np

from bncc._types import AnyArray, FloatArray, IntArray, StrPath
from bncc.data.dataset import Column
from bncc.data.readers import read_table
from bncc.data.target import label_texts
from bncc.errors import DataError

LABEL = "label"
_NAMES = ("recording", "start", "end", LABEL)


def labels_of_intervals(
    path: StrPath, positions: Mapping[str, AnyArray]
) -> tuple[tuple[str, ...], list[IntArray]]:
    """
    Return all labels, and for each recording the index of each sample's label, -1 without one.

    An interval begins at its start and ends before its end.

    Shapes: `positions` has the time or the number of each sample of a recording, (n,).
    """
    table = read_table(path)
    named = {column.name: column for column in table.columns}
    for name in _NAMES:
        if name not in named or named[name].missing.any():
            raise DataError(
                f"'{path}' has no column {name!r}, or a row without it; write the columns "
                f"{', '.join(_NAMES)}"
            )
    recordings, texts = label_texts(named["recording"]), label_texts(named[LABEL])
    starts, ends = (_numbers(path, named[name]) for name in ("start", "end"))
    labels = tuple(sorted(set(texts)))
    found = {name: np.full(len(of), -1, dtype=np.int64) for name, of in positions.items()}
    for row, (recording, text) in enumerate(zip(recordings, texts, strict=True)):
        where = f"'{path}', row {row + 1}"
        if recording not in found:
            raise DataError(f"{where}: there is no recording {recording!r}; correct the name")
        if not starts[row] < ends[row]:
            raise DataError(f"{where}: the interval does not end after its start; correct it")
        of = positions[recording]
        inside = (of >= starts[row]) & (of < ends[row])
        if (found[recording][inside] >= 0).any():
            raise DataError(f"{where}: the interval overlaps with one before; shorten one of them")
        found[recording][inside] = labels.index(text)
    return labels, list(found.values())


def _numbers(path: StrPath, column: Column) -> FloatArray:
    if column.kind == "category":
        raise DataError(f"'{path}': column {column.name!r} has text; write numbers")
    return column.values.astype(np.float64)
