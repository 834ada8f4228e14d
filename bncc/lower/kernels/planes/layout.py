"""
Kernels of words in planes: word k of every row is in plane k, so a row is just a number.

The words of all rows of a sum are added as they are. Some of their costs are also added
in separate lanes; subtracted at the end, they leave the other costs in lanes just as wide. So a
word of four costs takes two additions, a shift and a mask. Either every row adds all its words in
its turn, with sums of all classes at work, or the numbers of all rows are found first and plane
after plane is summed, with few sums at work and little code.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Literal

import numpy as np

from bncc._types import IntArray
from bncc.lower.c.constants import must_be_divided
from bncc.lower.kernels.looped.layout import IN_REGISTERS
from bncc.lower.kernels.shared.packing import (
    Packing,
    Part,
    longest_run,
    packed_words,
    packings,
    parts_of,
)
from bncc.lower.kernels.shared.row_finder import Finder, finder_of
from bncc.program.ir import Program, Table, can_unmap, unmapped, width_of
from bncc.program.ranges import largest_cost

MOST_SCRATCH = 128
"""Bytes of stack that the numbers of all rows may take."""


@dataclass(frozen=True, eq=False)
class PlaneKernel:
    """Everything the kernels of planes read, ready to print."""

    program: Program  # What it sums
    packing: Packing  # How costs fill the words of a row
    # Number of sums of a plane; they hold the same as in `parts_of`, once all others are subtracted
    # the first
    n_parts: int
    # Order of additions: all words of a row, or the words of all rows, one after the other
    family: Literal["planes", "columns"]
    largest_sum: int  # No sum exceeds this for any input
    sum_bits: int  # Width of the sums

    addend = "words of several costs"
    whole_bytes = 0

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables in the order in which they are summed."""
        return self.program.tables

    @cached_property
    def classes(self) -> tuple[int, ...]:
        """
        Classes by place in a row; the stride within a full word is the number of full words.

        Compilers that write neighbors in one go would take longer to put them together.
        """
        full = (
            range(k, self.n_full * self.packing.per_word, self.n_full) for k in range(self.n_full)
        )
        rest = range(self.n_full * self.packing.per_word, self.program.n_classes)
        return (*chain.from_iterable(full), *rest)

    @cached_property
    def words(self) -> IntArray:
        """The rows of all tables, (n_planes, n_rows) int64."""
        costs = np.concatenate([table.costs for table in self.tables])
        return packed_words(costs[:, self.classes], self.packing)

    @cached_property
    def finder(self) -> Finder:
        """Finder of row numbers."""
        return finder_of(self.program, 1)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The sums of lanes, plane by plane."""
        places = parts_of(self.packing, self.program.n_classes, self.n_parts)
        classes = self.classes
        return tuple(replace(p, classes=tuple(classes[i] for i in p.classes)) for p in places)

    @property
    def prior(self) -> IntArray | None:
        """Initial values of sums that a loop returns; None if zero, or if there is no loop."""
        is_looked_up = self.family == "columns" and self.program.prior.any()
        return self.program.prior if is_looked_up else None

    @property
    def n_rows(self) -> int:
        """Rows of all tables."""
        return self.finder.n_words

    @property
    def n_planes(self) -> int:
        """Words of a row."""
        return self.packing.n_planes(self.program.n_classes)

    @cached_property
    def last_bits(self) -> int:
        """Width of a word of the last plane, which may have fewer costs than the others."""
        n_last = self.program.n_classes - (self.n_planes - 1) * self.packing.per_word
        return width_of((1 << n_last * self.packing.entry_bits) - 1)

    @property
    def n_alike(self) -> int:
        """Planes of words as wide as the packing's."""
        return self.n_planes - (self.last_bits < self.packing.word_bits)

    @property
    def n_full(self) -> int:
        """Planes of words that have as many costs as there is room for."""
        return self.program.n_classes // self.packing.per_word

    @property
    def scratch_bytes(self) -> int:
        """Bytes of stack in addition to the sums of classes: the numbers of all rows."""
        if self.family == "planes":
            return 0
        return len(self.tables) * self.finder.entry_bits // 8

    @property
    def summary(self) -> str:
        """Its layout in a few words."""
        packing = self.packing
        last = f" and {self.last_bits}" if self.n_alike < self.n_planes else ""
        order = "row by row" if self.family == "planes" else "plane by plane"
        planes = "1 plane" if self.n_planes == 1 else f"{self.n_planes} planes"
        return (
            f"{packing.per_word} costs of {packing.entry_bits} bits in {packing.word_bits}{last}, "
            f"{planes}, summed {order} in lanes of {self.parts[0].lane_bits} bits"
        )

    @property
    def additions(self) -> int:
        """Additions per decision."""
        return len(self.tables) * len(self.parts) + self.program.n_classes

    @property
    def rom_bytes(self) -> int:
        """Bytes of words, row numbers and prior; row by row the prior is in the code."""
        row_bits = self.n_alike * self.packing.word_bits
        row_bits += (self.n_planes - self.n_alike) * self.last_bits
        prior = self.prior
        prior_bits = 0 if prior is None else prior.size * width_of(int(prior.max()))
        return (self.n_rows * row_bits + prior_bits) // 8 + self.finder.n_bytes

    @property
    def work(self) -> tuple[float, ...]:
        """
        Terms: 1; tables, other features, words, moves, parts in memory; planes, classes.

        All but the first and the last two add up over tables. A move takes costs out of a word: a
        shift, a mask where there are other costs above them, and an addition.
        """
        n_tables = len(self.tables)
        in_memory = max(0, len(self.parts) - IN_REGISTERS) if self.family == "planes" else 0
        counts = (1, self.finder.n_others, self.n_planes, self._n_moves(self.parts), in_memory)
        return (1, *(n_tables * count for count in counts), self.n_planes, self.program.n_classes)

    @property
    def code(self) -> tuple[float, ...]:
        """Terms: 1, other features, words, moves, classes, arrays; of planes in a loop, one."""
        first, n_classes = 0, self.program.n_classes
        if self.family == "columns":
            first = self.n_full - 1
        parts = [part for part in self.parts if part.word >= first]
        n_words, n_done = self.n_planes - first, first * self.packing.per_word
        moves, n_arrays = self._n_moves(parts), 1 + (self.n_alike < self.n_planes)
        return (1, self.finder.n_others, n_words, moves, n_classes - n_done, n_arrays)

    @property
    def more_work(self) -> tuple[float, ...]:
        """
        Terms, for tables: parts, bits that these are moved down by, wide entries of the finder.

        Then bytes of the classes' costs above the first.
        """
        n_tables, finder = len(self.tables), self.finder
        return (
            n_tables * len(self.parts),
            n_tables * sum(part.shift for part in self.parts),
            n_tables * (finder.entry_bits > 8) * finder.entries.shape[1],
            self.program.n_classes * (self.sum_bits // 8 - 1),
        )

    @property
    def more_code(self) -> tuple[float, ...]:
        """Terms: bytes of a sum above the first, bits that parts are moved by, classes' starts."""
        n_starts = int(np.count_nonzero(self.program.prior))
        return (self.sum_bits // 8 - 1, sum(part.shift for part in self.parts), n_starts)

    @staticmethod
    def _n_moves(parts: Sequence[Part]) -> int:
        """Return the operations that extract costs from words."""
        return sum(2 + (not part.is_rest) for part in parts if part.shift)


def planes(program: Program) -> Iterator[PlaneKernel]:
    """Return the layouts of a program in planes, summed row by row."""
    if not all(table.features for table in program.tables) or not can_unmap(program):
        return
    program = unmapped(program)
    largest = np.array([table.costs.max(axis=0) for table in program.tables])
    largest_sum = largest_cost(program)
    sum_bits = max(program.cost_bits, width_of(largest_sum))
    for packing in packings(int(largest.max())):
        if packing.per_word == 1 or packing.word_bits == 8:
            continue
        kernel = PlaneKernel(program, packing, 1, "planes", largest_sum, sum_bits)
        while kernel.n_parts < packing.per_word and _overflows(kernel, largest):
            kernel = replace(kernel, n_parts=kernel.n_parts + 1)
        if kernel.n_alike > 0 and not _only_divided(kernel):
            yield kernel


def columns(program: Program) -> Iterator[PlaneKernel]:
    """Return the layouts of a program in planes, summed plane by plane."""
    for kernel in planes(program):
        column_wise = replace(kernel, family="columns")
        if kernel.n_full > 1 and column_wise.scratch_bytes <= MOST_SCRATCH:
            yield column_wise


def _overflows(kernel: PlaneKernel, largest: IntArray) -> bool:
    """Return whether some input overflows a lane; a class alone in a sum has the result's width."""
    return longest_run(kernel.parts, largest) < len(largest)


def _only_divided(kernel: PlaneKernel) -> bool:
    """Return whether 16-bit targets hold the planes that are alike only in parts."""
    n_bytes = kernel.n_alike * kernel.n_rows * kernel.packing.word_bits // 8
    return must_be_divided(n_bytes, kernel.rom_bytes)
