"""Features without information about the class: no mutual information above chance."""

from collections.abc import Iterator, Sequence

import numpy as np

from bncc._types import IntArray
from bncc.data.dataset import Column, Dataset

LEVEL = 0.01
"""Significance level of all tests of a feature together, by Bonferroni's correction."""
_BINS = 4
_MOST_ROWS = 20_000
_MOST_TESTS = 4_000
"""Pairs of features that are tested; features beyond are not reported."""
_ROWS_PER_CELL = 5
"""Rows per cell of the table of a pair and the class; with fewer a test would find little."""


def tells_nothing(dataset: Dataset, candidates: Sequence[str]) -> list[str]:
    """
    Return those of some columns that carry no information about the class, as measured.

    Such a column is constant, or its mutual information with the class is not above
    chance, by itself and given each other column. Columns are cut into quarters (texts into their
    most frequent values) and G-tests compare with the chi-squared distribution. Too few rows for
    that say nothing of any column that varies.
    """
    step = 1 + dataset.n_rows // _MOST_ROWS
    rows = np.arange(0, dataset.n_rows, step)
    y = np.unique(dataset.y[rows], return_inverse=True)[1]
    bins = {column.name: _binned(column.take(rows)) for column in dataset.table.columns}
    constant = [name for name in candidates if not bins[name].any()]
    varying = [name for name in candidates if bins[name].any()]
    is_enough = len(y) >= _ROWS_PER_CELL * _BINS**2 * (int(y.max()) + 1)
    tested = varying[: _MOST_TESTS // len(bins)] if is_enough else []
    found = [name for name in tested if not any(_above_chance(bins, name, y))]
    return [name for name in candidates if name in {*constant, *found}]


def _above_chance(bins: dict[str, IntArray], name: str, y: IntArray) -> Iterator[bool]:
    """Yield the result of each test of a column for information: alone, then given another."""
    from scipy.special import chdtri  # takes its time

    others = [each for other, each in bins.items() if other != name and each.any()]
    for given in (np.zeros_like(y), *others):
        g, freedom = _g_test(bins[name], y, given)
        yield bool(freedom and g > chdtri(freedom, LEVEL / (1 + len(others))))


def _g_test(x: IntArray, y: IntArray, given: IntArray) -> tuple[float, int]:
    """Return 2 n I(X; Y | Z) in nats, and its degrees of freedom, over the states that occur."""
    shape = int(given.max()) + 1, int(x.max()) + 1, int(y.max()) + 1
    counts = np.zeros(shape)
    np.add.at(counts, (given, x, y), 1)
    of_x, of_y = counts.sum(axis=2, keepdims=True), counts.sum(axis=1, keepdims=True)
    expected = of_x * of_y / np.maximum(counts.sum(axis=(1, 2), keepdims=True), 1)
    seen = counts > 0
    g = 2 * float((counts[seen] * np.log(counts[seen] / expected[seen])).sum())
    freedom = ((of_x[:, :, 0] > 0).sum(axis=1) - 1) * ((of_y[:, 0] > 0).sum(axis=1) - 1)
    return g, int(np.maximum(freedom, 0).sum())


def _binned(column: Column) -> IntArray:
    """Return small states: quarters of numbers, frequent texts, missing cells of their own."""
    known = ~column.missing
    states = np.zeros(len(column.missing), dtype=np.int64)
    if not known.any():
        return states
    if column.kind == "category":
        texts = column.values[known].tolist()
        counts: dict[str, int] = {}
        for text in texts:
            counts[text] = counts.get(text, 0) + 1
        order = sorted(counts, key=lambda text: -counts[text])
        index = {text: min(k, _BINS) for k, text in enumerate(order)}
        states[known] = [index[text] for text in texts]
    else:
        values = column.values[known]
        cuts = np.unique(np.quantile(values, np.arange(1, _BINS) / _BINS))
        states[known] = np.searchsorted(cuts, values, side="left")
        if not states.any():  # more than three quarters are the least value
            states[known] = values > values.min()
    states[~known] = states.max() + 1
    return np.asarray(np.unique(states, return_inverse=True)[1], dtype=np.int64)
