"""Notes on rows that are not independent: row numbers, times, subjects, and time series."""

from collections.abc import Iterator

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.data.dataset import Column, Dataset

LEAST_ROWS = 50
"""Fewer rows say nothing of their order."""
MONOTONIC_VALUES = 20
"""A column that only rises, or only falls, is a number of rows or a time from so many values on."""
RUN_LENGTH = 10
"""Rows of a value in a mean run, from which on it may be a subject; of three values or more."""
RUNS_PER_VALUE = 1.5
"""Runs of a subject's number, at most, by value: each value comes once, or some twice."""
ALIKE = 0.5
"""Distance of neighboring rows of a class, by that of random rows of the class, from which down
rows follow each other in time. Of the sets that this was set by, see docs/how-to/own-data.md."""
_MOST_COLUMNS = 48
"""Columns that rows are compared by, evenly spread."""
_BLOCK, _MOST_BLOCKS = 1000, 20
"""Rows of a block and number of blocks, evenly spread, that are examined of larger tables."""


def order_notes(dataset: Dataset) -> Iterator[str]:
    """Yield a note, with its remedy, for each sign that rows are not independent of each other."""
    if dataset.n_rows < LEAST_ROWS:
        return
    if dataset.n_rows > _BLOCK * _MOST_BLOCKS:
        begin = np.linspace(0, dataset.n_rows - _BLOCK, _MOST_BLOCKS).astype(np.int64)
        dataset = dataset.take(np.unique(begin[:, None] + np.arange(_BLOCK)))
    for column in dataset.table.columns:
        words = _column_words(column, is_ordered=dataset.split.ordered)
        if words is not None:
            yield f"column {column.name!r} {words}"
    if dataset.split.is_random:
        ratio = neighbor_ratio(dataset)
        if ratio is not None and ratio < ALIKE:
            yield (
                f"neighboring rows of a class are {1 / ratio:.1f} times as alike as random ones, "
                "as in a time series, so random validation rows understate the error; name persons "
                "or recordings with --groups, or split by blocks with --ordered"
            )


def _column_words(column: Column, *, is_ordered: bool = False) -> str | None:
    """Return why a column is likely to be no reading, and what to do with it."""
    column = column.take(np.flatnonzero(~column.missing))
    if len(column.values) < LEAST_ROWS:
        return None
    codes = column.codes
    n_values, n_rows = int(codes.max()) + 1, len(codes)
    steps = np.diff(codes)
    n_runs = 1 + int((steps != 0).sum())
    if n_values >= 3 and n_runs <= RUNS_PER_VALUE * n_values and n_rows >= RUN_LENGTH * n_runs:
        return (
            "is constant over long runs of rows, as the number of a person or a recording is; "
            "name it with --groups, which does not learn from it"
        )
    if column.kind != "category" and n_values >= MONOTONIC_VALUES:
        if not (steps < 0).any() or not (steps > 0).any():
            way = "rises" if (steps > 0).any() else "falls"
            more = "" if is_ordered else ", and if rows are in time order add --ordered"
            return (
                f"only {way} from row to row, as a row number or a time does; leave it out with "
                f"--drop{more}"
            )
        if column.kind == "integer" and n_values == n_rows:
            return "has another value in each row, as an identifier has; leave it out with --drop"
    return None


def neighbor_ratio(dataset: Dataset) -> float | None:
    """
    Return the mean distance of neighboring rows of a class, by that of random rows of a class.

    Distances are those of ranks, summed over columns of numbers that vary. None where there are
    none, or hardly any neighbors of one class.
    """
    numbers = [
        column
        for column in dataset.table.columns
        if column.kind in ("integer", "float") and _column_words(column) is None
    ]
    ranks = [_ranks(column) for column in numbers[:: 1 + len(numbers) // _MOST_COLUMNS]]
    ranks = [each for each in ranks if each.min() < each.max()]
    first = np.flatnonzero(np.diff(dataset.y) == 0)
    if not ranks or len(first) < LEAST_ROWS:
        return None
    random = _random_partners(dataset.y, first)
    near = sum(float(np.abs(each[first] - each[first + 1]).mean()) for each in ranks)
    far = sum(float(np.abs(each[first] - each[random]).mean()) for each in ranks)
    return near / far if far > 0 else None


def _random_partners(y: IntArray, rows: IntArray) -> IntArray:
    """Return a row of the same class for each row, by chance of a fixed seed."""
    rng = np.random.default_rng(0)
    order = np.argsort(y, kind="stable")
    begin = np.searchsorted(y[order], y[rows])
    counts = np.searchsorted(y[order], y[rows], side="right") - begin
    return np.asarray(order[begin + (rng.random(len(rows)) * counts).astype(np.int64)])


def _ranks(column: Column) -> FloatArray:
    """Return the mean rank of each value, a missing one in the middle."""
    _, codes, counts = np.unique(column.values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - counts / 2)[codes]
    ranks[column.missing] = len(ranks) / 2
    return np.asarray(ranks)
