"""A feature: how one raw column of readings becomes a state, in Python and in the C alike."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bncc._types import AnyArray, IntArray
from bncc.data.dataset import Column, Table
from bncc.errors import DataError

FeatureKind = Literal["int16", "int32", "float32", "category", "state"]

MISSING_INT = {"int16": -(2**15), "int32": -(2**31)}
"""The raw value that marks a missing reading in the C; a float marks it by NaN."""


@dataclass(frozen=True)
class Feature:
    """One input of a classifier and the rule that turns its raw value into a state.

    Parameters
    ----------
    name : str
        Column name, any text.
    kind : {"int16", "int32", "float32", "category", "state"}
        The type of the raw value in the C. ``category`` is a number of `categories`; ``state``
        is a state already.
    n_states : int
        Number of states, >= 1, the state of missing readings included.
    thresholds : tuple of int or float
        For numeric kinds, strictly ascending, in the sensor's own unit; the state is the number
        of thresholds below the value: ``sum(value > t)``. Integers for integer kinds, values of
        float32 for ``float32`` (never -0.0).
    categories : tuple of str
        For ``category``: the labels, state k being category k.
    fallback : int
        The state of a missing reading, of a category not seen in training and of a state out of
        range: a state of its own, the last, when training rows had missing cells in this
        column; otherwise the most frequent state of the training rows.
    """

    name: str
    kind: FeatureKind
    n_states: int
    thresholds: tuple[int | float, ...] = ()
    categories: tuple[str, ...] = ()
    fallback: int = 0

    @property
    def is_numeric(self) -> bool:
        """Whether raw values are compared with thresholds."""
        return self.kind in ("int16", "int32", "float32")

    def states(self, column: Column) -> IntArray:
        """Return the state of every cell of a column.

        Parameters
        ----------
        column : Column
            Raw cells. A float feature takes integer cells; a category takes any cell by its text.

        Returns
        -------
        (n_rows,) int64
            States in ``0 .. n_states - 1``.

        Raises
        ------
        DataError
            If the cells cannot be read as this kind of feature.
        """
        if self.kind == "category":
            known = self._category_states(column)
        elif self.kind == "state":
            values = _integers(self.name, column)
            known = np.where((values >= 0) & (values < self.n_states), values, self.fallback)
        else:
            known = np.searchsorted(
                np.asarray(self.thresholds, dtype=np.float64), self._numbers(column), side="left"
            )
        return np.where(column.missing, self.fallback, known).astype(np.int64)

    def _numbers(self, column: Column) -> AnyArray:
        if self.kind == "float32":
            return float32_grid(self.name, column)
        return _integers(self.name, column)

    def _category_states(self, column: Column) -> AnyArray:
        state = {label: k for k, label in enumerate(self.categories)}
        labels, inverse = np.unique(column.values.astype(str), return_inverse=True)
        return np.array([state.get(str(label), self.fallback) for label in labels])[inverse]


def float32_grid(name: str, column: Column) -> AnyArray:
    """Return a numeric column rounded to float32, the type a sensor hands to the C.

    Parameters
    ----------
    name : str
        Feature name for the error message.
    column : Column
        Numeric cells.

    Returns
    -------
    (n_rows,) float64
        Values of float32.

    Raises
    ------
    DataError
        If a cell is text, or too large for float32.
    """
    if column.kind == "category":
        raise DataError(_text_cell(name, column))
    with np.errstate(over="ignore"):
        rounded = column.values.astype(np.float32).astype(np.float64)
    if not np.isfinite(rounded[~column.missing]).all():
        row = int(np.flatnonzero(~np.isfinite(rounded) & ~column.missing)[0])
        raise DataError(
            f"column '{name}' holds {column.values[row]!r} in row {row + 1}, which float32 cannot "
            "hold; remove or cap it"
        )
    return rounded


def _integers(name: str, column: Column) -> AnyArray:
    if column.kind == "category":
        raise DataError(_text_cell(name, column))
    if column.kind != "float":
        return column.values
    fractional = (column.values != np.floor(column.values)) & ~column.missing
    if fractional.any():
        row = int(np.flatnonzero(fractional)[0])
        raise DataError(
            f"column '{name}' held whole numbers in training but {column.values[row]} in row "
            f"{row + 1}; round it, or train again with such values"
        )
    return column.values


def _text_cell(name: str, column: Column) -> str:
    row = int(np.flatnonzero(~column.missing)[0]) if not column.missing.all() else 0
    return (
        f"column '{name}' held numbers in training but the text {column.values[row]!r} in row "
        f"{row + 1}; mend the cell, or mark it missing with '?'"
    )


def states_of(features: tuple[Feature, ...], table: Table) -> IntArray:
    """Return the states of a table's rows for a classifier's features.

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
        if feature.name not in columns:
            raise DataError(
                f"the table has no column '{feature.name}', which the model reads; "
                f"its columns are {', '.join(repr(name) for name in table.names[:8])}"
            )
        X[:, i] = feature.states(columns[feature.name])
    return X
