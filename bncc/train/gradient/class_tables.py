"""
The part of a problem that gradient descent changes: tables with the class, and what they read.

A table without the class adds the same to every class. It changes no margin, and the counted one
is that of greatest likelihood, so that it stays as it begins.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from bncc._types import IntArray
from bncc.structure.graph import Structure
from bncc.train.maximum_likelihood import LogTables

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ClassTables:
    """Features with the class as a parent, then those that they read besides."""

    columns: tuple[int, ...]  # Features of the whole structure
    structure: Structure  # Of these features; those that are only read have no parents
    n_tables: int  # Features with the class
    whole: LogTables  # Prior and tables of the whole structure to begin with

    @property
    def start(self) -> LogTables:
        """Prior and tables with the class, to begin with."""
        prior, tables = self.whole
        return prior, tuple(tables[i] for i in self.columns[: self.n_tables])

    def of(self, values: Sequence[T]) -> list[T]:
        """Return what belongs to these features among values of all features."""
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
    """Find the part of a structure that gradient descent changes."""
    flags = structure.class_is_parent
    with_class = [i for i, flag in enumerate(flags) if flag]
    read = sorted({j for i in with_class for j in structure.parents[i] if not flags[j]})
    place = {feature: k for k, feature in enumerate((*with_class, *read))}
    parents = [tuple(place[j] for j in structure.parents[i]) for i in with_class]
    n = len(with_class)
    part = Structure((*parents, *(() for _ in read)), (True,) * n + (False,) * len(read))
    return ClassTables(tuple(place), part, n, whole)
