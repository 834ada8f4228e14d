"""Columns of states, and which joint states of them occur."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bncc._types import AnyArray, IntArray

CELLS_PER_ROW = 4
"""Joint states that are listed for each row; of more, only those that occur are listed."""


@dataclass(frozen=True, eq=False)
class Columns:
    """The variables of a graph, the class among them."""

    states: IntArray  # (n_variables, n_samples) int: State of each variable in each row, from 0
    n_states: tuple[int, ...]  # Cardinality of each variable

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.n_states)

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.states.shape[1])

    def rows(self, chosen: AnyArray) -> "Columns":
        """
        Return some of the rows.

        Shapes: `chosen` (n,) int or bool.
        """
        return Columns(np.ascontiguousarray(self.states[:, chosen]), self.n_states)


@dataclass(frozen=True, eq=False)
class Joint:
    """Which joint state of some variables each row is in."""

    # (n_samples,) int64: In ``0 .. n_listed - 1``; equal for rows of equal states, and only for
    # them.
    index: IntArray
    n_listed: int  # Joint states that the index tells apart, occurring or not
    n_cells: int  # Joint states that there are

    def with_column(self, states: IntArray, r: int) -> "Joint":
        """
        Return the joint states with one variable more.

        Shapes: `states` (n_samples,) int.
        """
        n_listed, index = self.n_listed * r, self.index * r + states
        if n_listed > CELLS_PER_ROW * max(len(index), 64):
            occurring, index = np.unique(index, return_inverse=True)
            n_listed = len(occurring)
        return Joint(index, n_listed, self.n_cells * r)

    def counts(self) -> IntArray:
        """
        Return how often each of the states occurs that occur.

        Shapes: returns (n,) int64, each > 0; they sum to the number of rows.
        """
        counts = np.bincount(self.index, minlength=1)
        return counts[counts > 0]


def one_joint(n_samples: int) -> Joint:
    """Return the joint state of no variables, which every row is in."""
    return Joint(np.zeros(n_samples, dtype=np.int64), 1, 1)


def columns_of(X: IntArray, y: IntArray, n_states: Sequence[int], n_classes: int) -> Columns:
    """
    Return the columns of features and class.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int.
    """
    states = np.vstack([np.asarray(X).T, np.asarray(y)[None, :]])
    return Columns(np.ascontiguousarray(states), (*map(int, n_states), int(n_classes)))


Dag = tuple[tuple[int, ...], ...]
"""Parents of each variable, ascending, without cycles."""


def no_arcs(n_variables: int) -> Dag:
    """Return the graph without arcs."""
    return ((),) * n_variables


def arcs_of(dag: Dag) -> tuple[tuple[int, int], ...]:
    """Return the arcs of a graph."""
    return tuple((j, i) for i, parents in enumerate(dag) for j in parents)
