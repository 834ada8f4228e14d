"""Finding the class, numbering its labels, assigning rows to folds."""

import numpy as np
import pytest

from bncc.data.columns import column_of_text
from bncc.data.dataset import Column, Table
from bncc.data.frames import column_of_array
from bncc.data.target import dataset_of, fold_parts
from bncc.errors import DataError


def _table(**columns: list[str]) -> Table:
    return Table(tuple(column_of_text(name, cells) for name, cells in columns.items()))


def _rows(*rows: int) -> np.ndarray:
    return np.array(rows, dtype=np.int64)


def test_the_class_is_named_or_called_class_or_last() -> None:
    """In this order."""
    table = Table(tuple(column_of_text(name, ["0", "1"]) for name in ("a", "class", "Class", "b")))
    assert dataset_of(table, "a").class_name == "a"
    assert dataset_of(table).class_name == "class"
    assert dataset_of(table).table.names == ("a", "Class", "b")
    assert dataset_of(_table(a=["1"], Class=["2"], b=["3"])).class_name == "b"


def test_an_unknown_class_column_lists_the_columns() -> None:
    """The first eight."""
    with pytest.raises(DataError, match=r"no column 'c'; the columns are 'a', 'b'$"):
        dataset_of(_table(a=["1"], b=["2"]), "c")
    many = Table(tuple(column_of_text(f"x{i}", ["1"]) for i in range(9)))
    with pytest.raises(DataError, match=r"'x7', \.\.\.$"):
        dataset_of(many, "c")


@pytest.mark.parametrize(
    ("labels", "classes", "y"),
    [
        (["b", "a", "b"], ("a", "b"), [1, 0, 1]),
        (["10", "9", "-1"], ("-1", "9", "10"), [2, 1, 0]),
        (["1.0", "0"], ("0", "1"), [1, 0]),
        (["0.5", "2", "0.5"], ("0.5", "2"), [0, 1, 0]),
        (["10", "9", "x"], ("10", "9", "x"), [0, 1, 2]),
        (["True", "False"], ("False", "True"), [1, 0]),
    ],
)
def test_labels_are_sorted_by_number_or_by_text(
    labels: list[str], classes: tuple[str, ...], y: list[int]
) -> None:
    """By number when all are whole."""
    dataset = dataset_of(_table(a=["1"] * len(labels), b=labels))
    assert (dataset.classes, dataset.y.tolist()) == (classes, y)
    assert dataset.y.dtype == np.int64


def test_nominal_labels_that_are_numbers_are_sorted_as_numbers() -> None:
    """An ARFF declares {10, 9, 09}: three labels."""
    column = Column("c", "category", np.array(["10", "9", "09"], object), np.zeros(3, np.bool_))
    assert dataset_of(Table((column_of_text("a", ["1"] * 3), column))).classes == ("09", "9", "10")


def test_labels_may_come_from_outside_the_table() -> None:
    """Then all columns are features."""
    table = _table(a=["1", "2"], b=["3", "4"])
    dataset = dataset_of(table, y=column_of_array("target", np.array([1, 0])))
    assert dataset.table.names == ("a", "b")
    assert (dataset.class_name, dataset.y.tolist()) == ("target", [1, 0])


def test_rows_without_a_class_are_dropped_and_folds_renumbered() -> None:
    """The rows of the fold are those of the shorter table."""
    columns = _table(a=["0", "1", "2", "3", "4"], b=["x", "?", "y", "x", "?"]).columns
    dataset = dataset_of(Table(columns, _rows(3, 1, 0), _rows(2, 4)))
    assert dataset.table.columns[0].values.tolist() == [0, 2, 3]
    assert dataset.y.tolist() == [0, 1, 0]
    assert dataset.table.train_rows is not None
    assert dataset.table.test_rows is not None
    assert dataset.table.train_rows.tolist() == [2, 0]
    assert dataset.table.test_rows.tolist() == [1]


def test_a_class_column_without_any_label_leaves_no_row() -> None:
    """Training refuses such a data set in its own words."""
    dataset = dataset_of(_table(a=["1", "2"], b=["?", "?"]))
    assert (dataset.n_rows, dataset.classes, dataset.table.n_rows) == (0, (), 0)


def test_too_many_classes_are_refused() -> None:
    """As when the last column is a measurement."""
    table = _table(a=["1"] * 256, b=[f"{i}.5" for i in range(256)])
    with pytest.raises(DataError, match="'b' holds 256 classes, more than 255; name the right"):
        dataset_of(table)
    assert len(dataset_of(table, "a").classes) == 1


def test_a_fold_is_split_into_its_parts() -> None:
    """The classes are those of the training rows; a label of test rows alone is -1."""
    columns = _table(a=["0", "1", "2", "3", "4"], b=["x", "y", "w", "x", "y"]).columns
    train, test = fold_parts(Table(columns, _rows(0, 3, 1), _rows(4, 2)), None, 1)
    assert train.classes == ("x", "y")
    assert train.y.tolist() == [0, 0, 1]
    assert train.table.columns[0].values.tolist() == [0, 3, 1]
    assert test is not None
    assert (test.classes, test.y.tolist()) == (("x", "y"), [1, -1])
    assert train.table.train_rows is None


def test_a_table_without_folds_is_all_training() -> None:
    """And asking for a fold of it is an error."""
    table = _table(a=["0", "1"], b=["x", "y"])
    train, test = fold_parts(table)
    assert (train.n_rows, test) == (2, None)
    with pytest.raises(DataError, match="has no folds, so fold 2 cannot be read"):
        fold_parts(table, fold=2)


@pytest.mark.parametrize("test_rows", [None, _rows()])
def test_a_fold_without_test_rows_has_no_test_part(test_rows: np.ndarray | None) -> None:
    """It is None, not an empty data set."""
    table = Table(_table(a=["0", "1"], b=["x", "y"]).columns, _rows(1, 0), test_rows)
    train, test = fold_parts(table)
    assert (train.n_rows, test) == (2, None)
