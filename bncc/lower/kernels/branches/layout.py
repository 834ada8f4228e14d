"""
The kernel of branches: every table's row found by the comparisons of its decision tree.

Three forms, by the content of leaves. One table: the class. Two classes: the *margin* of the row,
the cost of the second class minus that of the first, less the least such difference of the table;
margins are added up in one number. Otherwise the words of the row, packed in lanes as in the lanes
kernel, or the place of these words in an array.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from bncc._types import IntArray
from bncc.lower.kernels.branches.trees import (
    Branch,
    branches_of,
    leaf_depths,
    leaves_of,
    nodes,
)
from bncc.lower.kernels.lanes.layout import LaneKernel, lane_kernel
from bncc.lower.kernels.lanes.schedule import lane_plans
from bncc.lower.kernels.shared.cut_places import in_groups
from bncc.lower.kernels.shared.rows import distinct
from bncc.program.ir import Program, Table, n_rows, width_of
from bncc.program.ranges import cost_bounds

NEAR = 32
"""Bytes behind an address that an instruction of 16 bits reaches."""
SHORT = 256
"""Numbers below this are part of an instruction."""
MOST_LEAVES = 4096
"""Most rows of a table without a tree, which becomes a tree of all its rows."""

Leaves: TypeAlias = Literal["class", "value", "place"]
"""Content of leaves: class indices, words to add, or places of words in an array."""


@dataclass(frozen=True, eq=False)
class BranchKernel:
    """A program of decision trees."""

    program: Program  # The program that it sums
    leaves: Leaves  # Content of the leaves
    trees: tuple[Branch, ...]  # In the order in which they are summed
    # Plan of the sum of words; None for a single table, and for margins of two classes
    lanes: LaneKernel | None
    # Words in arrays: one for each table, or one for all if there are few different rows
    rows: tuple[IntArray, ...]
    value_bits: int  # Width of the content of a leaf
    # Width of the sum of margins; 0 where there is none
    margin_bits: int
    # The decision is the second class if the sum of margins is below this number
    margin_limit: int
    largest_sum: int  # No sum of a class exceeds this for any input

    family = "branches"
    scratch_bytes = 0
    whole_bytes = 0
    more_work = more_code = ()

    @property
    def summary(self) -> str:
        """Its layout in a few words."""
        n_nodes = sum(self.n_nodes)
        found = f"{n_nodes} nested comparison{'s' * (n_nodes != 1)}"
        if self.leaves == "class":
            return f"classes found by {found}"
        where = {"value": "in the code", "place": "in arrays"}[self.leaves]
        if len(self.rows) == 1 and len(self.trees) > 1:
            where = "in an array, equal rows once"
        words = f"margins of {self.margin_bits} bits" if self.lanes is None else self.lanes.summary
        return f"{words}, {where}, found by {found}"

    @property
    def sum_bits(self) -> int:
        """Width of a class's cost where the C returns it."""
        return max(self.program.cost_bits, width_of(self.largest_sum))

    @property
    def additions(self) -> int:
        """Additions per decision."""
        if self.leaves == "class":
            return 0
        return len(self.trees) - 1 if self.lanes is None else self.lanes.additions

    @property
    def addend(self) -> str:
        """For the card."""
        if self.lanes is not None:
            return self.lanes.addend
        return "costs" if self.leaves == "class" else "differences of two costs"

    @property
    def compares_sums(self) -> int:
        """Comparisons of sums per decision."""
        if self.leaves == "class":
            return 0
        return 1 if self.lanes is None else self.program.n_classes - 1

    @property
    def n_words(self) -> int:
        """Words of a row."""
        return self.lanes.n_words if self.lanes is not None else 1

    @property
    def rom_bytes(self) -> int:
        """Bytes of rows in arrays; comparisons are code, and so are other leaves."""
        bits = self.lanes.lowest.word_bits if self.lanes is not None else self.margin_bits
        return sum(rows.size for rows in self.rows) * bits // 8

    @cached_property
    def n_nodes(self) -> tuple[int, ...]:
        """Comparisons in each tree."""
        return tuple(sum(1 for _ in nodes(tree)) for tree in self.trees)

    @property
    def most_comparisons(self) -> int:
        """The most comparisons with cuts in one decision."""
        return sum(max(leaf_depths(tree)) for tree in self.trees)

    @property
    def expected_comparisons(self) -> float:
        """Comparisons in a decision if all leaves of a tree are as likely."""
        return sum(float(np.mean(leaf_depths(tree))) for tree in self.trees)

    @cached_property
    def _expected_far(self) -> float:
        """Comparisons of features beyond `NEAR`, likewise: in proportion to all."""
        every = [node.feature >= NEAR for tree in self.trees for node in nodes(tree)]
        return self.expected_comparisons * (sum(every) / len(every) if every else 0.0)

    @property
    def _is_summed(self) -> int:
        return int(self.leaves != "class")

    @property
    def work(self) -> tuple[float, ...]:
        """
        Terms: 1; trees that are summed, comparisons with cuts, those of features far behind.

        Then words read in arrays, words added in the code, words flushed; costs taken out of words,
        costs compared in their words; bytes that leaves return, and bytes of sums of margins.
        """
        lanes = self.lanes
        n_words = len(self.trees) * self.n_words * self._is_summed
        n_classes = lanes.n_classes if lanes is not None else 0
        in_place = n_classes if lanes is not None and lanes.top is not None else 0
        return (
            1,
            len(self.trees) * self._is_summed,
            self.expected_comparisons,
            self._expected_far,
            n_words if self.leaves == "place" else 0,
            n_words if self.leaves == "value" else 0,
            lanes.flushed_words if lanes is not None else 0,
            n_classes - in_place,
            in_place,
            len(self.trees) * self._is_summed * self.value_bits // 8,
            len(self.trees) * self.margin_bits // 8,
        )

    @property
    def code(self) -> tuple[float, ...]:
        """Terms as of `work`, over all nodes; then leaves, those of longer numbers, their bytes."""
        leaves = [leaf for tree in self.trees for leaf in leaves_of(tree)]
        every = [node for tree in self.trees for node in nodes(tree)]
        first, n_trees, _, _, *others = self.work
        return (
            first,
            n_trees,
            len(every),
            sum(node.feature >= NEAR for node in every),
            *others,
            len(leaves),
            sum(leaf >= SHORT for leaf in leaves),
            len(leaves) * self.value_bits // 8,
        )


