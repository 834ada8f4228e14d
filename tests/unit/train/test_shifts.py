"""Images moved by a pixel, and what comes in from beyond their edges."""

import numpy as np
import pytest

from bncc.data.dataset import Column, Table
from bncc.errors import DataError
from bncc.train.shifts import moved_tables

IMAGE = np.array([[1, 2, 3], [4, 5, 6]])


def table_of(image: np.ndarray) -> Table:
    return Table(
        tuple(
            Column(f"p{i}", "integer", np.array([value]), np.array([value == 5]))
            for i, value in enumerate(image.ravel().tolist())
        )
    )


def test_an_image_comes_as_it_is_and_moved_four_ways_with_its_edge_repeated():
    tables = list(moved_tables(table_of(IMAGE), 2, 3))
    found = [[int(column.values[0]) for column in table.columns] for table in tables]
    assert found == [
        [1, 2, 3, 4, 5, 6],
        [4, 5, 6, 4, 5, 6],
        [1, 2, 3, 1, 2, 3],
        [2, 3, 3, 5, 6, 6],
        [1, 1, 2, 4, 4, 5],
    ]


def test_names_stay_and_missing_cells_move():
    for table in moved_tables(table_of(IMAGE), 2, 3):
        assert table.names == ("p0", "p1", "p2", "p3", "p4", "p5")
        assert all(column.missing[0] == (column.values[0] == 5) for column in table.columns)


def test_as_many_columns_as_pixels_are_asked_for():
    with pytest.raises(DataError, match="shift=3x3 asks for 9 columns, and the rows have 6"):
        list(moved_tables(table_of(IMAGE), 3, 3))
