"""Counting: how often states, pairs of states and table rows occur in each class."""

from collections.abc import Callable, Iterator, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from bncc._types import AnyArray, FloatArray, IntArray
from bncc.structure.graph import Structure

Term = Callable[[int], FloatArray]
"""``term(n_cells)`` is a look-up table f with f[k] = the term of a cell counted k times, f[0] = 0,
in a contingency table of n_cells cells."""

BLOCK_COLUMNS = 512
"""One-hot columns multiplied at once: a block of pairs then holds about a megabyte of counts."""

SECONDS_PER_READING = 2e-9
SECONDS_PER_CELL = 3e-9
SECONDS_PER_PRODUCT = 5e-11
SECONDS_PER_INDICATOR = 8e-9
SECONDS_PER_CALL = 1e-5
"""Rough costs on one core, used only to choose the sooner of two ways that agree exactly."""


def class_counts(y: IntArray, n_classes: int, weights: FloatArray | None = None) -> AnyArray:
    """Count the rows of each class.

    Parameters
    ----------
    y : (n_samples,) int
        Class indices.
    n_classes : int
        C.
    weights : (n_samples,) float64, optional
        How much each row counts.

    Returns
    -------
    (n_classes,) int64, or float64 with weights
        Rows of each class.
    """
    return np.bincount(y, weights, n_classes)


def family_rows(X: IntArray, structure: Structure, n_states: Sequence[int], i: int) -> IntArray:
    """Return the table row that feature i reads: parents in mixed radix, the feature innermost.

    Parameters
    ----------
    X : (n_samples, n_features) int
        States.
    structure : Structure
        The graph.
    n_states : sequence of int
        Cardinality of each feature.
    i : int
        The feature.

    Returns
    -------
    (n_samples,) int64
        Rows in ``0 .. n_states[i] * prod(n_states[parents]) - 1``.
    """
    index = np.zeros(len(X), dtype=np.int64)
    for j in (*structure.parents[i], i):
        index = index * n_states[j] + X[:, j]
    return index


def family_counts(
    X: IntArray,
    y: IntArray,
    structure: Structure,
    n_states: Sequence[int],
    n_classes: int,
    i: int,
    weights: FloatArray | None = None,
) -> AnyArray:
    """Count the joint states of feature i, its feature parents and the class.

    Parameters
    ----------
    X : (n_samples, n_features) int
        States.
    y : (n_samples,) int
        Class indices.
    structure : Structure
        The graph.
    n_states : sequence of int
        Cardinality of each feature.
    n_classes : int
        C.
    i : int
        The feature.
    weights : (n_samples,) float64, optional
        How much each row counts.

    Returns
    -------
    (n_parent_states, n_states[i], n_classes) int64, or float64 with weights
        Number of rows in each cell.
    """
    n_parent_states = prod(n_states[j] for j in structure.parents[i])
    cells = family_rows(X, structure, n_states, i) * n_classes + y
    counts = np.bincount(cells, weights, n_parent_states * n_states[i] * n_classes)
    return counts.reshape(n_parent_states, n_states[i], n_classes)


def single_sums(
    X: IntArray, y: IntArray, n_states: Sequence[int], n_classes: int, term: Term
) -> FloatArray:
    """Sum a term over the cells of each feature's table of counts N(x_i, c).

    Parameters
    ----------
    X, y, n_states, n_classes
        As in `pair_sums`.
    term : callable
        Look-up table of the term for a number of cells, see `Term`.

    Returns
    -------
    (n_features,) float64
        The sums.
    """
    sums = np.zeros(X.shape[1])
    for i, r in enumerate(n_states):
        counts = np.bincount(X[:, i].astype(np.int64) * n_classes + y)
        sums[i] = term(r * n_classes)[counts].sum()
    return sums


