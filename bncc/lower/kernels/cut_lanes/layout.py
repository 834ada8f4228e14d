"""
Cuts in lanes: nearly the least flash, all costs of a row added in a few operations.

Tables with the same numbers of levels have the same *shape*: the row strides of their cuts. Tables
follow each other by shape, so that a table has nothing in flash but its cuts and rows. The shapes
with the most cuts have straight-line code for a table each, which takes the fewest instructions; a
loop reads the strides of the others from a list. A row is a number of whole words of several costs,
the last one in as few bytes as it needs. Words are added to lanes that hold the sums of all tables
for any input.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from math import prod

import numpy as np

from bncc._types import IntArray
from bncc.lower.kernels.shared.cut_places import (
    TableCuts,
    cuts_of,
    is_of_cuts,
    most_levels_first,
)
from bncc.lower.kernels.shared.packing import (
    SUM_BITS,
    Packing,
    Part,
    longest_run,
    packed_words,
    parts_of,
)
from bncc.lower.kernels.shared.rows import lifted_priors
from bncc.program.ir import Program, Table, width_of
from bncc.program.ranges import largest_cost

BYTE = 8
WIDEST = 16
"""Bits of the widest cost, two of which share a word."""
MOST_ROWS = (1 << 16) - 1
"""Rows of all tables that an index of 16 bits counts."""
MOST_STRAIGHT = 4
"""Shapes with straight-line code, unless all have it: the most frequent ones gain the most."""
IN_REGISTERS = 6
"""Sums that targets with few registers keep in them."""


@dataclass(frozen=True)
class Shape:
    """Neighboring tables whose cuts have the same row strides."""

    n_tables: int
    n_rows: int  # Rows of each table
    strides: tuple[int, ...]  # By cut, in rows

    @property
    def n_cuts(self) -> int:
        """Cuts of all its tables."""
        return self.n_tables * len(self.strides)

    @property
    def entries(self) -> tuple[int, ...]:
        """Entries of the list of shapes: rows of all tables, of one, strides, and a zero."""
        return (self.n_tables * self.n_rows, self.n_rows, *self.strides, 0)


@dataclass(frozen=True)
class Plane:
    """An array with some bits of a word of every row."""

    word: int  # Which word of a row
    shift: int  # How far its bits are moved up in the word
    bits: int  # Width of an entry, 8, 16 or 32


@dataclass(frozen=True, eq=False)
class CutLanesKernel:
    """A program of cuts whose rows are summed in lanes."""

    program: Program  # What it sums, tables of a shape together
    packing: Packing  # How costs fill the words of a row
    n_parts: int  # Into how many parts a word is taken, so that no lane overflows
    n_straight: int  # First shapes, which have straight-line code
    largest_sum: int  # No sum exceeds this for any input
    sum_bits: int  # Width of the sums

    family = "cut-lanes"
    addend = "words of several costs"
    scratch_bytes = 0

    @cached_property
    def cuts(self) -> tuple[TableCuts, ...]:
        """The cuts of each table."""
        return tuple(cuts_of(table) for table in self.program.tables)

    @cached_property
    def n_cuts(self) -> int:
        """Cuts of all tables."""
        return sum(len(each.least) for cuts in self.cuts for each in cuts)

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes of all tables in their order."""
        found = []
        for strides, some in groupby(map(strides_of, self.cuts)):
            found.append(Shape(len(list(some)), 1 + sum(strides), strides))
        return tuple(found)

    @cached_property
    def shape_entries(self) -> tuple[int, ...]:
        """The list of shapes that a loop reads."""
        return tuple(entry for shape in self.looped for entry in shape.entries)

    @property
    def shape_bits(self) -> int:
        """Width of an entry of the list of shapes."""
        return width_of(max(self.shape_entries, default=0))

    @property
    def straight(self) -> tuple[Shape, ...]:
        """Shapes with straight-line code."""
        return self.shapes[: self.n_straight]

    @property
    def looped(self) -> tuple[Shape, ...]:
        """Shapes in the list that a loop reads."""
        return self.shapes[self.n_straight :]

    @property
    def n_words(self) -> int:
        """Words of a row."""
        return self.packing.n_planes(self.program.n_classes)

    @cached_property
    def planes(self) -> tuple[Plane, ...]:
        """The arrays of words: the last word takes as few bytes as it needs."""
        n_last = self.program.n_classes - (self.n_words - 1) * self.packing.per_word
        n_bytes = -(-n_last * self.packing.entry_bits // BYTE)
        whole = [Plane(word, 0, SUM_BITS) for word in range(self.n_words - (n_bytes < 4))]
        widths = {1: (8,), 2: (16,), 3: (16, 8), 4: ()}[n_bytes]
        last = [Plane(self.n_words - 1, 16 * k, bits) for k, bits in enumerate(widths)]
        return (*whole, *last)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The sums of lanes."""
        return parts_of(self.packing, self.program.n_classes, self.n_parts)

    @property
    def summary(self) -> str:
        """Its layout in a few words."""
        return (
            f"{self.packing.per_word} costs of {self.packing.entry_bits} bits in a word, summed in "
            f"lanes of {self.parts[0].lane_bits} bits, rows found by {self.n_cuts} comparisons, "
            f"{self.n_straight} of {len(self.shapes)} shapes in straight-line code"
        )

    @property
    def additions(self) -> int:
        """Additions per decision."""
        return len(self.cuts) * len(self.parts) + int(np.count_nonzero(self.program.prior))

    @property
    def n_rows(self) -> int:
        """Rows of all tables."""
        return sum(len(table.costs) for table in self.program.tables)

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return sum(plane.bits for plane in self.planes) // BYTE

    @cached_property
    def feature_bits(self) -> int:
        """Width of a feature in the list of cuts."""
        return width_of(max(each.feature for cuts in self.cuts for each in cuts))

    @cached_property
    def least_bits(self) -> int:
        """Width of the least state above a cut."""
        return width_of(max(each.least[-1] for cuts in self.cuts for each in cuts))

    @property
    def shared_bytes(self) -> int:
        """Bytes of rows and shapes; what is compared has its own lists."""
        return self.n_rows * self.row_bytes + len(self.shape_entries) * self.shape_bits // BYTE

    @property
    def rom_bytes(self) -> int:
        """Bytes of rows, shapes and cuts; the prior is in the code."""
        return self.shared_bytes + self.n_cuts * (self.feature_bits + self.least_bits) // BYTE

    @property
    def whole_bytes(self) -> int:
        """Bytes of the largest array, none of which is ever divided."""
        return max(self.n_rows * self.planes[0].bits, self.n_cuts * self.least_bits) // BYTE

    @property
    def n_moves(self) -> int:
        """Shifts and masks that split the words of a row; the first part of a word needs none."""
        added = [part for part in self.parts if part.shift > 0]
        return sum(1 + (not part.is_rest) for part in added)

    @property
    def n_joins(self) -> int:
        """Words that are joined from two entries."""
        return len(self.planes) - self.n_words

    @property
    def of_row(self) -> tuple[int, ...]:
        """Counts of a row: entries that are read, joins of two, parts, moves, parts in memory."""
        n_parts = len(self.parts)
        in_memory = max(0, n_parts - IN_REGISTERS)
        return (len(self.planes), self.n_joins, n_parts, self.n_moves, in_memory)

    @property
    def work(self) -> tuple[float, ...]:
        """
        Terms: 1; shapes, tables and cuts in the loop; shapes, tables and cuts in straight lines.

        Then, of all rows: entries, joins of two, parts, moves, parts in memory; classes. A move is
        a shift or a mask.
        """
        counts = [
            (len(some), sum(s.n_tables for s in some), sum(s.n_cuts for s in some))
            for some in (self.looped, self.straight)
        ]
        of_rows = (len(self.cuts) * count for count in self.of_row)
        return (1, *counts[0], *counts[1], *of_rows, self.program.n_classes)

    @property
    def code(self) -> tuple[float, ...]:
        """
        Terms: 1; the loop; shapes in straight lines, cuts of a table of each.

        Then, of a row wherever one is added: entries, joins of two, parts, moves, parts in memory;
        classes.
        """
        has_loop = int(bool(self.looped))
        n_cuts = sum(len(shape.strides) for shape in self.straight)
        copies = self.n_straight + has_loop
        of_rows = (copies * count for count in self.of_row)
        return (1, has_loop, self.n_straight, n_cuts, *of_rows, self.program.n_classes)

    @property
    def more_work(self) -> tuple[float, ...]:
        """Terms: bits that parts of all rows are moved down by."""
        return (len(self.cuts) * sum(part.shift for part in self.parts),)

    @property
    def more_code(self) -> tuple[float, ...]:
        """Terms: bytes of a sum above the first, classes' starts."""
        return (self.sum_bits // BYTE - 1, int(np.count_nonzero(self.program.prior)))

    def entries(self, plane: Plane, costs: IntArray) -> IntArray:
        """
        Return the entries of a plane for some rows.

        Shapes: `costs` (n_rows, n_classes) int64; returns (n_rows,) int64.
        """
        words = packed_words(costs, self.packing)[plane.word]
        found: IntArray = (words >> plane.shift) & ((1 << plane.bits) - 1)
        return found


def strides_of(cuts: TableCuts) -> tuple[int, ...]:
    """Return the row stride of each cut of a table."""
    n_levels = [each.n_levels for each in cuts]
    return tuple(prod(n_levels[k + 1 :]) for k, each in enumerate(cuts) for _ in each.least)


def by_shape(tables: Sequence[Table]) -> tuple[Table, ...]:
    """Sort tables so that those of a shape follow each other, most cuts of a shape first."""
    found = [strides_of(cuts_of(table)) for table in tables]
    n_tables = Counter(found)
    order = sorted(
        range(len(tables)), key=lambda t: (-n_tables[found[t]] * len(found[t]), found[t])
    )
    return tuple(tables[t] for t in order)


def cut_lanes(program: Program) -> Iterator[CutLanesKernel]:
    """Return the layouts of a program of cuts whose lanes no input overflows."""
    if not is_of_cuts(program):
        return
    tables = by_shape([most_levels_first(table, program.n_states) for table in program.tables])
    for lifted in lifted_priors(replace(program, tables=tables)):
        largest = np.array([table.costs.max(axis=0) for table in lifted.tables])
        bits = max(1, int(largest.max()).bit_length())
        if bits > WIDEST or sum(len(table.costs) for table in tables) > MOST_ROWS:
            continue
        packing, largest_sum = Packing(bits, SUM_BITS), largest_cost(lifted)
        sum_bits = max(lifted.cost_bits, width_of(largest_sum))
        n_parts = least_parts(packing, lifted.n_classes, largest)
        in_loop = CutLanesKernel(lifted, packing, n_parts, 0, largest_sum, sum_bits)
        n_shapes = len(in_loop.shapes)
        yield in_loop
        for n_straight in dict.fromkeys((*range(1, min(n_shapes, MOST_STRAIGHT) + 1), n_shapes)):
            yield replace(in_loop, n_straight=n_straight)


def least_parts(packing: Packing, n_classes: int, largest: IntArray) -> int:
    """
    Return into how few parts a word is taken where no lane overflows; one class each at most.

    Shapes: `largest` (n_tables, n_classes) int64.
    """
    for n_parts in range(1, packing.per_word):
        if longest_run(parts_of(packing, n_classes, n_parts), largest) == len(largest):
            return n_parts
    return packing.per_word
