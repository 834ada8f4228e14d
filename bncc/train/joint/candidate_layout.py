"""Layout of the tables of all candidate parents in one tensor."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.structure.candidates import Candidates
from bncc.structure.graph import Structure
from bncc.train.maximum_likelihood import ml_log_tables


@dataclass(frozen=True, eq=False)
class Drawn:
    """The tables of one structure, extracted from the tensor and concatenated."""

    rows: IntArray  # (n_drawn_rows,) int64: Their rows in the tensor
    first: IntArray  # (n_features,) int64: First row of each feature's table among the drawn rows
    # Blocks of drawn rows as (parent states, states), for `normalize`
    groups: tuple[tuple[int, int], ...]
    # (n_drawn_rows, 1) int64 or None: Largest excess of a cost over the smallest in its row; None
    # without widths
    most: IntArray | None = None


@dataclass(frozen=True, eq=False)
class CandidateLayout:
    """
    Tables of all slots of all features, concatenated.

    Slot 0 of a feature is "no parent", slot k its k-th candidate. In slot k feature i reads row
    ``offset[i, k] + x[parent[i, k]] * stride[i, k] + x[i]``. With a choice of widths, all these
    slots are repeated for each width, one width after the other. They share their tables: a
    width bounds the values read from one, see `most`.
    """

    candidates: Candidates  # Candidate parents
    # (n_features, n_slots) int64: First row of each table; that of slot 0 where a slot is absent
    offset: IntArray
    # (n_features, n_slots) int64: Rows of each table, 0 where a slot is absent
    n_table_rows: IntArray
    # (n_features, n_slots) int64: parent and stride: The parent, and the distance in rows of its
    # consecutive states; both 0 without a parent
    parent: IntArray
    stride: IntArray
    n_states: IntArray  # (n_features,) int64: Cardinality of each feature
    # Allowed bits, ascending; empty if all tables have those of the format
    widths: tuple[int, ...] = ()

    @property
    def n_planes(self) -> int:
        """Number of readings of the tensor, each in another width."""
        return max(1, len(self.widths))

    @property
    def n_choices(self) -> int:
        """Slots of a feature in one width."""
        return len(self.offset.T) // self.n_planes

    @property
    def plane(self) -> IntArray:
        """Index of the width of each slot: (n_slots,) int64."""
        return np.arange(self.offset.shape[1]) // self.n_choices

    @property
    def read_offset(self) -> IntArray:
        """First row of each table when the tensor is read in all widths: as `offset`."""
        return self.offset + self.plane * self.n_rows

    @property
    def most(self) -> IntArray:
        """Largest excess of a cost over the smallest in its row, by width: (n_widths,) int64."""
        return (1 << np.array(self.widths, dtype=np.int64)) - 1

    @property
    def n_rows(self) -> int:
        """Rows of the tensor."""
        return int(self.n_table_rows[:, : self.n_choices].sum())

    def choose(self, choice: IntArray) -> Structure:
        """
        Return the structure of a choice.

        Shapes: `choice` (n_features,) int64.
        """
        return self.candidates.choose(choice % self.n_choices)

    def is_present(self, has_widths: bool) -> BoolArray:
        """
        Return the mask of slots that may be sampled.

        Shapes: returns (n_features, n_slots) bool, True for candidates and for "no parent".
        """
        return np.asarray((self.n_table_rows > 0) & (has_widths | (self.plane == 0)))

    def spread(self, of_slots: Any) -> None:
        """
        Repeat the values of the first width's slots for all widths.

        Shapes: `of_slots` (n_features, n_slots) array or tensor.
        """
        n = self.n_choices
        for plane in range(1, self.n_planes):
            of_slots[:, plane * n : (plane + 1) * n] = of_slots[:, :n]

    def widths_of(self, choice: IntArray) -> tuple[int, ...]:
        """Return the bits of the tables of a choice; empty without widths."""
        return tuple(self.widths[w] for w in self.plane[choice]) if self.widths else ()

    def draw(self, choice: IntArray) -> Drawn:
        """
        Extract the tables of a structure from the tensor.

        Shapes: `choice` (n_features,) int64.
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
        most = None
        if self.widths:
            most = np.repeat(self.most[self.plane[slots]], sizes)[:, None]
        return Drawn(rows, first, groups, most)


