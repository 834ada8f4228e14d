"""
Which row every table contributes, found by walking the tables in their order.

The first row of a table is the number of rows of all tables before it, so a running sum replaces an
array of starts; products of states and numbers of states are formed by shifts and additions.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from bncc._types import IntArray
from bncc.program.ir import Program, Table, width_of

Form = Literal["own", "parent", "parents"]


@dataclass(frozen=True, eq=False)
class Walk:
    """What the C reads to find rows, beside the numbers of states."""

    form: Form  # Whether every table reads one feature, at most two, or any number
    # (n_tables,) int64 or None: The innermost feature of each table; None where table t has feature
    # t, and in the last form
    own: IntArray | None = None
    # (n_tables,) int64 or None: Of the second form: the other feature of each table; its own one
    # where it has no other
    parents: IntArray | None = None
    # (n_reads,) int64 or None: Of the third form: the features of all tables, the outermost of each
    # first
    reads: IntArray | None = None
    # (n_tables,) int64 or None: Of the third form: how many features each table reads
    arities: IntArray | None = None

    def n_bytes(self, n_features: int) -> int:
        """Return the bytes of all arrays."""
        bits = width_of(n_features - 1)
        arrays = [a for a in (self.own, self.parents, self.reads) if a is not None]
        arities = 0 if self.arities is None else self.arities.size * self.arity_bits
        return (sum(a.size for a in arrays) * bits + arities) // 8

    @property
    def arity_bits(self) -> int:
        """Width of an arity."""
        return 8 if self.arities is None else width_of(int(self.arities.max()))


def walk_of(program: Program) -> Walk:
    """Say how the rows of a program's tables are found."""
    arities = [len(table.features) for table in program.tables]
    if min(arities) < 1 or max(arities) > 2:
        reads = [f for table in program.tables for f in table.features]
        return Walk("parents", reads=np.array(reads), arities=np.array(arities))
    last = np.array([table.features[-1] for table in program.tables])
    own = None if np.array_equal(last, np.arange(len(program.tables))) else last
    if max(arities) == 1:
        return Walk("own", own)
    return Walk("parent", own, np.array([table.features[0] for table in program.tables]))


def orders(program: Program) -> Iterator[Program]:
    """Return programs of equal costs that may take fewer bytes to walk."""
    yield program
    by_own = {table.features[-1]: table for table in program.tables if table.features}
    if len(by_own) == len(program.tables) and walk_of(program).own is not None:
        tables = (by_own.get(f) or _nothing(program, f) for f in range(len(program.features)))
        yield replace(program, tables=tuple(tables))


def _nothing(program: Program, f: int) -> Table:
    """Return a table of zeros for a feature."""
    zeros = np.zeros((program.n_states[f], program.n_classes), dtype=np.int64)
    return Table(program.features[f].name, (f,), zeros, entry_bits=8)
