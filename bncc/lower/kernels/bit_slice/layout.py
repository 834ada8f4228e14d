"""
The bit-slice kernel: one bit of every class's cost to a word, added by carry-save adders.

A row of b-bit costs is b words, its planes: bit c of plane p is bit p of class c's cost. Words of
equal weight are counted for all classes at once (see `bit_slice.carry_save`), and the least cost is
found from the highest plane of the sum down: classes whose bit is set drop out as long as others
are left.

Where twice the classes fit into a word, two planes share it, the higher one in the upper half; the
halves are summed apart by the same adders and joined in the end.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from bncc._types import IntArray
from bncc.lower.kernels.bit_slice.carry_save import RowWord, Step, UpperHalf, add_up
from bncc.lower.kernels.shared.row_address import (
    RowStarts,
    level_bytes,
    n_looked_up,
    row_starts,
    start_bytes,
)
from bncc.program.ir import Program, Table, width_of, with_tables
from bncc.program.ranges import largest_cost

IN_REGISTERS = 3
"""Sums that a target with few registers keeps in them, with room for an adder's words."""
MOST_CLASSES = 32
"""Bits of the widest word."""
MOST_BITS = 3
"""Bits of an entry: 2, and one more where tables or the prior were added up. Beyond, lanes are
faster on every target."""
EVEN_BITS = 0x55555555
"""Bits 0, 2, 4, ...: the planes in the lower halves of words that two planes share."""


