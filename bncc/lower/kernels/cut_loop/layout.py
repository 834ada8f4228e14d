"""
The looped kernel of cuts: comparisons listed in flash, rows summed as the looped kernel does.

For every table a loop over its cuts adds up the strides of those that the states reach; that is the
row's number. A list takes a few bytes per cut where straight-line code takes instructions.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import prod

import numpy as np

from bncc._types import IntArray
from bncc.lower.kernels.looped.layout import LoopedKernel, looped_sums
from bncc.lower.kernels.shared.cut_places import (
    TableCuts,
    cuts_of,
    is_of_cuts,
    most_levels_first,
)
from bncc.lower.kernels.shared.packing import Packing, packed_words
from bncc.lower.kernels.shared.rows import RowDictionary, distinct_rows, row_dictionary
from bncc.program.ir import Program, width_of


@dataclass(frozen=True, eq=False)
class CutLoopKernel:
    """A program of cuts that a loop sums."""

    sums: LoopedKernel  # The rows, and how a loop sums them
    dictionary: RowDictionary | None  # The same rows where equal ones are stored once

    family = "cut-loop"
    addend = "words of several costs"
    scratch_bytes = 0

    @cached_property
    def cuts(self) -> tuple[TableCuts, ...]:
        """The cuts of each table."""
        return tuple(cuts_of(table) for table in self.sums.program.tables)

    @cached_property
    def is_doubled(self) -> bool:
        """True if all tables have as many features of two levels, so that rows need no strides."""
        has_two_levels = all(each.n_levels == 2 for cuts in self.cuts for each in cuts)
        return has_two_levels and self.same_n_cuts and self.row_length == 1

    @cached_property
    def n_cuts(self) -> tuple[int, ...]:
        """Cuts of each table."""
        return tuple(sum(len(each.least) for each in cuts) for cuts in self.cuts)

    @cached_property
    def n_rows(self) -> tuple[int, ...]:
        """Rows of each table."""
        return tuple(len(table.costs) for table in self.sums.program.tables)

    @property
    def row_length(self) -> int:
        """Words of a row, or the one place of it."""
        return 1 if self.dictionary else self.sums.n_words

    @cached_property
    def entries(self) -> tuple[IntArray, ...]:
        """
        List entries of each table.

        How many entries that is, unless as many for all tables; how many words its rows have,
        unless all have as many; of each cut the feature, the least state above it and, unless
        the number of the row `is_doubled`, its stride in words.
        """
        return tuple(self._entries(t) for t in range(len(self.cuts)))

    @cached_property
    def same_n_cuts(self) -> bool:
        """True if all tables have as many cuts."""
        return len(set(self.n_cuts)) == 1

    @cached_property
    def same_n_rows(self) -> bool:
        """True if all tables have as many rows."""
        return len(set(self.n_rows)) == 1

    @cached_property
    def entry_bits(self) -> int:
        """Width of an entry."""
        return width_of(max(int(each.max()) for each in self.entries))

    @property
    def summary(self) -> str:
        """Its layout in a few words."""
        once = ", equal rows once" if self.dictionary else ""
        return f"{self.sums.summary}, rows found by {sum(self.n_cuts)} comparisons in a loop{once}"

    @property
    def largest_sum(self) -> int:
        """No sum exceeds this for any input."""
        return self.sums.largest_sum

    @property
    def sum_bits(self) -> int:
        """Width of the sums."""
        return self.sums.sum_bits

    @property
    def additions(self) -> int:
        """Additions per decision."""
        return self.sums.additions

    @cached_property
    def rom_bytes(self) -> int:
        """Bytes of rows and cuts; the prior is in the code."""
        word_bits = self.sums.packing.word_bits
        rows = sum(self.n_rows) * self.sums.n_words * word_bits // 8
        if self.dictionary:
            rows = self.dictionary.n_bytes(word_bits)
        return rows + sum(each.size for each in self.entries) * self.entry_bits // 8

    @property
    def whole_bytes(self) -> int:
        """Bytes of the constants that are never divided: all of them."""
        return self.rom_bytes

    @property
    def work(self) -> tuple[float, ...]:
        """
        Terms: 1; tables, cuts with strides, cuts without; numbers of cuts and of rows read.

        Then places looked up, words of rows, their bytes, parts, moves; classes emptied, bytes of
        these. A move is a shift or a mask.
        """
        sums, n_tables = self.sums, len(self.cuts)
        n_cuts, emptied = sum(self.n_cuts), sums.n_runs * sums.program.n_classes
        words = n_tables * sums.n_words
        return (
            1,
            n_tables,
            0 if self.is_doubled else n_cuts,
            n_cuts if self.is_doubled else 0,
            0 if self.same_n_cuts else n_tables,
            0 if self.same_n_rows else n_tables,
            n_tables if self.dictionary else 0,
            words,
            words * sums.packing.word_bits // 8,
            n_tables * len(sums.parts),
            n_tables * sums.n_moves,
            emptied,
            emptied * sums.sum_bits // 8,
        )

    @property
    def code(self) -> tuple[float, ...]:
        """
        Terms: 1; cuts of a table without strides; places looked up, words, parts, moves.

        Then classes, those of several runs.
        """
        sums = self.sums
        n_classes = sums.program.n_classes
        return (
            1,
            self.n_cuts[0] if self.is_doubled else 0,
            1 if self.dictionary else 0,
            sums.n_words,
            len(sums.parts),
            sums.n_moves,
            n_classes,
            n_classes * (sums.n_runs > 1),
        )

    @property
    def more_work(self) -> tuple[float, ...]:
        """Terms, for tables: bytes of moves, of sums in memory."""
        return self.sums.more_work[:2]

    @property
    def more_code(self) -> tuple[float, ...]:
        """Terms: those of sums; bytes of their parts, classes' starts."""
        sums = self.sums
        n_bytes = len(sums.parts) * sums.part_bits // 8
        return (*sums.more_code, n_bytes, int(np.count_nonzero(sums.program.prior)))

    def reading_entries(self, t: int, place: Mapping[int, int]) -> list[int]:
        """Return the entries of one table for readings, whose limits are a list of their own."""
        return self._listed(t, lambda feature, least: [place[feature]])

    def _entries(self, t: int) -> IntArray:
        """Return the list entries of one table."""
        found = self._listed(t, lambda feature, least: [feature, least])
        return np.array(found, dtype=np.int64)

    def _listed(self, t: int, cut: Callable[[int, int], list[int]]) -> list[int]:
        cuts, n_levels = self.cuts[t], [each.n_levels for each in self.cuts[t]]
        found = [] if self.same_n_rows else [self.n_rows[t] * self.row_length]
        for k, each in enumerate(cuts):
            stride = [] if self.is_doubled else [prod(n_levels[k + 1 :]) * self.row_length]
            for least in each.least:
                found += [*cut(each.feature, least), *stride]
        return found if self.same_n_cuts else [1 + len(found), *found]


def cut_loop(program: Program) -> Iterator[CutLoopKernel]:
    """Return the layouts of a program of cuts that a loop sums, whose lanes no input overflows."""
    if not is_of_cuts(program):
        return
    tables = tuple(most_levels_first(table, program.n_states) for table in program.tables)
    ordered = replace(program, tables=tables)
    once = distinct_rows(tables)
    for sums in looped_sums(ordered):
        apart = CutLoopKernel(sums, None)
        yield apart
        dictionary = row_dictionary(once, partial(_packed, packing=sums.packing))
        shared = CutLoopKernel(sums, dictionary)
        if shared.rom_bytes < apart.rom_bytes:
            yield shared


def _packed(costs: IntArray, packing: Packing) -> IntArray:
    """Return rows of words, (n_rows, n_words)."""
    return packed_words(costs, packing).T
