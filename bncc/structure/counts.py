"""Counting: rows of classes, of tables, and of all pairs of features in one pass."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np
from numpy.typing import NDArray

from bncc._types import AnyArray, FloatArray, IntArray
from bncc.structure.graph import Structure, class_rows


def class_counts(y: IntArray, n_classes: int, weights: FloatArray | None = None) -> AnyArray:
    """
    Count the rows of each class.

    Shapes: `y` (n_samples,) int; `weights` (n_samples,) float64; returns (n_classes,) int64, or
    float64 with weights, rows of each class.
    """
    return np.bincount(y, weights, n_classes)


def class_family_counts(
    X: IntArray,
    y: IntArray,
    structure: Structure,
    n_states: Sequence[int],
    n_classes: int,
    weights: FloatArray | None = None,
) -> AnyArray:
    """
    Count the joint states of the class and its parents.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int; `weights` (n_samples,) float64;
    returns (n_parent_states, n_classes) int64, or float64 with weights, rows of each class by the
    joint state of its parents, the first outermost.
    """
    row = np.zeros(len(X), dtype=np.int64)
    for j in structure.class_parents:
        row = row * n_states[j] + X[:, j]
    n_rows = class_rows(structure, n_states)
    return np.bincount(row * n_classes + y, weights, n_rows * n_classes).reshape(n_rows, n_classes)


def family_rows(X: IntArray, structure: Structure, n_states: Sequence[int], i: int) -> IntArray:
    """
    Return the table row that feature i reads: parents in mixed radix, the feature innermost.

    Shapes: `X` (n_samples, n_features) int; returns (n_samples,) int64, rows in ``0 .. n_states[i]
    * prod(n_states[parents]) - 1``.
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
    """
    Count the joint states of feature i, its feature parents and the class.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int; `weights` (n_samples,) float64;
    returns (n_parent_states, n_states[i], n_classes) int64, or float64 with weights, number of rows
    in each cell.
    """
    n_parent_states = prod(n_states[j] for j in structure.parents[i])
    cells = family_rows(X, structure, n_states, i) * n_classes + y
    counts = np.bincount(cells, weights, n_parent_states * n_states[i] * n_classes)
    return counts.reshape(n_parent_states, n_states[i], n_classes)


BLOCK_COLUMNS = 512
"""One-hot columns per matrix product: a block of pairs then holds about a megabyte of counts."""
BLOCK_ROWS = 1 << 16
"""Rows per matrix product: their indicators take some hundred megabytes, and float32 counts are
exact up to 2**24."""

SECONDS_PER_READING = 2e-9
SECONDS_PER_CELL = 3e-9
SECONDS_PER_PRODUCT = 5e-11
SECONDS_PER_INDICATOR = 8e-9
SECONDS_PER_CALL = 1e-5
"""Rough times on one core, used only to choose the faster of two methods with equal results."""


@dataclass(frozen=True, eq=False)
class PairBlock:
    """Counts of some pairs of features whose tables have equal size."""

    left: IntArray  # (n_left,) int64: First features of the pairs
    # (n_right,) int64: Second features: the same array as `left`, or features that are not on the
    # left in any block that has these on the right
    right: IntArray
    n_cells: int  # Cells of each pair's table, empty ones included
    # (n_left, k, n_right, l) int64: Cells of each pair, in any order; empty cells may be missing
    counts: IntArray
    # True for cells of N(x_i, x_j, c), False for N(x_i, x_j). The cells of a pair may be spread
    # over several blocks, such as one per class.
    has_class: bool


def single_tables(
    X: IntArray, y: IntArray, n_states: Sequence[int], n_classes: int
) -> Iterator[IntArray]:
    """
    Count N(x_i, c) of one feature at a time.

    Shapes: yields (n_states[i], n_classes) int64, rows of each state and class.
    """
    for i, r in enumerate(n_states):
        cells = X[:, i].astype(np.int64) * n_classes + y
        yield np.bincount(cells, minlength=r * n_classes).reshape(r, n_classes)


def pair_blocks(
    X: IntArray, y: IntArray, n_states: Sequence[int], n_classes: int, *, with_marginal: bool
) -> Iterator[PairBlock]:
    """
    Count N(x_i, x_j, c) of all pairs.

    Two methods are available: one pass over the rows per pair, or one-hot products of whole
    blocks of features; the faster one by a rough estimate is used. Counts are integers, so both
    agree, and memory stays at some hundred megabytes.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int.
    """
    n_samples, n = X.shape
    width = sum(n_states)
    by_pair = n * n / 2 * (n_samples * SECONDS_PER_READING + SECONDS_PER_CALL)
    by_pair += width**2 / 2 * n_classes * SECONDS_PER_CELL
    by_product = width**2 / 2 * (n_samples * SECONDS_PER_PRODUCT + n_classes * SECONDS_PER_CELL)
    by_product += width * n_samples * SECONDS_PER_INDICATOR
    by_product += (width / BLOCK_COLUMNS + 1) ** 2 * n_classes * SECONDS_PER_CALL
    count = _by_product if by_product < by_pair else _by_pair
    return count(X, y, n_states, n_classes, with_marginal)


