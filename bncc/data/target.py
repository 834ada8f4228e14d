"""The class column: finding it, numbering its labels, and dealing rows to the parts of a fold."""

import re

import numpy as np

from bncc._types import AnyArray, IntArray
from bncc.data.dataset import Column, Dataset, Table
from bncc.data.splits import SplitRule
from bncc.errors import DataError

CLASS = "class"
"""Name of the class column if none is given; without one, the last column is the class."""
MAX_CLASSES = 255
"""Most classes of a model, `bncc.model.model.MAX_CLASSES`."""

_WHOLE = re.compile(r"[+-]?\d{1,18}")


def dataset_of(
    table: Table,
    class_name: str | None = None,
    *,
    y: Column | None = None,
    groups: str | None = None,
    ordered: bool = False,
) -> Dataset:
    """
    Split a table into readings and classes.

    Rows whose class is missing are dropped; `train_rows` and `test_rows` are renumbered.
    """
    of_groups = None if groups is None else _group_column(table, groups)
    if groups is not None:
        if groups == (class_name or CLASS):
            raise DataError(f"column {groups!r} is the class; name another one with --groups")
        if y is None and class_name is None and _class_column(table, None).name == groups:
            raise DataError(
                f"column {groups!r} is the last one, so it is the class by default; name the class "
                "with --class, or another column with --groups"
            )
        table = table.without([groups])
    if y is None:
        y = _class_column(table, class_name)
        rest = tuple(column for column in table.columns if column is not y)
        table = Table(rest, table.train_rows, table.test_rows)
    kept = np.flatnonzero(~y.missing)
    labels = label_texts(y.take(kept))
    classes = _sorted_labels(set(labels))
    if len(classes) > MAX_CLASSES:
        raise DataError(
            f"the class column {y.name!r} has {len(classes)} classes, more than {MAX_CLASSES}; "
            "name the right column with --class, or merge classes"
        )
    index = {label: k for k, label in enumerate(classes)}
    numbers = np.array([index[label] for label in labels], dtype=np.int64)
    split = SplitRule(None, ordered)
    if of_groups is not None:
        column = of_groups.take(kept)
        _check_groups(column)
        codes = column.codes
        texts, first = label_texts(column), np.unique(codes, return_index=True)[1]
        split = SplitRule(codes, ordered, column.name, tuple(texts[row] for row in first))
    rows = _keep(table, kept, len(y.values))
    return Dataset(rows, numbers, classes, y.name, split=split)


def group_labels(table: Table, name: str) -> tuple[str, ...]:
    """Return the group of each row of a table as text."""
    column = _group_column(table, name)
    _check_groups(column)
    return tuple(label_texts(column))


def _group_column(table: Table, name: str) -> Column:
    found = next((column for column in table.columns if column.name == name), None)
    if found is None:
        listed = ", ".join(repr(other) for other in table.names[:8])
        more = ", ..." if len(table.names) > 8 else ""
        raise DataError(f"there is no column {name!r} for --groups; the columns are {listed}{more}")
    return found


def _check_groups(column: Column) -> None:
    """Refuse a row without a group."""
    if column.missing.any():
        row = int(column.missing.argmax()) + 1
        raise DataError(
            f"column {column.name!r} has no group in row {row}; fill it in, or remove the row"
        )


def fold_parts(
    table: Table,
    class_name: str | None = None,
    fold: int | None = None,
    *,
    groups: str | None = None,
    ordered: bool = False,
) -> tuple[Dataset, Dataset | None]:
    """Split a table that was read with a fold into its training and its test part."""
    dataset = dataset_of(table, class_name, groups=groups, ordered=ordered)
    train_rows, test_rows = dataset.table.train_rows, dataset.table.test_rows
    if train_rows is None:
        if fold is not None:
            raise DataError(f"the table has no folds, so --fold {fold} does not apply; drop --fold")
        return dataset, None
    train = dataset.take(train_rows)
    present = sorted(set(train.y.tolist()))
    train = train.with_classes([dataset.classes[k] for k in present])
    if test_rows is None or not len(test_rows):
        return train, None
    return train, dataset.take(test_rows).with_classes(train.classes)


def _class_column(table: Table, class_name: str | None) -> Column:
    named = {column.name: column for column in table.columns}
    if class_name is None:
        return named.get(CLASS, table.columns[-1])
    if class_name not in named:
        listed = ", ".join(repr(name) for name in table.names[:8])
        more = ", ..." if len(table.names) > 8 else ""
        raise DataError(f"there is no column {class_name!r}; the columns are {listed}{more}")
    return named[class_name]


def label_texts(column: Column) -> list[str]:
    """Return a column's values as text, whole numbers without a fraction."""
    if column.kind == "float":
        return [_number_text(value) for value in column.values.tolist()]
    return [str(value) for value in column.values.tolist()]


def _number_text(value: float) -> str:
    return repr(value).removesuffix(".0")


def _sorted_labels(labels: set[str]) -> tuple[str, ...]:
    if all(_WHOLE.fullmatch(label) for label in labels):
        return tuple(sorted(labels, key=lambda label: (int(label), label)))
    return tuple(sorted(labels))


def _keep(table: Table, kept: IntArray, n_rows: int) -> Table:
    if len(kept) == n_rows:
        return table
    new_number = np.full(n_rows, -1, dtype=np.int64)
    new_number[kept] = np.arange(len(kept))

    def renumbered(rows: AnyArray | None) -> AnyArray | None:
        if rows is None:
            return None
        moved = new_number[rows]
        return moved[moved >= 0]

    columns = table.take(kept).columns
    return Table(columns, renumbered(table.train_rows), renumbered(table.test_rows))
