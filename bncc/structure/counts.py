"""Counting: how often the classes and the rows of a table occur."""

from collections.abc import Sequence
from math import prod

import numpy as np

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