def branches(program: Program) -> Iterator[BranchKernel]:
    """Return the layouts of a program of trees that are proved exact."""
    if any(t.tree is None and _n_leaves(program, t) > MOST_LEAVES for t in program.tables):
        return
    if len(program.tables) == 1:
        yield _of_one(program)
        return
    if program.n_classes == 2:
        yield from _of_margins(program)
    yield from _of_lanes(program)


def _n_leaves(program: Program, table: Table) -> int:
    return n_rows(table.features, program.n_states)


def _of_one(program: Program) -> BranchKernel:
    """Decide by one table: the best class of each row is known at compile time."""
    (table,) = program.tables
    costs = table.costs + program.prior
    tree = branches_of(table, program.n_states, costs.argmin(axis=1).tolist())
    largest = int(cost_bounds(program)[1].max())
    return BranchKernel(program, "class", (tree,), None, (), 16, 0, 0, largest)


def _of_margins(program: Program) -> Iterator[BranchKernel]:
    """Sum the margins of two classes, each less the least of its table."""
    margins = [table.costs[:, 1] - table.costs[:, 0] for table in program.tables]
    limit = -(int(program.prior[1] - program.prior[0]) + sum(int(each.min()) for each in margins))
    values = [each - each.min() for each in margins]
    most = [int(each.max()) for each in values]
    if not 0 < limit <= sum(most):
        return  # one class always wins
    largest = max(sum(most), limit)
    trees = tuple(
        branches_of(table, program.n_states, each.tolist())
        for table, each in zip(program.tables, values, strict=True)
    )
    yield BranchKernel(
        program, "value", trees, None, (), width_of(max(most)), width_of(largest), limit, largest
    )


def _of_lanes(program: Program) -> Iterator[BranchKernel]:
    """Sum words of several classes."""
    high = cost_bounds(program)[1]
    most = max(int(table.costs.max()) for table in program.tables)
    tables = tuple(in_groups(program.tables, (1 << most.bit_length()) - 1))
    for plan in lane_plans(program, tables, high, 32, may_sign=False):
        lanes = lane_kernel(program, tables, plan, int(high.max()))
        if lanes.n_words == 1:
            words = [rows[:, 0].astype(np.int64) for rows in lanes.rows]
            trees = _trees(program, tables, words)
            widest = max(int(each.max()) for each in words)
            yield BranchKernel(
                program, "value", trees, lanes, (), width_of(widest), 0, 0, lanes.largest_sum
            )
        yield _of_places(program, lanes)


def _of_places(program: Program, lanes: LaneKernel) -> BranchKernel:
    """Let leaves name the first word of a row, in one array for all tables if a byte can."""
    packed = [rows.astype(np.int64) for rows in lanes.rows]
    once, which = distinct(np.concatenate(packed))
    if once.size <= SHORT:
        ends = np.cumsum([len(rows) for rows in packed])[:-1]
        arrays, numbers = [once], np.split(which, ends)
    else:
        pairs = [distinct(rows) for rows in packed]
        arrays, numbers = [rows for rows, _ in pairs], [index for _, index in pairs]
    places = [index * lanes.n_words for index in numbers]
    return BranchKernel(
        program,
        "place",
        _trees(program, lanes.tables, places),
        lanes,
        tuple(arrays),
        width_of(max(int(each.max()) for each in places)),
        0,
        0,
        lanes.largest_sum,
    )


def _trees(
    program: Program, tables: tuple[Table, ...], leaves: Sequence[IntArray]
) -> tuple[Branch, ...]:
    return tuple(
        branches_of(table, program.n_states, of_table.tolist())
        for table, of_table in zip(tables, leaves, strict=True)
    )
