"""Columns, tables, data sets, and what can be learned from."""

import numpy as np
import pytest

from bncc.data.columns import column_of_text
from bncc.data.dataset import Column, Dataset, Table, check_trainable
from bncc.errors import DataError


def _dataset(y: list[int], classes: tuple[str, ...] = ("x", "y"), n_columns: int = 1) -> Dataset:
    cells = [str(i) for i in range(len(y))]
    columns = tuple(column_of_text(f"a{i}", cells) for i in range(n_columns))
    return Dataset(Table(columns), np.array(y, dtype=np.int64), classes, "c\nd")


def test_a_table_knows_its_size_and_names() -> None:
    """A table without columns has no rows."""
    table = _dataset([0, 1, 1], n_columns=2).table
    assert (table.n_rows, table.names) == (3, ("a0", "a1"))
    assert Table(()).n_rows == 0


def test_columns_can_be_left_out_by_name() -> None:
    missing = np.zeros(2, dtype=np.bool_)
    columns = [Column(name, "integer", np.arange(2), missing) for name in "abc"]
    table = Table(tuple(columns), np.arange(1), np.arange(1, 2))
    kept = table.without(["a", "c"])
    assert kept.names == ("b",)
    assert kept.train_rows is table.train_rows
    assert kept.test_rows is table.test_rows
    with pytest.raises(DataError, match="no column 'd' to drop; the columns are 'a', 'b', 'c'"):
        table.without(["a", "d"])
    with pytest.raises(DataError, match="leaves none"):
        table.without(["a", "b", "c"])


def test_taking_rows_keeps_their_order_and_drops_folds() -> None:
    """Row numbers of a fold would mean other rows afterwards."""
    dataset = _dataset([0, 1, 1])
    table = Table(dataset.table.columns, np.array([0]), np.array([1]))
    taken = Dataset(table, dataset.y, dataset.classes, "c").take(np.array([2, 0]))
    assert taken.table.columns[0].values.tolist() == [2, 0]
    assert taken.table.columns[0].missing.tolist() == [False, False]
    assert taken.y.tolist() == [1, 0]
    assert taken.table.train_rows is None
    assert taken.n_rows == 2


def test_classes_are_renumbered_by_label() -> None:
    """A label that the other list lacks is -1, and stays -1."""
    dataset = _dataset([0, 1, -1]).with_classes(("z", "y"))
    assert (dataset.classes, dataset.y.tolist()) == (("z", "y"), [-1, 1, -1])


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        (_dataset([0, 1], n_columns=0), r"no feature column besides the class 'c\\nd'; add"),
        (_dataset([]), "has no row with a class; add labeled rows"),
        (_dataset([1, 1]), r"'c\\nd' contains a single class, 'y'; add rows of"),
    ],
)
def test_what_cannot_be_learned_from_is_refused_in_one_line(dataset: Dataset, message: str) -> None:
    """No column, no row, no second class."""
    with pytest.raises(DataError, match=message) as error:
        check_trainable(dataset)
    assert "\n" not in str(error.value)


def test_two_classes_and_a_column_are_enough() -> None:
    """Nothing is raised."""
    assert check_trainable(_dataset([0, 1])) is None
