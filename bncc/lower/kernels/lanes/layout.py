"""The lanes kernel: several classes to a word, table by table in straight-line code."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np

from bncc._types import IntArray
from bncc.lower.kernels.lanes.schedule import WIDEST_SUM, Level, Schedule, lane_plans
from bncc.lower.kernels.shared.row_address import (
    RowStarts,
    level_bytes,
    n_looked_up,
    row_starts,
    start_bytes,
)
from bncc.lower.kernels.shared.rows import (
    DistinctRows,
    RowDictionary,
    distinct_rows,
    row_dictionary,
)
from bncc.program.ir import Program, Table, has_trees, width_of
from bncc.program.ranges import cost_bounds

MANY_ROWS = 64
"""Rows that compilers which load ahead would keep on the stack by the hundred bytes."""
REGISTERS = (4, 8, 12)
"""Words of a row that targets with few, some and many registers keep there."""
FEW_BYTES = 26
"""Bytes of sums that an AVR's 32 registers hold with two addresses, a zero and a byte."""


@dataclass(frozen=True, eq=False)
class LaneKernel:
    """A program in lanes."""

    tables: tuple[Table, ...]  # In the order in which they are added
    rows: tuple[IntArray, ...]  # Each table's rows as words of the lowest level
    starts: RowStarts  # Where rows begin in tables for which that is looked up
    dictionary: RowDictionary | None  # The same rows where equal ones are stored once
    schedule: Schedule  # Proved steps
    # (n_words,) uint64: What the uppermost level starts from, in its words; zeros when there is
    # nothing to add
    prior: IntArray
    largest_sum: int  # No sum of a class exceeds this for any input
    sum_bits: int  # Width of a class's cost where the C hands it out
    scratch_bytes = 0
    whole_bytes = 0
    more_work = more_code = ()

    @property
    def family(self) -> str:
        """``bytes`` where a word is one."""
        return "bytes" if self.lowest.word_bits == 8 else "lanes"

    @property
    def summary(self) -> str:
        """Its layout in a few words."""
        words = f"1 {self._word}" if self.n_words == 1 else f"{self.n_words} {self._word}s"
        widths = [str(level.lane_bits) for level in self.schedule.levels]
        flushes = f", widened to {', '.join(widths[1:])}" if widths[1:] else ""
        lanes = f"{words} of {self._costs}, lanes of {widths[0]} bits{flushes}"
        found = ", found by their address" if n_looked_up(self.starts) else ""
        return f"{lanes}{found}{', equal rows once' if self.dictionary else ''}"

    @property
    def lowest(self) -> Level:
        """The level of the rows."""
        return self.schedule.levels[0]

    @property
    def highest(self) -> Level:
        """The level of the result."""
        return self.schedule.levels[-1]

    @property
    def n_words(self) -> int:
        """Words of a row."""
        return len(self.lowest.words)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return sum(len(word.classes) for word in self.lowest.words)

    @property
    def flushed_words(self) -> int:
        """Words that flushes add to, over all flushes."""
        flushes = (step for step in self.schedule.steps if step.kind == "flush")
        return sum(len(self.schedule.levels[step.level].words) for step in flushes)

    @property
    def additions(self) -> int:
        """Additions of words per decision."""
        first = (step for step in self.schedule.steps if step.is_first)
        firsts = sum(len(self.schedule.levels[step.level].words) for step in first)
        words = len(self.tables) * self.n_words + self.flushed_words
        return int(words + np.count_nonzero(self.prior) - firsts)

    @property
    def addend(self) -> str:
        """For the card."""
        return f"{self._word}s of {self._costs}"

    @property
    def rom_bytes(self) -> int:
        """Bytes of the rows, their addresses and levels; products of strides are left out."""
        levels = level_bytes(self.tables, self.starts)
        return self.row_bytes + start_bytes(self.starts) + levels

    @property
    def row_bytes(self) -> int:
        """Bytes of the rows, or of the dictionary and the places in it."""
        bits = self.lowest.word_bits
        if self.dictionary:
            return self.dictionary.n_bytes(bits)
        return sum(rows.size for rows in self.rows) * bits // 8

    @property
    def work(self) -> tuple[float, ...]:
        """
        Terms: 1; states read; products or levels, addresses, places; words of rows, flushes.

        Then costs taken out of words; words beyond 4, 8 and 12 of a row, for want of registers;
        those that are added unsigned, in an order that compilers choose. Then of bytes, for
        machines with registers of no more: read, added to above the lowest level, added to sums for
        which there is no register, and for each class those that its cost is shifted through. Last
        costs that are compared in their words.
        """
        n_tables, n_words, n_classes = len(self.tables), self.n_words, self.n_classes
        reads = sum(len(table.features) for table in self.tables)
        addresses = n_looked_up(self.starts)
        levels = sum(table.features[-1] in table.maps for table in self.tables)
        words = n_tables * n_words
        spilled = (n_tables * max(0, n_words - n) for n in REGISTERS)
        is_in_place = self.top is not None
        unsigned = 0 if self.lowest.is_signed else words
        added = [(step.level, self._level_bytes(step.level)) for step in self.schedule.steps]
        spilled_levels = self._spilled_levels
        return (
            1,
            reads,
            reads - n_tables - addresses + levels,
            addresses,
            n_tables if self.dictionary else 0,
            words,
            self.flushed_words,
            0 if is_in_place else n_classes,
            *spilled,
            unsigned,
            words * self.lowest.word_bits // 8,
            sum(n for level, n in added if level),
            sum(n for level, n in added if level in spilled_levels),
            n_classes * (self.highest.word_bits // 8 - 1),
            n_classes if is_in_place else 0,
        )

    @property
    def is_kept_in_turn(self) -> bool:
        """True if there are too many rows to load them early."""
        return self.lowest.word_bits == 32 and len(self.tables) >= MANY_ROWS

    @property
    def is_by_word(self) -> bool:
        """
        True if the first words of all rows come first, then the second ones, and so on.

        Targets with 64-bit registers scale an index by one word in the addition itself.
        """
        return self.lowest.word_bits > WIDEST_SUM and self.dictionary is None

    @property
    def top(self) -> int | None:
        """The bit to which costs are moved to be compared; None where they are taken out first."""
        return self.highest.top(self.largest_sum.bit_length())

    @property
    def is_in_order(self) -> bool:
        """True if states may be read by an auto-incremented address that stays in a register."""
        own = [table.features[-1] for table in self.tables]
        has_room = self._level_bytes(self.schedule.used[0]) < FEW_BYTES
        is_naive = all(len(table.features) == 1 for table in self.tables)
        return has_room and is_naive and own == sorted(set(own))

    @property
    def _spilled_levels(self) -> set[int]:
        """Return the levels for which there are no registers, the most used having theirs first."""
        used = self.schedule.used
        totals = accumulate(self._level_bytes(level) for level in used)
        return {level for level, total in zip(used, totals, strict=True) if total > FEW_BYTES}

    def _level_bytes(self, level: int) -> int:
        """Return the bytes of all sums of a level."""
        at = self.schedule.levels[level]
        return len(at.words) * at.word_bits // 8

    @property
    def code(self) -> tuple[float, ...]:
        """As `work`: every step has instructions of its own."""
        return self.work

    @property
    def _word(self) -> str:
        return "byte" if self.lowest.word_bits == 8 else "word"

    @property
    def _costs(self) -> str:
        most = max(len(word.classes) for word in self.lowest.words)
        return f"up to {most} costs" if most > 1 else "one cost"


def lanes(program: Program, word_bits: int = 32) -> Iterator[LaneKernel]:
    """Return all layouts in lanes that are proved exact, the fewest words first."""
    if has_trees(program):
        return
    high = cost_bounds(program)[1]
    tables = tuple(sorted(program.tables, key=lambda table: -len(table.features)))
    starts, distinct = row_starts(program, tables), distinct_rows(tables)
    for plan in lane_plans(program, tables, high, word_bits):
        kernel = lane_kernel(program, tables, plan, int(high.max()))
        yield from _ways_to_rows(kernel, starts, distinct) if word_bits >= 32 else (kernel,)


def _ways_to_rows(
    kernel: LaneKernel, starts: RowStarts, distinct: DistinctRows
) -> Iterator[LaneKernel]:
    """Yield a kernel with rows found by products and by addresses, and with equal ones once."""
    shared = replace(kernel, dictionary=(once := row_dictionary(distinct, kernel.lowest.pack)))
    is_less = once.saves(kernel.lowest.word_bits, shared.rom_bytes, kernel.rom_bytes)
    for each in (kernel, shared) if is_less else (kernel,):
        yield each
        if n_looked_up(starts):
            yield replace(each, starts=starts)


def lane_kernel(
    program: Program, tables: tuple[Table, ...], plan: Schedule, largest_sum: int
) -> LaneKernel:
    """Lay a program out as a schedule says, with rows found by products."""
    rows = tuple(plan.levels[0].pack(table.costs) for table in tables)
    return LaneKernel(
        tables=tables,
        rows=rows,
        starts=(None,) * len(tables),
        dictionary=None,
        schedule=plan,
        prior=plan.levels[-1].pack(program.prior[None])[0],
        largest_sum=largest_sum,
        sum_bits=max(program.cost_bits, width_of(largest_sum)),
    )
