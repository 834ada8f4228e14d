"""Addresses of consecutive rows: starts, look-up tables of multiples, and their C."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bncc._types import IntArray
from bncc.lower.c.c99 import ArrayText, array, unsigned
from bncc.program.ir import Program, Table, width_of


@dataclass(frozen=True, eq=False)
class Finder:
    """
    Terms of the row address of each table.

    A row begins at the table's start, plus the state of its innermost feature times the length of
    a row, plus for each other feature its state times a stride. Products are looked up. Tables that
    read fewer features than others have strides of 0.
    """

    # (n_tables, n_columns) int64: For each table its start; its innermost feature, unless it
    # `is_own`; then for each other feature the feature and where the multiples of its stride begin
    entries: IntArray
    is_own: bool  # True if table t has feature t as its innermost
    # (n,) int64: Multiples 0, s, 2s, ... of every distinct stride s, those of the length of a row
    # first; they are left out where that is 1.
    multiples: IntArray
    row_length: int  # Words of a row
    n_words: int  # Words of all rows

    @property
    def n_others(self) -> int:
        """Number of features of a table besides its innermost one."""
        return (int(self.entries.shape[1]) - 2 + self.is_own) // 2

    @property
    def entry_bits(self) -> int:
        """Width of an entry and of the place of a word."""
        return width_of(max(int(self.entries.max()), self.n_words))

    @property
    def multiple_bits(self) -> int:
        """Width of a multiple."""
        return width_of(int(self.multiples.max())) if self.multiples.size else 8

    @property
    def n_bytes(self) -> int:
        """Bytes of both arrays."""
        multiples = self.multiples.size * self.multiple_bits
        return (self.entries.size * self.entry_bits + multiples) // 8


def finder_of(program: Program, row_length: int) -> Finder:
    """Return the addressing of the rows of a program's tables."""
    tables = program.tables
    most = max(len(table.features) for table in tables)
    lengths: dict[int, int] = {}
    if row_length > 1:
        lengths[row_length] = max(program.n_states[table.features[-1]] for table in tables)
    strides = [_strides(program, table, row_length, most) for table in tables]
    for f, stride in (pair for pairs in strides for pair in pairs):
        lengths[stride] = max(lengths.get(stride, 0), program.n_states[f])
    places = dict(zip(lengths, np.cumsum([0, *lengths.values()]).tolist(), strict=False))
    multiples = [np.arange(n) * stride for stride, n in lengths.items()]
    starts = np.cumsum([0] + [len(table.costs) * row_length for table in tables])
    own = [table.features[-1] for table in tables]
    others = [[k for f, stride in pairs for k in (f, places[stride])] for pairs in strides]
    is_own = own == list(range(len(tables)))
    columns = [starts[:-1, None]] + [np.array(own)[:, None]] * (not is_own)
    return Finder(
        np.hstack([*columns, np.array(others, dtype=np.int64).reshape(len(tables), -1)]),
        is_own,
        np.concatenate([np.zeros(0, dtype=np.int64), *multiples]),
        row_length,
        int(starts[-1]),
    )


def _strides(
    program: Program, table: Table, row_length: int, most: int
) -> Sequence[tuple[int, int]]:
    """Return each feature but the innermost with its stride; the innermost with 0 at the end."""
    found, stride = [], row_length
    for inner, f in zip(table.features[:0:-1], table.features[-2::-1], strict=True):
        stride *= program.n_states[inner]
        found.append((f, stride))
    return found + [(table.features[-1], 0)] * (most - len(table.features))


def finder_arrays(finder: Finder, starts: IntArray, what: str) -> list[ArrayText]:
    """
    Print the entries of each table, and the look-up table of multiples.

    Shapes: `starts` (n_tables,) int64.
    """
    entries = finder.entries.copy()
    entries[:, 0] = starts
    parts = [what]
    if not finder.is_own:
        parts.append("its fastest-varying feature")
    if finder.n_others:
        parts.append("each other feature and the index of its multiples")
    meaning = f"Per table: {', '.join(parts)}."
    arrays = [array("table", finder.entry_bits, entries.ravel().tolist(), meaning)]
    if finder.multiples.size:
        meaning = "Look-up table of the multiples of strides."
        multiples = finder.multiples.tolist()
        arrays.append(array("multiples", finder.multiple_bits, multiples, meaning))
    return arrays


def finder_names(finder: Finder, place_bits: int) -> dict[str, object]:
    """Return the names that ``shared/row_finder.c.j2`` uses."""
    return {
        "n_columns": finder.entries.shape[1],
        "is_own": finder.is_own,
        "n_others": finder.n_others,
        "row_length": finder.row_length,
        "entry_type": unsigned(finder.entry_bits),
        "multiple_type": unsigned(finder.multiple_bits),
        "at_type": "uint32_t" if place_bits == 32 else "uint_fast16_t",
    }