@dataclass(frozen=True, eq=False)
class BitSliceKernel:
    """A program in planes of bits."""

    # In the order in which they are added: those with fewer bits first, none without any
    tables: tuple[Table, ...]
    # Each table's rows as words, 1, 2 or 4 of them; the last one may be unused zeros
    rows: tuple[IntArray, ...]
    starts: RowStarts  # Where rows begin in tables for which that is looked up
    n_classes: int  # At most `MOST_CLASSES`
    word_bits: int  # Width of a word
    half_bits: int  # Where the second plane in a word begins; 0 when every word is one plane
    # The sum; in the end variable ``sum{k}`` has bit k of every class's cost
    steps: tuple[Step, ...]
    n_levels: int  # Bits of the largest sum
    largest_sum: int  # No sum of a class exceeds this for any input
    sum_bits: int  # Width of a class's cost where the C hands it out

    family = "bit-slice"
    addend = "words with a bit of every class's cost"
    scratch_bytes = 0
    whole_bytes = 0

    @property
    def summary(self) -> str:
        """Its layout in a few words."""
        bits = "two bits" if self.half_bits else "one bit"
        return f"words with {bits} of {self.n_classes} costs, sums of {self.n_levels} bits"

    @property
    def additions(self) -> int:
        """Adders, each of which adds one or two words to a third."""
        return sum(step.into is not None for step in self.steps)

    @property
    def rom_bytes(self) -> int:
        """Bytes of the rows and their addresses."""
        n_words = sum(rows.size for rows in self.rows)
        levels = level_bytes(self.tables, self.starts)
        return n_words * self.word_bits // 8 + start_bytes(self.starts) + levels

    @property
    def work(self) -> tuple[float, ...]:
        """Terms: 1, tables, products and addresses looked up, words read, adders, bytes read."""
        addresses = n_looked_up(self.starts)
        n_words = sum(isinstance(w, RowWord) for step in self.steps for w in step.operands)
        return (
            1,
            len(self.tables),
            sum(len(table.features) - 1 for table in self.tables) - addresses,
            addresses,
            n_words,
            self.additions,
            n_words * self.word_bits // 8,
        )

    @property
    def code(self) -> tuple[float, ...]:
        """Terms: as for `work`, for all code is straight."""
        return self.work

    @property
    def more_work(self) -> tuple[float, ...]:
        """
        Terms: adders for each sum beyond registers, halvings of the classes, bytes of halves.

        Then features whose levels are looked up.
        """
        n_spilled = self.additions * max(0, self.n_levels - IN_REGISTERS)
        operands = (operand for step in self.steps for operand in step.operands)
        n_halves = sum(isinstance(operand, UpperHalf) for operand in operands)
        n_halvings = (self.n_classes - 1).bit_length()
        n_levels = sum(len(table.maps) for table in self.tables)
        return (n_spilled, n_halvings, n_halves * self.word_bits // 8, n_levels)

    @property
    def more_code(self) -> tuple[float, ...]:
        """Terms: as `more_work`; bits of a sum, tables whose rows are scaled by their bytes."""
        n_scaled = sum(rows.shape[1] * self.word_bits > 8 for rows in self.rows)
        return (*self.more_work, self.n_levels, n_scaled)


def bit_slice(program: Program) -> Iterator[BitSliceKernel]:
    """Lay a program out in planes."""
    tables = [table for table in program.tables if table.costs.any()]
    if program.n_classes > MOST_CLASSES or not tables:
        return
    n_bits = max(int(table.costs.max()).bit_length() for table in tables)
    if n_bits > MOST_BITS:
        return
    if n_bits > 1 and 2 * program.n_classes <= MOST_CLASSES:
        shared = width_of((1 << 2 * program.n_classes) - 1)
        yield from _laid_out(program, tables, shared, shared // 2)
    yield from _laid_out(program, tables, width_of((1 << program.n_classes) - 1), 0)


def _laid_out(
    program: Program, tables: list[Table], word_bits: int, half_bits: int
) -> Iterator[BitSliceKernel]:
    """Yield the layouts with words of some width, shared by two planes or not."""
    planes = 2 if half_bits else 1
    tables = sorted(tables, key=lambda table: _n_words(table.costs, planes))
    n_words = [_n_words(table.costs, planes) for table in tables]
    prior = _words(program.prior[np.newaxis], planes, half_bits)[0].tolist()
    largest_sum = largest_cost(program)
    n_levels = largest_sum.bit_length()
    if half_bits:
        halves = [_every_second_bit(program, first) for first in (0, 1)]
        n_packed = max(largest_cost(half) for half in halves).bit_length()
        adders = add_up(n_words, planes, prior, n_packed)
        adders.join_halves(n_levels)
    else:
        adders = add_up(n_words, planes, prior, n_levels)
    kernel = BitSliceKernel(
        tables=tuple(tables),
        rows=tuple(_words(table.costs, planes, half_bits) for table in tables),
        starts=(None,) * len(tables),
        n_classes=program.n_classes,
        word_bits=word_bits,
        half_bits=half_bits,
        steps=tuple(adders.steps),
        n_levels=n_levels,
        largest_sum=largest_sum,
        sum_bits=max(program.cost_bits, width_of(largest_sum)),
    )
    yield kernel
    starts = row_starts(program, tables)
    if n_looked_up(starts):
        yield replace(kernel, starts=starts)


def _n_words(rows: IntArray, planes: int) -> int:
    """Return how many words hold the bits of the largest cost."""
    return -(-int(rows.max()).bit_length() // planes)


def _words(rows: IntArray, planes: int, half_bits: int) -> IntArray:
    """Return rows of costs as words, a power of two of them, so that addresses are shifts."""
    n_words = max(1, _n_words(rows, planes))
    words = np.zeros((len(rows), 1 << (n_words - 1).bit_length()), dtype=np.int64)
    for bit in range(planes * n_words):
        plane = ((rows >> bit) & 1) << np.arange(rows.shape[1])
        words[:, bit // planes] |= plane.sum(axis=1) << (bit % planes * half_bits)
    return words


def _every_second_bit(program: Program, first: int) -> Program:
    """Return the sum that the lower halves, or those above, of shared words hold."""
    tables = [replace(table, costs=(table.costs >> first) & EVEN_BITS) for table in program.tables]
    return with_tables(program, tables, (program.prior >> first) & EVEN_BITS)