def pair_sums(
    X: IntArray, y: IntArray, n_states: Sequence[int], n_classes: int, term: Term
) -> FloatArray:
    """Sum a term over the cells of each pair's table of counts N(x_i, x_j, c).

    Two ways count the pairs: one pass over the rows per pair, or one-hot products of whole
    blocks of features; the sooner by a rough estimate is taken. Counts are integers, so both
    agree, and memory stays at some megabytes beyond the result.

    Parameters
    ----------
    X : (n_samples, n_features) int
        States.
    y : (n_samples,) int
        Class indices.
    n_states : sequence of int
        Cardinality of each feature.
    n_classes : int
        C.
    term : callable
        Look-up table of the term for a number of cells, see `Term`.

    Returns
    -------
    (n_features, n_features) float64
        Symmetric; the diagonal is 0.
    """
    n_samples, n = X.shape
    width = sum(n_states)
    by_pair = n * n / 2 * (n_samples * SECONDS_PER_READING + SECONDS_PER_CALL)
    by_pair += width**2 / 2 * n_classes * SECONDS_PER_CELL
    by_product = width**2 / 2 * (n_samples * SECONDS_PER_PRODUCT + n_classes * SECONDS_PER_CELL)
    by_product += width * n_samples * SECONDS_PER_INDICATOR
    by_product += (width / BLOCK_COLUMNS + 1) ** 2 * n_classes * SECONDS_PER_CALL
    count = _sums_by_product if by_product < by_pair else _sums_by_pair
    return count(X, y, n_states, n_classes, term)


def _sums_by_pair(
    X: IntArray, y: IntArray, n_states: Sequence[int], n_classes: int, term: Term
) -> FloatArray:
    columns = np.ascontiguousarray(X.T, dtype=np.int64)
    sums = np.zeros((len(columns), len(columns)))
    for i in range(1, len(columns)):
        inner = columns[i] * n_classes + y
        for j in range(i):
            n_cells = n_states[i] * n_states[j] * n_classes
            cells = columns[j] * (n_states[i] * n_classes) + inner
            sums[i, j] = sums[j, i] = term(n_cells)[_occurrences(cells, n_cells)].sum()
    return sums


def _occurrences(cells: IntArray, n_cells: int) -> IntArray:
    """Count occupied cells; a table far larger than the rows is never laid out."""
    if n_cells <= max(1 << 16, 4 * len(cells)):
        return np.bincount(cells)
    return np.unique(cells, return_counts=True)[1]


def _sums_by_product(
    X: IntArray, y: IntArray, n_states: Sequence[int], n_classes: int, term: Term
) -> FloatArray:
    order = np.argsort(y, kind="stable")
    sizes = class_counts(y, n_classes)
    ends = np.cumsum(sizes)
    classes = [slice(ends[c] - sizes[c], ends[c]) for c in np.flatnonzero(sizes)]
    columns = np.asarray(X[order])
    blocks = list(_blocks_of_equal_states(n_states))
    sums = np.zeros((X.shape[1], X.shape[1]))
    for a, (left, r) in enumerate(blocks):
        left_hot = _one_hot(columns[:, left], r)
        for right, s in blocks[: a + 1]:
            right_hot = left_hot if right is left else _one_hot(columns[:, right], s)
            values = term(r * s * n_classes)
            total = np.zeros((len(left), len(right)))
            for rows in classes:
                counts = (left_hot[rows].T @ right_hot[rows]).astype(np.int64)
                total += values[counts].reshape(len(left), r, len(right), s).sum(axis=(1, 3))
            if right is left:
                np.fill_diagonal(total, 0.0)
            sums[np.ix_(left, right)] = total
            sums[np.ix_(right, left)] = total.T
    return sums


def _blocks_of_equal_states(n_states: Sequence[int]) -> Iterator[tuple[IntArray, int]]:
    cardinality = np.asarray(n_states)
    for r in np.unique(cardinality):
        features = np.flatnonzero(cardinality == r)
        size = max(1, BLOCK_COLUMNS // int(r))
        for start in range(0, len(features), size):
            yield features[start : start + size], int(r)


def _one_hot(columns: IntArray, r: int) -> NDArray[np.float32]:
    """Return indicator columns in float32, whose products count exactly up to 2**24 rows."""
    hot = columns[:, :, None] == np.arange(r)
    return np.asarray(hot.reshape(len(columns), columns.shape[1] * r), dtype=np.float32)