def _by_pair(
    X: IntArray, y: IntArray, n_states: Sequence[int], n_classes: int, with_marginal: bool
) -> Iterator[PairBlock]:
    columns = np.ascontiguousarray(X.T, dtype=np.int64)
    blocks = list(blocks_of_equal_states(n_states))
    for a, (features, r) in enumerate(blocks):
        for at, i in enumerate(features):
            inner, left = columns[i] * n_classes + y, features[at : at + 1]
            for right, s in (*blocks[:a], (features[:at], r)):
                shape = (s, r, n_classes)
                is_large = s * r * n_classes > max(1 << 16, 4 * len(y))
                count = _occupied if is_large else _laid_out
                if len(right):
                    yield from count(columns[right], inner, left, right, shape, with_marginal)


def _laid_out(
    others: IntArray,
    inner: IntArray,
    left: IntArray,
    right: IntArray,
    shape: tuple[int, int, int],
    with_marginal: bool,
) -> Iterator[PairBlock]:
    """Count all cells of one feature with others, whose states are outermost."""
    s, r, n_classes = shape
    joint = np.empty((1, 1, len(right), s * r * n_classes), dtype=np.int64)
    for k, column in enumerate(others):
        joint[0, 0, k] = np.bincount(column * (r * n_classes) + inner, minlength=joint.shape[3])
    yield PairBlock(left, right, joint.shape[3], joint, True)
    if with_marginal:
        marginal = joint.reshape(1, 1, len(right), s * r, n_classes).sum(axis=4)
        yield PairBlock(left, right, s * r, marginal, False)


def _occupied(
    others: IntArray,
    inner: IntArray,
    left: IntArray,
    right: IntArray,
    shape: tuple[int, int, int],
    with_marginal: bool,
) -> Iterator[PairBlock]:
    """Count occupied cells only, without allocating tables far larger than the rows."""
    s, r, n_classes = shape
    for j, column in zip(right, others, strict=True):
        values, joint = np.unique(column * (r * n_classes) + inner, return_counts=True)
        yield PairBlock(left, np.array([j]), s * r * n_classes, joint[None, :, None, None], True)
        if with_marginal:
            starts = np.flatnonzero(np.diff(values // n_classes, prepend=-1))
            marginal = np.add.reduceat(joint, starts) if len(joint) else joint
            yield PairBlock(left, np.array([j]), s * r, marginal[None, :, None, None], False)


def _by_product(
    X: IntArray, y: IntArray, n_states: Sequence[int], n_classes: int, with_marginal: bool
) -> Iterator[PairBlock]:
    columns = np.asarray(X[np.argsort(y, kind="stable")])
    ends = np.cumsum(class_counts(y, n_classes))
    bounds = [0, *(int(end) for end in ends)]
    blocks = list(blocks_of_equal_states(n_states))
    for a, (left, r) in enumerate(blocks):
        for right, s in blocks[: a + 1]:
            marginal = np.zeros((len(left), r, len(right), s), dtype=np.int64)
            for start, end in pairwise(bounds):
                counts = np.zeros_like(marginal)
                for at in range(start, end, BLOCK_ROWS):
                    rows = columns[at : min(at + BLOCK_ROWS, end)]
                    hot = one_hot(rows[:, left], r)
                    other = hot if right is left else one_hot(rows[:, right], s)
                    counts += (hot.T @ other).astype(np.int64).reshape(counts.shape)
                if end > start:
                    yield PairBlock(left, right, r * s * n_classes, counts, True)
                    marginal += counts
            if with_marginal:
                yield PairBlock(left, right, r * s, marginal, False)


def blocks_of_equal_states(n_states: Sequence[int]) -> Iterator[tuple[IntArray, int]]:
    """
    Split the features into blocks of one cardinality and at most `BLOCK_COLUMNS` indicators.

    Shapes: yields features (k,) int64, ascending.
    """
    cardinality = np.asarray(n_states)
    for r in np.unique(cardinality):
        features = np.flatnonzero(cardinality == r)
        size = max(1, BLOCK_COLUMNS // int(r))
        for start in range(0, len(features), size):
            yield features[start : start + size], int(r)


def one_hot(columns: IntArray, r: int) -> NDArray[np.float32]:
    """
    Return indicators, whose products are exact counts up to 2**24 rows.

    Shapes: `columns` (n_samples, k) int; returns (n_samples, k * r) float32, 1 where a feature is
    in a state.
    """
    hot = np.empty((*columns.shape, r), dtype=np.float32)
    np.equal(columns[:, :, None], np.arange(r), out=hot, casting="unsafe")
    return hot.reshape(len(columns), columns.shape[1] * r)
