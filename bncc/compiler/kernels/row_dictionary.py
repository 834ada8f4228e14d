"""A dictionary of rows: those of all tables that are equal are stored once.

What a table holds is for each joint state the place of its row, the number of the row's first word
in the dictionary; a number of a byte or two instead of several words.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bncc._types import IntArray
from bncc.compiler.ir import width_of


@dataclass(frozen=True, eq=False)
class RowDictionary:
    """Distinct rows and where those of every table are.

    Parameters
    ----------
    rows : (n_distinct, n_words) uint64
        No two are equal.
    places : tuple of (n_rows,) int64
        By table and joint state: the first word of the row, a multiple of ``n_words``.
    """

    rows: IntArray
    places: tuple[IntArray, ...]

    @property
    def place_bits(self) -> int:
        """Width of a place, 8, 16 or 32."""
        return width_of((len(self.rows) - 1) * self.rows.shape[1])

    def n_bytes(self, word_bits: int) -> int:
        """Return the bytes of the rows and of all places, for words of some width."""
        n_places = sum(len(places) for places in self.places)
        return (self.rows.size * word_bits + n_places * self.place_bits) // 8


def row_dictionary(rows: Sequence[IntArray]) -> RowDictionary:
    """Collect the distinct rows of tables.

    Parameters
    ----------
    rows : sequence of (n_rows, n_words) uint64
        By table.

    Returns
    -------
    RowDictionary
        In ascending order; ``rows[t][r]`` is ``result.rows[result.places[t][r] // n_words]``.
    """
    distinct, numbers = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
    ends = np.cumsum([len(each) for each in rows])[:-1]
    places = np.split(numbers.reshape(-1) * distinct.shape[1], ends)
    return RowDictionary(distinct, tuple(places))
