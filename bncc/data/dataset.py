"""The values that readers return: columns, a table of them, and a data set with a class."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from bncc._types import AnyArray, BoolArray, FloatArray, IntArray
from bncc.data.splits import SplitRule
from bncc.errors import DataError

ColumnKind = Literal["integer", "float", "category", "state"]


@dataclass(frozen=True, eq=False)
class Column:
    """One named column of readings."""

    name: str  # As in the file; any text
    kind: ColumnKind  # ``state`` holds numbers that are states already and need no thresholds
    # (n_rows,) array: int64 for ``integer`` and ``state``, float64 for ``float``, object (str) for
    # ``category``. Under a missing cell the value is 0, 0.0 or "".
    values: AnyArray
    missing: BoolArray  # (n_rows,) bool: True where the cell is missing
    # True if cells are missing in the column that these rows are taken from
    has_gaps_elsewhere: bool = False

    def take(self, rows: IntArray) -> "Column":
        """Return the column with only these rows, in this order."""
        return Column(self.name, self.kind, self.values[rows], self.missing[rows], self.has_gaps)

    @property
    def has_gaps(self) -> bool:
        """True if a cell of the column, or of the column that it is a part of, is missing."""
        return self.has_gaps_elsewhere or bool(self.missing.any())

    @property
    def codes(self) -> IntArray:
        """A number for each different value, (n_rows,) int64, in their order if they have one."""
        if self.kind == "category":
            index = {text: k for k, text in enumerate(dict.fromkeys(self.values.tolist()))}
            return np.array([index[text] for text in self.values.tolist()], dtype=np.int64)
        return np.asarray(np.unique(self.values, return_inverse=True)[1], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length, as read from a file."""

    columns: tuple[Column, ...]  # In file order, names unique
    # (n,) int64 or None: train_rows and test_rows: The rows of the fold that was asked for; None
    # when the file has no folds
    train_rows: IntArray | None = None
    test_rows: IntArray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0].values) if self.columns else 0

    @property
    def names(self) -> tuple[str, ...]:
        """Column names in order."""
        return tuple(column.name for column in self.columns)

    def without(self, names: Sequence[str]) -> "Table":
        """Return the table without some columns."""
        unknown = [name for name in names if name not in self.names]
        if unknown:
            listed = ", ".join(repr(name) for name in self.names[:8])
            raise DataError(f"there is no column {unknown[0]!r} to drop; the columns are {listed}")
        kept = tuple(column for column in self.columns if column.name not in names)
        if not kept:
            raise DataError("dropping these columns leaves none; drop fewer")
        return Table(kept, self.train_rows, self.test_rows)

    def take(self, rows: IntArray) -> "Table":
        """Return the table with only these rows, without folds."""
        return Table(tuple(column.take(rows) for column in self.columns))


@dataclass(frozen=True, eq=False)
class Dataset:
    """Readings with a class for each row."""

    table: Table  # The feature columns, without the class
    # (n_rows,) int64: Class index of each row; -1 for a label that `classes` does not hold
    y: IntArray
    classes: tuple[str, ...]  # Class labels in index order
    class_name: str  # Name of the class column
    # (n_rows,) float64 or None: How much each row counts in learning, >= 0; None where all count
    # alike. Errors are counted without them.
    weights: FloatArray | None = None
    split: SplitRule = field(default_factory=SplitRule)  # How rows are held out and dealt to folds
    digest: str | None = None  # The sha256 of the file that the rows are from
    units: Mapping[str, str] = field(default_factory=dict)  # Units of some columns, by name
    # (n_rows,) int64 or None: Sequence of each row, whose rows are in time order; None where the
    # split rule tells
    sequences: IntArray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    def take(self, rows: IntArray) -> "Dataset":
        """Return the data set with only these rows, in this order."""
        weights = None if self.weights is None else self.weights[rows]
        table, split = self.table.take(rows), self.split.take(rows)
        sequences = None if self.sequences is None else self.sequences[rows]
        return replace(
            self, table=table, y=self.y[rows], weights=weights, split=split, sequences=sequences
        )

    @property
    def time_sequences(self) -> IntArray | None:
        """
        Sequence of each row, (n_rows,) int64; None where their order in time is unknown.

        The rows of a group are one, and so are all rows of a split by their order.
        """
        if self.sequences is not None:
            return self.sequences
        if self.split.groups is None and self.split.ordered:
            return np.zeros(self.n_rows, dtype=np.int64)
        return self.split.groups

    def with_classes(self, classes: Sequence[str]) -> "Dataset":
        """Return the same rows indexed by another list of class labels."""
        index = {label: i for i, label in enumerate(classes)}
        renamed = np.array([index.get(label, -1) for label in self.classes] + [-1], dtype=np.int64)
        return replace(self, y=renamed[self.y], classes=tuple(classes))


def check_trainable(dataset: Dataset) -> None:
    """Refuse a data set from which no classifier can be learned."""
    if not dataset.table.columns:
        raise DataError(
            f"the table has no feature column besides the class {dataset.class_name!r}; add at "
            "least one column of readings"
        )
    if dataset.n_rows == 0:
        raise DataError("the table has no row with a class; add labeled rows")
    if len(np.unique(dataset.y)) < 2:
        raise DataError(
            f"the class column {dataset.class_name!r} contains a single class, "
            f"{dataset.classes[int(dataset.y[0])]!r}; add rows of a second one"
        )
