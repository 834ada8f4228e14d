"""Where the tables of all candidate parents lie in one tensor."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.structure.candidates import Candidates
from bncc.train.maximum_likelihood import ml_log_tables


@dataclass(frozen=True, eq=False)
class Drawn:
    """The tables of one structure, taken out of the tensor and set below one another.

    Parameters
    ----------
    rows : (n_drawn_rows,) int64
        Their rows in the tensor.
    first : (n_features,) int64
        Where each feature's table begins among the drawn rows.
    groups : tuple of (int, int)
        Blocks of drawn rows as (parent states, states), for `normalize`.
    """

    rows: IntArray
    first: IntArray
    groups: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class CandidateLayout:
    """Tables of all slots of all features below one another.

    Slot 0 of a feature is "no parent", slot k its k-th candidate. In slot k feature i reads row
    ``offset[i, k] + x[parent[i, k]] * stride[i, k] + x[i]``.

    Parameters
    ----------
    candidates : Candidates
        The parents to choose from.
    offset : (n_features, n_slots) int64
        First row of each table; that of slot 0 where a slot is absent.
    n_table_rows : (n_features, n_slots) int64
        Rows of each table, 0 where a slot is absent.
    parent, stride : (n_features, n_slots) int64
        The parent and what one step of its state is worth in rows; both 0 without a parent.
    n_states : (n_features,) int64
        Cardinality of each feature.
    """

    candidates: Candidates
    offset: IntArray
    n_table_rows: IntArray
    parent: IntArray
    stride: IntArray
    n_states: IntArray

    @property
    def n_rows(self) -> int:
        """Rows of the tensor."""
        return int(self.n_table_rows.sum())

    def draw(self, choice: IntArray) -> Drawn:
        """Take the tables of a structure out of the tensor.

        Parameters
        ----------
        choice : (n_features,) int64
            The slot of each feature.

        Returns
        -------
        Drawn
            Tables in order of cardinality, so that equal ones are normalized together.
        """
        features = np.argsort(self.n_states, kind="stable")
        slots = choice[features]
        sizes = self.n_table_rows[features, slots]
        ends = np.cumsum(sizes)
        starts = ends - sizes
        rows = np.arange(ends[-1]) + np.repeat(self.offset[features, slots] - starts, sizes)
        first = np.empty_like(starts)
        first[features] = starts
        states, begin = np.unique(self.n_states[features], return_index=True)
        group_rows = np.add.reduceat(sizes, begin)
        groups = tuple((int(n // r), int(r)) for n, r in zip(group_rows, states, strict=True))
        return Drawn(rows, first, groups)


def candidate_layout(candidates: Candidates, n_states: Sequence[int]) -> CandidateLayout:
    """Lay out the tables of all candidates.

    Parameters
    ----------
    candidates : Candidates
        The parents to choose from.
    n_states : sequence of int
        Cardinality of each feature.

    Returns
    -------
    CandidateLayout
        Feature after feature, slot after slot.
    """
    states = np.asarray(n_states, dtype=np.int64)
    n = len(states)
    is_there = np.column_stack([np.ones(n, dtype=bool), candidates.is_present])
    has_parent = is_there & (np.arange(is_there.shape[1]) > 0)
    parent = np.where(has_parent, np.column_stack([np.zeros(n, int), candidates.parent]), 0)
    n_table_rows = np.where(has_parent, states[parent], 1) * states[:, None] * is_there
    ends = np.cumsum(n_table_rows).reshape(n_table_rows.shape)
    offset = ends - n_table_rows
    offset = np.where(is_there, offset, offset[:, :1])
    stride = np.where(has_parent, states[:, None], 0)
    return CandidateLayout(candidates, offset, n_table_rows, parent, stride, states)


def count_rows(candidates: Candidates, n_states: Sequence[int]) -> int:
    """Return the rows that the tables of all candidates have together.

    Parameters
    ----------
    candidates : Candidates
        The parents to choose from.
    n_states : sequence of int
        Cardinality of each feature.

    Returns
    -------
    int
        Rows; times the number of classes they are entries.
    """
    return candidate_layout(candidates, n_states).n_rows


def counted_start(
    X: IntArray, y: IntArray, layout: CandidateLayout, n_classes: int
) -> tuple[FloatArray, FloatArray]:
    """Return smoothed relative frequencies for every candidate, to begin with.

    Parameters
    ----------
    X : (n_samples, n_features) int
        States.
    y : (n_samples,) int
        Class indices.
    layout : CandidateLayout
        Where tables lie.
    n_classes : int
        C.

    Returns
    -------
    log_prior : (n_classes,) float64
        Natural log-probabilities; minus infinity for a class without rows.
    table : (n_rows, n_classes) float64
        The tensor.
    """
    n_slots = layout.offset.shape[1]
    table = np.empty((layout.n_rows, n_classes))
    log_prior = np.empty(0)
    for slot in range(n_slots):
        is_there = layout.n_table_rows[:, slot] > 0
        structure = layout.candidates.choose(np.where(is_there, slot, 0))
        log_prior, tables = ml_log_tables(X, y, structure, layout.n_states.tolist(), n_classes)
        for i in np.flatnonzero(is_there):
            start = layout.offset[i, slot]
            table[start : start + len(tables[i])] = tables[i]
    return log_prior, table
