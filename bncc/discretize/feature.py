"""A feature: the mapping of a raw column to states, the same in Python and in C."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bncc._types import AnyArray, BoolArray, IntArray
from bncc.data.columns import column_of_text, first_text_row
from bncc.data.dataset import Column, Table
from bncc.discretize.missing import LOWEST, LOWEST_HALF, MISSING_INT, missing_cells
from bncc.errors import DataError

FeatureKind = Literal["int8", "uint8", "int16", "int32", "float32", "category", "state"]

LARGEST_INT = {"int8": 2**7 - 1, "uint8": 2**8 - 1, "int16": 2**15 - 1, "int32": 2**31 - 1}
"""The largest reading of each integer kind."""
SMALLEST_INT = {kind: MISSING_INT[kind] + 1 if kind in MISSING_INT else 0 for kind in LARGEST_INT}
"""The smallest reading of each: above the marker, or zero where there is none."""
DIFFERENCE_KIND: Mapping[FeatureKind, FeatureKind] = {
    "int8": "int16",
    "uint8": "int16",
    "int16": "int32",
}
"""Type of the difference of two readings of a type: it holds every one, markers included."""


@dataclass(frozen=True)
class Feature:
    """One input of a classifier and the rule that turns its raw value into a state."""

    name: str  # Column name, any text
    # The type of the raw value in the C. ``category`` is a number of `categories`; ``state`` is a
    # state already.
    kind: FeatureKind
    n_states: int  # Number of states, >= 1, the state of missing readings included
    # For numeric kinds, strictly ascending, in the sensor's own unit; the state is the number of
    # thresholds below the value: ``sum(value > t)``. Integers for integer kinds, values of float32
    # for ``float32`` (never -0.0).
    thresholds: tuple[int | float, ...] = ()
    categories: tuple[str, ...] = ()  # For ``category``: the labels, state k being category k
    # The state of a missing reading, of a category not seen in training and of a state out of
    # range: a state of its own, the last, when training rows had missing cells in this column;
    # otherwise the most frequent state of the training rows
    missing_state: int = 0
    # Numbers of two features, the first minus the second, whose readings are subtracted; None for a
    # feature with readings of its own. A missing reading enters as the marker of its type.
    difference: tuple[int, int] | None = None

    @property
    def is_numeric(self) -> bool:
        """True if raw values are compared with thresholds."""
        return self.kind == "float32" or self.kind in LARGEST_INT

    @property
    def has_marker(self) -> bool:
        """True if some raw value is missing; all of a ``uint8`` and of differences are readings."""
        return self.kind != "uint8" and self.difference is None

    @property
    def has_missing_state(self) -> bool:
        """True if missing readings of a number have a state of their own, after its bins."""
        return self.n_states > len(self.thresholds) + 1

    @property
    def has_missing_below(self) -> bool:
        """True if the first threshold is below every reading, so that bin 0 is missing."""
        is_half = self.kind == "float32" and self.thresholds[:1] == (LOWEST_HALF,)
        return is_half or self.thresholds[:1] == (LOWEST.get(self.kind),)

    def states(self, column: Column) -> IntArray:
        """
        Return the state of every cell of a column.

        Shapes: returns (n_rows,) int64, states in ``0 .. n_states - 1``.
        """
        if self.kind == "category":
            codes = category_codes(self, column)
            return np.where(codes < 0, self.missing_state, codes)
        numbers = numeric_cells(self.name, column)
        check_present(self, numbers)
        if self.kind == "float32":
            values = float32_grid(self.name, numbers)
        else:
            values = whole_cells(self.name, numbers)
        if self.kind == "state":
            known = np.where((values >= 0) & (values < self.n_states), values, self.missing_state)
        else:
            if self.kind in LARGEST_INT:
                values = saturated(self.kind, values)
            known = self._n_below(values)
        is_missing = missing_cells(self.kind, numbers)
        return np.where(is_missing, self.missing_state, known).astype(np.int64)

    def states_of_difference(self, first: AnyArray, second: AnyArray) -> IntArray:
        """
        Return the states of a difference.

        Shapes: `first`, `second` (n_rows,) int64 or float64, readings of the type; returns
        (n_rows,) int64.
        """
        return self._n_below(first - second).astype(np.int64)

    def _n_below(self, values: AnyArray) -> IntArray:
        thresholds = np.asarray(self.thresholds, dtype=np.float64)
        return np.searchsorted(thresholds, values, side="left")


def inputs_of(features: Sequence[Feature]) -> tuple[Feature, ...]:
    """Return the features with readings of their own, which come before all differences."""
    return tuple(feature for feature in features if feature.difference is None)


def subtracted(features: Iterable[Feature]) -> frozenset[int]:
    """Return the inputs whose readings form the differences among some features."""
    return frozenset(k for feature in features for k in feature.difference or ())


def integer_readings(feature: Feature, column: Column) -> AnyArray:
    """
    Return the readings of an integer feature as the C takes them, missing ones as the marker.

    Shapes: returns (n_rows,) int64 or float64.
    """
    column = numeric_cells(feature.name, column)
    check_present(feature, column)
    values = saturated(feature.kind, whole_cells(feature.name, column))
    marker = MISSING_INT.get(feature.kind)
    return values if marker is None else np.where(column.missing, marker, values)


def saturated(kind: str, values: AnyArray) -> AnyArray:
    """
    Return readings within an integer kind, as a driver has to narrow them.

    Shapes: `values` (n,) int64 or float64; returns (n,) int64 or float64, readings limited to
    ``smallest .. largest``, so that none that is too small becomes the marker of a missing one;
    the marker itself remains.
    """
    limited = np.clip(values, SMALLEST_INT[kind], LARGEST_INT[kind])
    marker = MISSING_INT.get(kind)
    return limited if marker is None else np.where(values == marker, marker, limited)


def check_present(feature: Feature, column: Column) -> None:
    """Reject missing cells of a feature whose raw type has no value for them."""
    if not feature.has_marker and column.missing.any():
        row = int(np.flatnonzero(column.missing)[0])
        raise DataError(
            f"column {feature.name!r} is missing in row {row + 1}, but the model reads it as "
            f"{feature.kind}, which has no value for a missing reading; fill the cell, or retrain "
            "with --readings int16"
        )


def category_codes(feature: Feature, column: Column) -> IntArray:
    """
    Return the number of each cell's category, as the C takes it.

    Shapes: returns (n_rows,) int64, index into `categories`; -1 for a missing cell and a label not
    seen in training.
    """
    code: dict[object, int] = {}
    for k, label in enumerate(feature.categories):
        code.setdefault(label if column.kind == "category" else _number(label), k)
    found = (code.get(cell, -1) for cell in column.values.tolist())
    codes = np.fromiter(found, dtype=np.int64, count=len(column.values))
    return np.where(column.missing, -1, codes)


def _number(label: str) -> float | None:
    try:
        return float(label)
    except ValueError:
        return None


def numeric_cells(name: str, column: Column) -> Column:
    """Return a column as numbers; labels that all are numbers are taken as such."""
    if column.kind != "category":
        return column
    if column.missing.all():
        return Column(name, "integer", np.zeros(len(column.values), np.int64), column.missing)
    pairs = zip(column.values, column.missing, strict=True)
    cells = ["?" if is_missing else cell for cell, is_missing in pairs]
    typed = column_of_text(name, cells)
    if typed.kind == "category":
        row = first_text_row(column)
        raise DataError(
            f"column {name!r} had numbers in training but contains the text "
            f"{column.values[row]!r} in row {row + 1}; fix the cell, or mark it as missing with "
            "'?'"
        )
    return typed


def float32_grid(name: str, column: Column) -> AnyArray:
    """
    Return a numeric column rounded to float32, the type a sensor hands to the C.

    Shapes: returns (n_rows,) float64, values of float32.
    """
    with np.errstate(over="ignore"):
        rounded = column.values.astype(np.float32).astype(np.float64)
    if not np.isfinite(rounded).all():
        value = column.values[~np.isfinite(rounded)][0]
        raise DataError(
            f"column {name!r} contains {value}, which is out of range for float32; clip it"
        )
    return rounded


def whole_cells(name: str, column: Column) -> AnyArray:
    """
    Return the values of a numeric column after checking that they are whole.

    Shapes: returns (n_rows,) int64 or float64, the values.
    """
    if column.kind != "float":
        return column.values
    fractional = (column.values != np.floor(column.values)) & ~column.missing
    if fractional.any():
        row = int(np.flatnonzero(fractional)[0])
        raise DataError(
            f"column {name!r} had integers in training but contains {column.values[row]} in row "
            f"{row + 1}; round it, or retrain with such values"
        )
    return column.values


def states_of(features: tuple[Feature, ...], table: Table) -> IntArray:
    """
    Return the states of a table's rows for a classifier's features.

    Parameters
    ----------
    features : tuple of Feature
        The classifier's inputs; columns are found by name, other columns are ignored.
    table : Table
        Raw readings.

    Returns
    -------
    X : (n_rows, n_features) int64
        States.

    Raises
    ------
    DataError
        If a column is absent or its cells do not fit the feature.
    """
    columns: Mapping[str, Column] = {column.name: column for column in table.columns}
    X = np.empty((table.n_rows, len(features)), dtype=np.int64)
    for i, feature in enumerate(features):
        if feature.difference is not None:
            read = (features[k] for k in feature.difference)
            first, second = (integer_readings(each, columns[each.name]) for each in read)
            X[:, i] = feature.states_of_difference(first, second)
            continue
        if feature.name not in columns:
            raise DataError(
                f"the table has no column {feature.name!r}, which the model reads; its columns "
                f"are {', '.join(repr(name) for name in table.names[:8])}; add it, or use a table "
                "like the one that the model was trained on"
            )
        X[:, i] = feature.states(columns[feature.name])
    return X


def missing_of(features: tuple[Feature, ...], table: Table) -> BoolArray:
    """
    Return where a classifier's features are missing in a table.

    Shapes: returns (n_rows, n_features) bool, false for differences.
    """
    columns = {column.name: column for column in table.columns}
    is_missing = np.zeros((table.n_rows, len(features)), dtype=np.bool_)
    for i, feature in enumerate(inputs_of(features)):
        column = columns[feature.name]
        if feature.kind in LARGEST_INT:
            column = numeric_cells(feature.name, column)
        is_missing[:, i] = missing_cells(feature.kind, column)
    return is_missing
