"""
Where the rows of a state begin, for code that looks a place up instead of computing it.

The row of two features (p, i) is ``x[p] * n[i] + x[i]``. A table of the places at which the rows of
every ``x[p]`` begin takes the product's place, and the states of p may share rows for nothing.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from bncc._types import IntArray
from bncc.program.ir import Program, Table, n_levels

POINTER_BYTES = 4
"""Bytes of an address on a machine of 32 bits."""

RowStarts: TypeAlias = tuple[IntArray | None, ...]
"""By table: the first row of each state of its first feature, (n_states,) int64; None for a table
whose rows are found by a product."""


def row_starts(program: Program, tables: Sequence[Table]) -> RowStarts:
    """Return where rows begin in the tables of two features."""
    return tuple(_starts(program, table) if len(table.features) == 2 else None for table in tables)


def start_bytes(starts: RowStarts) -> int:
    """Return the bytes of all addresses that are looked up."""
    return POINTER_BYTES * sum(len(each) for each in starts if each is not None)


def level_bytes(tables: Sequence[Table], starts: RowStarts) -> int:
    """Return about how many bytes say what states with maps add to a row's address."""
    found = set()
    for table, start in zip(tables, starts, strict=True):
        features = table.features if start is None else table.features[1:]
        found |= {(table.maps[f], k) for k, f in enumerate(reversed(features)) if f in table.maps}
    return sum(len(levels) for levels, _ in found)


def n_looked_up(starts: RowStarts) -> int:
    """Return how many tables' rows are found by such a look-up."""
    return sum(each is not None for each in starts)


def _starts(program: Program, table: Table) -> IntArray:
    first = table.features[0]
    levels = table.maps.get(first, range(program.n_states[first]))
    return np.array(levels, dtype=np.int64) * n_levels(table, program.n_states)[1]
