"""
Missing readings: which are, which state they have, and when they are summed out instead.

A cell of a table is missing where `bncc.data.columns` marks its text (``?``, empty, ``nan``)
or `bncc.data.frames` of its value (NaN, None), `Column.missing`; a number that equals the mark of
its type is missing too, `missing_cells`. A sensor's reading is missing where it is that mark,
`missing_mark`, as which a table's missing cells are handed to the C. So both ways agree.

A missing reading has the state `Feature.missing_state`, which `missing_state_of` chooses in
training; in a sum of tables it lies below all others, `cuts_above_missing`. A label that training
has not seen and a state out of range have that state too. Only cells that are missing are summed
out instead, and only where that is asked for (``--missing marginal``, `bncc.model.missing`).
"""

import numpy as np

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.data.dataset import Column

MISSING_INT = {"int8": -(2**7), "int16": -(2**15), "int32": -(2**31)}
"""
Raw value that marks a missing reading, here as in the C; a float marks it by NaN.

A uint8 has no such value: columns with missing cells have another kind.
"""
LOWEST: dict[str, int | float] = {
    **MISSING_INT,
    "float32": -float(np.finfo(np.float32).max),
}
"""By kind, a bound below every reading that is not missing."""
LOWEST_HALF = float(np.array(0xFF7F0000, dtype=np.uint32).view(np.float32))
"""Such a bound of a float that the high half of its key decides."""


def missing_mark(kind: str, number_type: np.dtype[np.unsignedinteger]) -> float:
    """
    Return the reading that marks a missing one; of categories and states the largest number.

    It is NaN, which no reading equals, for a uint8.
    """
    if kind in ("float32", "uint8"):
        return float("nan")
    return MISSING_INT[kind] if kind in MISSING_INT else int(np.iinfo(number_type).max)


def is_marked(readings: FloatArray, mark: float) -> BoolArray:
    """
    Return which readings are marked as missing.

    Shapes: `readings` (n,) float64; returns (n,) bool.
    """
    return np.asarray(np.isnan(readings) | (readings == mark))


def missing_cells(kind: str, column: Column) -> BoolArray:
    """
    Return which cells of a column are missing: those without a reading, and marks of its kind.

    Shapes: returns (n_rows,) bool.
    """
    mark = MISSING_INT.get(kind)
    return column.missing if mark is None else np.asarray(column.missing | (column.values == mark))


def missing_state_of(n_states: int, is_missing: BoolArray, states: IntArray) -> int:
    """
    Return the state of missing readings by training rows.

    It is one of their own, ``n_states``, where some rows have a reading and some have none; the
    most frequent state where all rows have one; else 0.

    Shapes: `is_missing` (n_rows,) bool; `states` (n_rows,) int.
    """
    if is_missing.any():
        return 0 if is_missing.all() else n_states
    return int(np.bincount(states).argmax()) if len(states) else 0


def cuts_above_missing(kind: str, cuts: tuple[int | float, ...]) -> tuple[int | float, ...]:
    """Return a number's cuts with one that has missing readings alone below it."""
    return cuts if cuts[:1] == (LOWEST[kind],) else (LOWEST[kind], *cuts)
