"""Images shifted by a pixel, and the values that fill their edges."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.data.dataset import Column, Table
from bncc.errors import DataError
from bncc.train.fit_tables import image_of, moved_tables

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
    with pytest.raises(DataError, match="shift=3x3 needs 9 columns, and the rows have 6"):
        image_of(table_of(IMAGE), 3, 3)


def test_whole_numbers_beside_fractions_are_fractions_too():
    image = table_of(IMAGE)
    mixed = Table((replace(image.columns[0], kind="float"), *image.columns[1:]))
    assert {column.kind for column in image_of(image, 2, 3).columns} == {"integer"}
    found = image_of(mixed, 2, 3)
    assert {column.kind for column in found.columns} == {"float"}
    assert {column.values.dtype for column in found.columns} == {np.dtype(np.float64)}
    assert [float(column.values[0]) for column in found.columns] == [1, 2, 3, 4, 5, 6]


def test_text_is_no_pixel():
    text = Column("hue", "category", np.array(["red"], dtype=object), np.array([False]))
    with pytest.raises(DataError, match="needs pixels, but column 'hue' contains text"):
        image_of(Table((*table_of(IMAGE).columns[1:], text)), 2, 3)
