"""Layout of the tables that gradient descent changes in the trained tensor."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeVar

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.structure.graph import Structure
from bncc.train.maximum_likelihood import LogTables

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ClassTables:
    """Features with the class as a parent, then the other features that they read."""

    columns: tuple[int, ...]  # Features of the whole structure
    structure: Structure  # Their structure; features that are only read have no parents
    n_tables: int  # Features with the class
    whole: LogTables  # Initial prior and tables of the whole structure

    @property
    def start(self) -> LogTables:
        """Initial prior and tables with the class."""
        prior, tables = self.whole
        return prior, tuple(tables[i] for i in self.columns[: self.n_tables])

    def of(self, values: Sequence[T]) -> list[T]:
        """Return the values of these features from those of all features."""
        return [values[i] for i in self.columns]

    def states(self, X: IntArray) -> IntArray:
        """Return the states of these features, (n_samples, n_columns)."""
        return X if self.columns == tuple(range(X.shape[1])) else X[:, list(self.columns)]

    def put_back(self, learned: LogTables) -> LogTables:
        """
        Return tables of the whole structure.

        Shapes: returns log_prior (n_classes,) float64, as learned.
        """
        prior, tables = learned
        place = dict(zip(self.columns, tables, strict=False))
        return prior, tuple(place.get(i, table) for i, table in enumerate(self.whole[1]))


def class_tables(structure: Structure, whole: LogTables) -> ClassTables:
    """Return the part of a structure that gradient descent changes."""
    flags = structure.class_is_parent
    with_class = [i for i, flag in enumerate(flags) if flag]
    read = sorted({j for i in with_class for j in structure.parents[i] if not flags[j]})
    place = {feature: k for k, feature in enumerate((*with_class, *read))}
    parents = [tuple(place[j] for j in structure.parents[i]) for i in with_class]
    n = len(with_class)
    part = Structure((*parents, *(() for _ in read)), (True,) * n + (False,) * len(read))
    return ClassTables(tuple(place), part, n, whole)


LEAST_LOG = -30.0
"""Smallest initial log-probability: minus infinity would have no gradient."""


@dataclass(frozen=True, eq=False)
class TableLayout:
    """
    All tables concatenated in a tensor of n_rows rows and one column per class.

    The row of feature i is ``offset[i] + sum_j stride[i, j] * x[j] + x[i]`` over its parents j,
    which is its offset plus its row in the model's own table. Features of equal cardinality are
    adjacent, so that their tables are normalized by one operation.

    Only features with the class as a parent have a table here. They come first; others may follow
    as parents of theirs.
    """

    offset: IntArray  # (n_tables,) int64: First row of each feature's table
    n_table_rows: IntArray  # (n_tables,) int64: Rows of each feature's table
    # (n_tables, max_parents) int64: parent and stride: Parents of each feature, and the distance in
    # rows of consecutive parent states; absent parents have stride 0
    parent: IntArray
    stride: IntArray
    # Consecutive blocks of rows as (parent states, states): normalized over the second
    groups: tuple[tuple[int, int], ...]

    @property
    def n_rows(self) -> int:
        """Rows of the tensor."""
        return int(self.n_table_rows.sum())

    def stack(self, tables: Sequence[FloatArray]) -> FloatArray:
        """Return the tables, one per feature, as the tensor's rows."""
        order = np.argsort(self.offset, kind="stable")
        return np.concatenate([tables[i] for i in order])

    def unstack(self, tensor: FloatArray) -> tuple[FloatArray, ...]:
        """Return one table per feature from the tensor's rows."""
        return tuple(
            tensor[start : start + rows]
            for start, rows in zip(self.offset, self.n_table_rows, strict=True)
        )


def layout_of(structure: Structure, n_states: Sequence[int]) -> TableLayout:
    """Lay out the tables of a structure."""
    n = sum(structure.class_is_parent)
    if not n or not all(structure.class_is_parent[:n]):
        raise ValueError("gradient training needs features with the class first, before the others")
    all_parents, cardinality = structure.parents[:n], np.asarray(n_states)[:n]
    parent_states = [prod(n_states[j] for j in parents) for parents in all_parents]
    n_table_rows = np.array([q * r for q, r in zip(parent_states, cardinality, strict=True)])
    order = np.argsort(cardinality, kind="stable")
    offset = np.zeros(n, dtype=np.int64)
    offset[order] = np.cumsum(n_table_rows[order]) - n_table_rows[order]
    width = max(1, *(len(parents) for parents in all_parents))
    parent = np.zeros((n, width), dtype=np.int64)
    stride = np.zeros((n, width), dtype=np.int64)
    for i, parents in enumerate(all_parents):
        step = n_states[i]
        for k in reversed(range(len(parents))):
            parent[i, k], stride[i, k] = parents[k], step
            step *= n_states[parents[k]]
    groups: list[tuple[int, int]] = []
    for i in order:
        q, r = parent_states[i], n_states[i]
        if groups and groups[-1][1] == r:
            q += groups.pop()[0]
        groups.append((q, r))
    return TableLayout(offset, n_table_rows, parent, stride, tuple(groups))
