"""
Fuse a table into one that reads all its features and more.

Rewrites: adds the row of a table to all rows of another for the same states, as a root's to those
    of one child, and normalizes the sums.
Margins stay: a decision reads the one row that is the sum of the two that it read before;
    normalizing subtracts one number from all classes.
Fires: where that takes no more bits. Among several tables, the one with the fewest.
    Tables with state maps stay as they are, for sums of them need rows for all joint states.
Saves: the table, and one look-up with its additions per decision.
"""

from collections.abc import Mapping

from bncc.program.ir import Program, Table, with_tables
from bncc.program.tables import flash_bits, fused, packed_bits, sum_bits


def fuse_parent(program: Program) -> Program:
    """Fuse tables into others so long as that takes no more bits."""
    tables = {t: table for t, table in enumerate(program.tables) if table.is_plain}
    readers: dict[int, list[int]] = {}
    for t, table in tables.items():
        for f in table.features:
            readers.setdefault(f, []).append(t)
    n_before = len(tables) + 1
    while len(tables) < n_before:
        n_before = len(tables)
        for t in list(tables):
            near = {u: tables[u] for u in readers[tables[t].features[0]] if u in tables and u != t}
            target = _target(program, tables[t], near)
            if target is not None:
                u, both = target
                tables[u] = both
                del tables[t]
    kept = {t: table for t, table in enumerate(program.tables) if not table.is_plain}
    after_tables = [table for _, table in sorted((tables | kept).items())]
    after = with_tables(program, after_tables, program.prior)
    if len(after_tables) == len(program.tables) or not _is_no_larger(after, program):
        return program
    return after


def _target(program: Program, small: Table, near: Mapping[int, Table]) -> tuple[int, Table] | None:
    """Return the table that absorbs another, and the result; None if no fusion pays."""
    best: tuple[int, int, Table] | None = None
    for u, large in near.items():
        if set(small.features) <= set(large.features):
            both = fused(program, (large, small))
            extra = _bits(both) - _bits(large)
            if extra <= _bits(small) and (best is None or extra < best[0]):
                best = extra, u, both
    return best and best[1:]


def _bits(table: Table) -> int:
    return table.costs.size * int(table.costs.max()).bit_length()


def _is_no_larger(after: Program, before: Program) -> bool:
    sizes = (packed_bits, flash_bits, sum_bits)
    return all(size(after) <= size(before) for size in sizes)
