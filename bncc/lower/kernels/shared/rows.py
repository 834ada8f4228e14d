"""
The rows of tables: which are equal, dictionaries of them, and arrays of costs in C.

A dictionary of rows: those of all tables that are equal are stored once.

What a table holds is for each joint state the place of its row, the number of the row's first word
in the dictionary; a number of a byte or two instead of several words.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bncc._types import IntArray
from bncc.lower.c.c99 import ArrayText, unsigned, wrap_words
from bncc.lower.c.constants import MOST_IN_ALL, MOST_IN_ARRAY, must_be_divided
from bncc.lower.c.identifiers import c_comment
from bncc.program.ir import Program, Table, width_of


def distinct(rows: IntArray) -> tuple[IntArray, IntArray]:
    """
    Return the different rows and which of them each row is.

    Shapes: `rows` (n_rows, n) int64; returns different (n_distinct, n) int64, in ascending order;
    returns index (n_rows,) int64, ``rows`` is ``different[index]``.
    """
    # The bytes of a row as one value: sorting rows of numbers takes several times as long. Those of
    # big-endian numbers >= 0 ascend as the numbers do.
    whole = rows.astype(">i8", order="C").view(f"V{8 * rows.shape[1]}").reshape(-1)
    _, first, index = np.unique(whole, return_index=True, return_inverse=True)
    return rows[first], index.reshape(-1)


def lifted_priors(program: Program) -> Iterator[Program]:
    """
    Yield a program, and one whose tables have zero minima in each column.

    The prior takes over what every row of a column has at least, so costs are equal; then its own
    least entry is taken from all classes alike, so margins are. It undoes a fold of the prior that
    made entries wider.
    """
    yield program
    # What a table behind a gate takes off must not reach the sum of those before it.
    n_lifted = len(program.tables) if program.gate is None else program.gate.tables
    least = [table.costs.min(axis=0) * (t < n_lifted) for t, table in enumerate(program.tables)]
    prior = program.prior + np.sum(least, axis=0)
    if any(row.any() for row in least):
        pairs = zip(program.tables, least, strict=True)
        tables = tuple(replace(table, costs=table.costs - row) for table, row in pairs)
        yield replace(program, tables=tables, prior=prior - prior.min())


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


_MEANING = "Costs: one table per heading, one row per joint state, one entry per class."


@dataclass(frozen=True, eq=False)
class CostArrays:
    """The tables as C, in kernel order."""

    arrays: tuple[ArrayText, ...]  # Whole tables, concatenated
    ends: tuple[int, ...]  # For each array the table behind its last one
    starts: IntArray  # (n_tables,) int64: First entry of each table in the array that holds it

    @property
    def is_split(self) -> bool:
        """True if there are several arrays."""
        return len(self.arrays) > 1


def cost_arrays(
    program: Program,
    tables: Sequence[Table],
    entry_bits: int,
    name: str = "costs",
    meaning: str = _MEANING,
    hex_digits: int = 0,
) -> CostArrays:
    """Print tables, every row in lines of its own behind its states."""
    sizes = [table.costs.size for table in tables]
    before = np.cumsum([0, *sizes])
    ends = table_ends([size * entry_bits // 8 for size in sizes])
    arrays, starts = [], []
    for k, (first, end) in enumerate(zip((0, *ends), ends, strict=False)):
        part = tables[first:end]
        lines = [line for table in part for line in _cost_lines(program, table, hex_digits)]
        length = sum(sizes[first:end])
        title, comment = name, meaning
        if len(ends) > 1:
            title, comment = f"{name}{k + 1}", _part_comment(meaning, k, len(ends), first, end)
        c_type, n_bytes = unsigned(entry_bits), length * entry_bits // 8
        arrays.append(ArrayText(c_type, title, length, comment, tuple(lines), n_bytes))
        starts.append(before[first:end] - before[first])
    return CostArrays(tuple(arrays), ends, np.concatenate(starts))


def table_ends(sizes: Sequence[int]) -> tuple[int, ...]:
    """Divide tables among arrays."""
    total = sum(sizes)
    if total <= MOST_IN_ARRAY or total > MOST_IN_ALL or max(sizes) > MOST_IN_ARRAY:
        return (len(sizes),)
    ends, room = [], MOST_IN_ARRAY
    for t, size in enumerate(sizes):
        if size > room:
            ends.append(t)
            room = MOST_IN_ARRAY
        room -= size
    return (*ends, len(sizes))


def table_numbers(first: int, end: int) -> str:
    """Name tables `first` to `end` - 1 in a comment."""
    return f"tables {first} to {end - 1}" if end - first > 1 else f"table {first}"


def _part_comment(meaning: str, k: int, n_parts: int, first: int, end: int) -> str:
    numbers = table_numbers(first, end)
    if k:
        return f"Costs of {numbers}."
    return (
        f"{meaning} They are split into {n_parts} arrays, since AVR compilers allow at most "
        f"{MOST_IN_ARRAY} bytes per array. This one has {numbers}."
    )


def _cost_lines(program: Program, table: Table, hex_digits: int) -> list[str]:
    def entry(cost: int) -> str:
        return f"0x{cost:0{hex_digits}X}U," if hex_digits else f"{cost}U,"

    return table_lines(program, table, ([entry(c) for c in row] for row in table.costs.tolist()))


def table_lines(program: Program, table: Table, rows: Iterable[Sequence[str]]) -> list[str]:
    """Print a table under a heading, every row behind its states."""
    lines = [f"/* {table_heading(program, table)} */"]
    digits = _joint_states([_states(program, table, f) for f in table.features])
    for states, row in zip(digits, rows, strict=True):
        first, *rest = wrap_words([f"/* {states} */", *row])
        lines.append(first)
        lines += [f"    {line}" for line in rest]
    return lines


def table_heading(program: Program, table: Table) -> str:
    """Return the comment above a table."""
    *parents, own = [c_comment(program.features[f].name) for f in table.features]
    is_sum = table.name != program.features[table.features[-1]].name
    if is_sum or all(f in table.maps for f in table.features):
        return ", ".join((*parents, own))
    return f"{own} given {', '.join(parents)}: {', '.join(parents)}, {own}" if parents else own


def _states(program: Program, table: Table, f: int) -> list[str]:
    """Name the states of a feature, or its levels by their states, as in 0-2+5."""
    if f not in table.maps:
        return [str(state) for state in range(program.n_states[f])]
    levels = np.array(table.maps[f])
    return [_ranges(np.flatnonzero(levels == k).tolist()) for k in range(levels.max() + 1)]


def _ranges(states: list[int]) -> str:
    """Write increasing numbers with neighbors as ranges."""
    runs = [[states[0], states[0]]]
    for state in states[1:]:
        if state == runs[-1][1] + 1:
            runs[-1][1] = state
        else:
            runs.append([state, state])
    return "+".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def _joint_states(states: list[list[str]]) -> list[str]:
    joint = [""]
    for names in states:
        joint = [f"{prefix},{k}" if prefix else k for prefix in joint for k in names]
    return joint
