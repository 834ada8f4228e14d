"""
The packed kernel of cuts: the least code, costs of a row extracted one by one.

A list in flash has every cut as one number: the feature, the least state above the cut, whether it
is a further cut of the feature before, and whether the table has more. One loop walks it and counts
the row and the rows of the table alike, so that nothing is stored of a table but its cuts. The
costs of a row follow each other without a gap, and a second loop adds them to their classes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bncc._types import IntArray
from bncc.lower.kernels.shared.cut_places import (
    TableCuts,
    cuts_of,
    is_of_cuts,
    most_levels_first,
)
from bncc.lower.kernels.shared.rows import DistinctRows, distinct_rows, lifted_priors
from bncc.program.ir import WIDTHS, Program, width_of
from bncc.program.ranges import largest_cost

BYTE = 8
AGAIN, MORE = 1, 2
"""Marks of a cut: a further one of the feature before it; the table has another."""
MARK_BITS = 2


@dataclass(frozen=True, eq=False)
class CutPackedKernel:
    """A program of cuts whose costs are packed in flash without gaps."""

    program: Program  # What it sums
    dictionary: DistinctRows | None  # Its rows where equal ones are stored once
    largest_sum: int  # No sum exceeds this for any input
    sum_bits: int  # Width of the sums

    family = "cut-packed"
    addend = "costs"
    scratch_bytes = 0

    @cached_property
    def cuts(self) -> tuple[TableCuts, ...]:
        """The cuts of each table."""
        return tuple(cuts_of(table) for table in self.program.tables)

    @cached_property
    def cost_bits(self) -> int:
        """Bits of a cost, 1 .. 8."""
        return max(1, *(int(table.costs.max()).bit_length() for table in self.program.tables))

    @property
    def row_bytes(self) -> int:
        """Bytes of a row; those above its last cost are zero."""
        return -(-self.program.n_classes * self.cost_bits // BYTE)

    @property
    def n_rows(self) -> tuple[int, ...]:
        """Rows of each table."""
        return tuple(len(table.costs) for table in self.program.tables)

    @property
    def step(self) -> int:
        """Row stride of a table: in bytes, or in numbers of distinct rows."""
        return 1 if self.dictionary else self.row_bytes

    @property
    def number_bits(self) -> int:
        """Width of the number of a distinct row."""
        return width_of(len(self.dictionary.costs) - 1) if self.dictionary else 0

    @cached_property
    def least_bits(self) -> int:
        """Bits of the least state above a cut."""
        return max(each.least[-1].bit_length() for table_cuts in self.cuts for each in table_cuts)

    @cached_property
    def entries(self) -> tuple[IntArray, ...]:
        """
        The cuts of each table as numbers: marks lowest, then the least state, then the feature.

        The first cut of a feature comes before its further ones.
        """
        return tuple(np.array(list(self._entries(cuts)), dtype=np.int64) for cuts in self.cuts)

    @property
    def n_cuts(self) -> int:
        """Cuts of all tables."""
        return sum(entries.size for entries in self.entries)

    @property
    def gate_cuts(self) -> int:
        """Cuts of the tables before the gate; 0 without one."""
        gate = self.program.gate
        return sum(entries.size for entries in self.entries[: gate.tables]) if gate else 0

    @property
    def entry_bits(self) -> int:
        """Width of an entry."""
        return width_of(max(int(entries.max()) for entries in self.entries))

    @property
    def summary(self) -> str:
        """Its layout in a few words."""
        once = ", equal rows once" if self.dictionary else ""
        return (
            f"rows of {self.program.n_classes} costs of {self.cost_bits} bits without a gap, "
            f"summed one by one, found by {self.n_cuts} comparisons in a loop{once}"
        )

    @property
    def prior(self) -> IntArray | None:
        """Initial values of the sums; None if they are zero."""
        return self.program.prior if self.program.prior.any() else None

    @property
    def additions(self) -> int:
        """Additions of costs per decision."""
        return (len(self.cuts) - (self.prior is None)) * self.program.n_classes

    @property
    def rom_bytes(self) -> int:
        """Bytes of rows, their numbers, cuts and prior."""
        n_bits = self.n_cuts * self.entry_bits
        if self.prior is not None:
            n_bits += self.prior.size * width_of(int(self.prior.max()))
        if self.dictionary:
            n_bits += sum(self.n_rows) * self.number_bits
        return self.stored_bytes + n_bits // BYTE

    @property
    def whole_bytes(self) -> int:
        """Bytes of the largest array that is never divided."""
        n_numbers = sum(self.n_rows) * self.number_bits
        return max(self.stored_bytes, n_numbers // BYTE)

    @property
    def stored_bytes(self) -> int:
        """Bytes of all rows that are stored."""
        n_stored = len(self.dictionary.costs) if self.dictionary else sum(self.n_rows)
        return n_stored * self.row_bytes

    @property
    def work(self) -> tuple[float, ...]:
        """Terms: 1; tables, cuts, rows looked up; bytes of rows read; costs added, their bytes."""
        n_tables = len(self.cuts)
        added = n_tables * self.program.n_classes
        return (
            1,
            n_tables,
            self.n_cuts,
            n_tables if self.dictionary else 0,
            n_tables * self.row_bytes,
            added,
            added * self.sum_bits // BYTE,
        )

    @property
    def code(self) -> tuple[float, ...]:
        """Terms: 1; a dictionary, a prior, rows of several bytes, bytes of an entry, of a sum."""
        return (
            1,
            int(self.dictionary is not None),
            int(self.prior is not None),
            int(self.row_bytes > 1),
            self.entry_bits // BYTE,
            self.sum_bits // BYTE,
        )

    @property
    def more_work(self) -> tuple[float, ...]:
        """
        Terms: cuts that count more than a row, bytes of cuts above the first, bits below features.

        Then classes; costs in rows of several bytes, and bytes of these that are read.
        """
        n_tables, n_classes = len(self.cuts), self.program.n_classes
        several = n_tables * (self.row_bytes > 1)
        return (
            self.n_cuts * (self.step > 1),
            self.n_cuts * (self.entry_bits // BYTE - 1),
            self.n_cuts * (self.least_bits + MARK_BITS),
            n_classes,
            several * n_classes,
            several * self.row_bytes,
        )

    @property
    def more_code(self) -> tuple[float, ...]:
        """Terms: bits of an entry below its feature."""
        return (self.least_bits + MARK_BITS,)

    def packed(self, costs: IntArray) -> IntArray:
        """
        Return rows as bytes.

        Shapes: `costs` (n_rows, n_classes) int64; returns (n_rows, row_bytes) int64, the first
        class lowest in the first byte; a cost may continue in the next one.
        """
        bits = (costs[:, :, None] >> np.arange(self.cost_bits)) & 1
        flat = bits.reshape(len(costs), -1).astype(np.uint8)
        packed: IntArray = np.packbits(flat, axis=1, bitorder="little").astype(np.int64)
        return packed

    def _entries(self, cuts: TableCuts) -> Iterator[int]:
        """Yield the list entries of the cuts of one table."""
        last = cuts[-1].feature, len(cuts[-1].least) - 1
        for each in cuts:
            for k, least in enumerate(each.least):
                marks = (AGAIN if k else 0) | (MORE if (each.feature, k) != last else 0)
                yield ((each.feature << self.least_bits) | least) << MARK_BITS | marks


def cut_packed(program: Program) -> Iterator[CutPackedKernel]:
    """Return the layouts of a program of cuts whose costs are extracted one by one."""
    if not is_of_cuts(program):
        return
    ordered = tuple(most_levels_first(table, program.n_states) for table in program.tables)
    for lifted in lifted_priors(replace(program, tables=ordered)):
        largest = largest_cost(lifted)
        apart = CutPackedKernel(lifted, None, largest, max(lifted.cost_bits, width_of(largest)))
        once = replace(apart, dictionary=distinct_rows(lifted.tables))
        if apart.cost_bits <= BYTE and apart.entry_bits <= WIDTHS[-1]:
            yield apart
            if once.rom_bytes < apart.rom_bytes:
                yield once
