"""
The looped kernel: rows of packed costs, split into lanes that a loop over tables sums.

Costs are stored in as few bits as they need, and a word of several is added in a few operations:
moved down and masked, every k-th of its costs has a lane k times as wide. Lanes sum as many rows as
they can hold whatever the input, then they are added to the sums of their classes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bncc.lower.kernels.shared.packing import (
    SUM_BITS,
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

IN_REGISTERS = 8
"""Sums that a target with few registers keeps in them."""
BYTES_IN_REGISTERS = 12
"""Bytes of sums that a target with registers of a byte keeps in them."""
LEAST_RUN = 8
"""Rows below which emptying the lanes costs as much as filling them."""


@dataclass(frozen=True, eq=False)
class LoopedKernel:
    """Everything the looped kernel reads, ready to print."""

    program: Program  # What it sums
    packing: Packing  # How costs fill the words of a row
    n_parts: int  # Into how many parts a word is taken
    run: int  # Tables that lanes sum before they are emptied; all of them where they need not be
    largest_sum: int  # No sum exceeds this for any input
    sum_bits: int  # Width of the sums

    family = "looped"
    addend = "words of several costs"
    scratch_bytes = 0
    whole_bytes = 0

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """The tables with rows of words in place of costs."""
        pack, packing = packed_words, self.packing
        return tuple(replace(t, costs=pack(t.costs, packing).T) for t in self.program.tables)

    @cached_property
    def finder(self) -> Finder:
        """Finder of row addresses."""
        return finder_of(self.program, self.n_words)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The sums of lanes."""
        return parts_of(self.packing, self.program.n_classes, self.n_parts)

    @property
    def n_words(self) -> int:
        """Words of a row."""
        return self.packing.n_planes(self.program.n_classes)

    @property
    def n_runs(self) -> int:
        """Number of times that lanes are emptied."""
        n_tables, gate = len(self.program.tables), self.program.gate
        first = n_tables if gate is None else gate.tables
        return sum(-(-n // self.run) for n in (first, n_tables - first))

    @property
    def summary(self) -> str:
        """Its layout in a few words."""
        packing = self.packing
        costs = f"{packing.per_word} costs" if packing.per_word > 1 else "one cost"
        lanes = f"in lanes of {self.parts[0].lane_bits} bits" if self.has_lanes else "one by one"
        return (
            f"{costs} of {packing.entry_bits} bits in {packing.word_bits}, summed {lanes}, "
            f"{self.run} tables at a time"
        )

    @property
    def has_lanes(self) -> bool:
        """True if several classes share a sum."""
        return any(len(part.classes) > 1 for part in self.parts)

    @property
    def part_bits(self) -> int:
        """Width of a word to split and of a sum of lanes, 16 or 32."""
        is_wide = self.has_lanes or max(self.sum_bits, self.packing.word_bits) > 16
        return SUM_BITS if is_wide else 16

    @property
    def additions(self) -> int:
        """Additions per decision."""
        return len(self.program.tables) * len(self.parts) + self.n_runs * self.program.n_classes

    @property
    def rom_bytes(self) -> int:
        """Bytes of tables and row addresses; the prior is in the code."""
        n_rows = sum(len(table.costs) for table in self.program.tables)
        return n_rows * self.packing.row_bytes(self.program.n_classes) + self.finder.n_bytes

    @property
    def work(self) -> tuple[float, ...]:
        """
        Terms: 1; tables, other features, words, parts, moves, parts in memory; classes emptied.

        All but the first and last add up over tables. A move is a shift or a mask. Then, for
        machines with registers of a byte: bytes of words and of sums, bits that bytes are shifted
        by, and bytes of the classes emptied.
        """
        n_tables, n_classes = len(self.program.tables), self.program.n_classes
        in_memory = max(0, len(self.parts) - IN_REGISTERS)
        n_bytes = self.part_bits // 8
        sums = len(self.parts) * n_bytes
        shifted = sum(part.shift for part in self.parts) * n_bytes
        counts = (
            1,
            self.finder.n_others,
            self.n_words,
            len(self.parts),
            self.n_moves,
            in_memory,
            self.n_words * self.packing.word_bits // 8,
            sums,
            shifted,
        )
        emptied = self.n_runs * n_classes
        every = (n_tables * count for count in counts)
        return (1, *every, emptied, emptied * self.sum_bits // 8)

    @property
    def code(self) -> tuple[float, ...]:
        """Terms: 1, other features, words, parts, shifts and masks, classes, several runs'."""
        n_classes = self.program.n_classes
        return (
            1,
            self.finder.n_others,
            self.n_words,
            len(self.parts),
            self.n_moves,
            n_classes,
            n_classes * (self.n_runs > 1),
        )

    @property
    def more_work(self) -> tuple[float, ...]:
        """Terms, for tables: bytes of moves, of sums in memory. Then bits of moves in the end."""
        n_tables, n_bytes = len(self.program.tables), self.part_bits // 8
        in_memory = max(0, len(self.parts) * n_bytes - BYTES_IN_REGISTERS)
        return (
            n_tables * self.n_moves * n_bytes,
            n_tables * in_memory,
            self.n_runs * sum(part.moved_bits for part in self.parts),
        )

    @property
    def more_code(self) -> tuple[float, ...]:
        """Terms: bytes of the classes' costs above the first, classes in lanes."""
        n_classes = self.program.n_classes
        return (n_classes * (self.sum_bits // 8 - 1), n_classes * self.has_lanes)

    @property
    def n_moves(self) -> int:
        """Shifts and masks that split the words of a row."""
        return sum((part.shift > 0) + (not part.is_rest) for part in self.parts)


def looped(program: Program) -> Iterator[LoopedKernel]:
    """Return the layouts of a program whose lanes no input overflows."""
    if not all(table.features for table in program.tables) or not can_unmap(program):
        return
    program = unmapped(program)
    yield from looped_sums(program)


def looped_sums(program: Program) -> Iterator[LoopedKernel]:
    """Return the ways to sum a program's rows in a loop, wherever rows are."""
    largest = np.array([table.costs.max(axis=0) for table in program.tables])
    largest_sum = largest_cost(program)
    sum_bits = max(program.cost_bits, width_of(largest_sum))
    for packing in packings(int(largest.max())):
        longest, n_parts = min(LEAST_RUN, len(largest)) - 1, 0
        while longest < len(largest):
            n_parts += 1
            parts = parts_of(packing, program.n_classes, n_parts)
            run = longest_run(parts, largest)
            if all(len(part.classes) == 1 for part in parts):
                run = len(largest)  # such sums are as wide as the result
            if run > longest:
                longest = run
                yield LoopedKernel(program, packing, n_parts, run, largest_sum, sum_bits)