def candidate_layout(
    candidates: Candidates, n_states: Sequence[int], widths: Sequence[int] = ()
) -> CandidateLayout:
    """Lay out the tables of all candidates."""
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
    offset, n_table_rows, parent, stride = (
        np.tile(column, max(1, len(widths))) for column in (offset, n_table_rows, parent, stride)
    )
    return CandidateLayout(candidates, offset, n_table_rows, parent, stride, states, tuple(widths))


def count_rows(candidates: Candidates, n_states: Sequence[int]) -> int:
    """Return the total rows of the tables of all candidates."""
    return candidate_layout(candidates, n_states).n_rows


def counted_start(
    X: IntArray,
    y: IntArray,
    layout: CandidateLayout,
    n_classes: int,
    weights: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """
    Return smoothed relative frequencies for every candidate, as initial values.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int; `weights` (n_samples,) float64;
    returns log_prior (n_classes,) float64, natural log-probabilities; minus infinity for a class
    without rows; returns table (n_rows, n_classes) float64, the tensor.
    """
    table = np.empty((layout.n_rows, n_classes))
    log_prior = np.empty(0)
    for slot in range(layout.n_choices):
        is_there = layout.n_table_rows[:, slot] > 0
        structure = layout.candidates.choose(np.where(is_there, slot, 0))
        log_prior, tables = ml_log_tables(
            X, y, structure, layout.n_states.tolist(), n_classes, weights=weights
        )
        for i in np.flatnonzero(is_there):
            start = layout.offset[i, slot]
            table[start : start + len(tables[i])] = tables[i]
    return log_prior, table


def entries_of(layout: CandidateLayout, n_classes: int) -> IntArray:
    """
    Return the entries of every table.

    Shapes: returns (n_features, n_slots) int64, 0 where a slot is absent.
    """
    return layout.n_table_rows * n_classes


def flash_bits_of(layout: CandidateLayout, costs: IntArray) -> IntArray:
    r"""
    Return the bits of every table after three of the compiler's passes.

    .. math:: |\theta_{ik}|\,\bigl\lceil \log_2 (1 + \max_{r, c} (q_{rc} - \min_{c'} q_{rc'}))
        \bigr\rceil

    These passes examine a single table: normalize rows subtracts from each row its smallest cost,
    drop constant drops a table whose rows are then all equal, and shrink width stores the result in
    as many bits as the largest needs. Passes that examine several tables may reduce it further: the
    default flow reduced 3,920 bits to 3,552, 5,496 to 4,908 and 1,000 to 992 in three models.

    Shapes: `costs` (n_rows, n_classes) int64; returns (n_features, n_slots) int64, each table in
    the width of its slot; 0 where a slot is absent.
    """
    is_there = layout.n_table_rows[:, : layout.n_choices] > 0
    starts = layout.offset[:, : layout.n_choices][is_there]
    first_rows = np.repeat(starts, layout.n_table_rows[:, : layout.n_choices][is_there])
    excess = costs - costs.min(axis=1, keepdims=True)
    bits = np.zeros_like(layout.n_table_rows)
    planes = np.split(bits, layout.n_planes, axis=1)
    for plane, most in zip(planes, layout.most if layout.widths else [None], strict=True):
        left = excess if most is None else np.minimum(excess, most)
        # frexp returns the bits of an integer, and 0 for 0.
        needed = np.frexp(np.maximum.reduceat(left.max(axis=1), starts).astype(float))[1]
        differs = (left != left[first_rows]).any(axis=1)
        plane[is_there] = np.where(np.logical_or.reduceat(differs, starts), needed, 0)
    return bits * entries_of(layout, costs.shape[1])
