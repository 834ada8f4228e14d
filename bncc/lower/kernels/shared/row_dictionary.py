"""
A dictionary of rows: those of all tables that are equal are stored once.

What a table holds is for each joint state the place of its row, the number of the row's first word
in the dictionary; a number of a byte or two instead of several words.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bncc._types import IntArray
from bncc.lower.kernels.shared.arrays import must_be_divided
from bncc.lower.kernels.shared.distinct import distinct
from bncc.program.ir import Table, width_of


@dataclass(frozen=True, eq=False)
class RowDictionary:
    """Distinct rows and where those of every table are."""

    rows: IntArray  # (n_distinct, n_words) uint64: No two are equal
    # By table and joint state: the first word of the row, a multiple of ``n_words``
    places: tuple[IntArray, ...]

    @property
    def place_bits(self) -> int:
        """Width of a place, 8, 16 or 32."""
        return width_of((len(self.rows) - 1) * self.rows.shape[1])

    def n_bytes(self, word_bits: int) -> int:
        """Return the bytes of the rows and of all places, for words of some width."""
        n_places = sum(len(places) for places in self.places)
        return (self.rows.size * word_bits + n_places * self.place_bits) // 8

    def saves(self, word_bits: int, rom_bytes: int, rom_bytes_apart: int) -> bool:
        """Return whether a kernel takes less flash so, and the rows need not be divided."""
        rows_bytes = self.rows.size * word_bits // 8
        return rom_bytes < rom_bytes_apart and not must_be_divided(rows_bytes, rom_bytes)


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Distinct rows of costs, however they are packed."""

    costs: IntArray  # (n_distinct, n_classes) int64: No two rows are equal
    numbers: tuple[IntArray, ...]  # By table and joint state: which row it is


def distinct_rows(tables: Sequence[Table]) -> DistinctRows:
    """Collect the distinct rows of some tables."""
    costs, numbers = distinct(np.concatenate([table.costs for table in tables]))
    ends = np.cumsum([len(table.costs) for table in tables])[:-1]
    return DistinctRows(costs, tuple(np.split(numbers, ends)))


def row_dictionary(distinct: DistinctRows, pack: Callable[[IntArray], IntArray]) -> RowDictionary:
    """Return a dictionary of packed rows."""
    rows = pack(distinct.costs)
    n_words = rows.shape[1]
    return RowDictionary(rows, tuple(n_words * numbers for numbers in distinct.numbers))
