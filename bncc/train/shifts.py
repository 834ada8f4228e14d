"""Images moved by a pixel: more rows to learn from, where columns are the pixels of an image."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from bncc._types import IntArray
from bncc.data.dataset import Column, Table
from bncc.errors import DataError

MOVES = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))
"""Rows and columns of pixels by which an image is moved."""


def sources_of(height: int, width: int, move: tuple[int, int]) -> IntArray:
    """
    Return which pixel each pixel of a moved image comes from.

    Shapes: returns (height * width,) int64, row by row; what comes from beyond the edge is what
    lies at it.
    """
    row = np.clip(np.arange(height) - move[0], 0, height - 1)
    column = np.clip(np.arange(width) - move[1], 0, width - 1)
    return np.asarray((row[:, None] * width + column).ravel())


def image_of(table: Table, height: int, width: int) -> Table:
    """Return readings as the pixels of an image, which are all alike."""
    if len(table.columns) != height * width:
        raise DataError(
            f"shift={height}x{width} asks for {height * width} columns, and the rows have "
            f"{len(table.columns)}; give the height and width of the image that they are"
        )
    odd = [column.name for column in table.columns if column.kind == "category"]
    if odd:
        raise DataError(
            f"shift={height}x{width} asks for pixels, and column {odd[0]!r} holds text; mend its "
            "cells, or leave out shift"
        )
    if len({column.kind for column in table.columns}) == 1:
        return table
    return Table(tuple(map(_fractions, table.columns)))


def _fractions(column: Column) -> Column:
    return replace(column, kind="float", values=column.values.astype(np.float64))


def moved_tables(image: Table, height: int, width: int) -> Iterator[Table]:
    """Move the images of all rows."""
    for move in MOVES:
        sources = sources_of(height, width, move)
        columns = (
            replace(image.columns[source], name=column.name)
            for source, column in zip(sources.tolist(), image.columns, strict=True)
        )
        yield Table(tuple(columns))
