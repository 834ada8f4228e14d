"""
Move what depends on a parent's state alone into the parent's own table.

Rewrites: subtracts from the rows of a table an offset per class and state of a parent, adds it to
    the rows of the table whose innermost feature is that parent, and normalizes both; then shifts
    columns and folds the prior as the passes of these names do. Again, so long as it pays.
Margins stay: every decision reads one row of either table, both for the same state of the parent,
    so each class loses and gets back one offset; normalizing subtracts one number from all classes.
Fires: when the tables' entries need fewer bits, one in `WORTHWHILE` at least, and neither flash
    nor sums more.
Saves: flash where entries need fewer bits; widenings of lanes, since more entries fit into one.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from bncc._types import IntArray
from bncc.program.ir import Program, Table, with_tables
from bncc.program.passes.column_offsets import column_offsets
from bncc.program.passes.fold_prior import fold_prior
from bncc.program.tables import gaps, improves, least_spread, normalized, offsets_below, packed_bits

WORTHWHILE = 256
"""Most of what can be saved is saved at once; the rest would take many times as long."""


def move_parent_terms(program: Program) -> Program:
    """Let tables of parents take over what makes the entries of other tables large."""
    best, settled = program, _settled(program)
    while _pays(moved := _settled(_moved(settled)), settled):
        best = settled = moved
    return best


def _pays(after: Program, before: Program) -> bool:
    saved = packed_bits(before) - packed_bits(after)
    return saved * WORTHWHILE >= packed_bits(before) and improves(after, before)


def _settled(program: Program) -> Program:
    return fold_prior(column_offsets(program))


def _moved(program: Program) -> Program:
    """Move terms from every table, those that no other table gives terms to first."""
    tables = list(program.tables)
    for source, target, f in _edges(tables):
        tables[source], tables[target] = _pair(program, tables[source], tables[target], f)
    return with_tables(program, tables, program.prior)


def _edges(tables: list[Table]) -> Iterator[tuple[int, int, int]]:
    """
    Yield a table, the table of a parent and the parent, from the leaves of a network up.

    Tables with state maps stay as they are: rows that they share would become different. Tables on
    a cycle take terms but give none, since each would have to wait for the next.
    """
    plain = [(t, table) for t, table in enumerate(tables) if table.is_plain]
    own = {table.features[-1]: t for t, table in reversed(plain)}
    targets: list[list[tuple[int, int]]] = [[] for _ in tables]
    for t, table in plain:
        targets[t] = [(own[f], f) for f in table.features[:-1] if f in own]
    waiting = [0] * len(tables)
    for some in targets:
        for target, _ in some:
            waiting[target] += 1
    ready = deque(t for t, n in enumerate(waiting) if n == 0)
    while ready:
        source = ready.popleft()
        for target, f in targets[source]:
            yield source, target, f
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)


def _pair(program: Program, child: Table, parent: Table, f: int) -> tuple[Table, Table]:
    """
    Move terms from a table to another where that makes both together smaller.

    Sizes are those that the tables have once their columns are shifted.
    """
    blocks, rows = _by_state(program, child, f), _by_state(program, parent, f)
    gap = gaps(blocks)
    narrowest, spread = int(least_spread(gap).max()), int(least_spread(gap.max(axis=0)))
    middle = (rows.max(axis=1) + rows.min(axis=1)) // 2
    best, least = None, _size(blocks, spread, rows)
    for most in {narrowest, (1 << narrowest.bit_length()) - 1}:
        terms = offsets_below(gap - most, -middle)
        assert terms is not None, "the least spread can be reached"
        size = _size(blocks, most, rows + terms[:, None])
        if size < least:
            best, least = terms, size
    if best is None:
        return child, parent
    return (
        _with_states(program, child, f, normalized(blocks - best[:, None])),
        _with_states(program, parent, f, normalized(rows + best[:, None])),
    )


def _size(blocks: IntArray, most: int, rows: IntArray) -> tuple[int, int]:
    """Return the bits of a table with entries up to `most` and of another; then both maxima."""
    spread = int(least_spread(gaps(rows).max(axis=0)))
    return blocks.size * most.bit_length() + rows.size * spread.bit_length(), most + spread


def _by_state(program: Program, table: Table, f: int) -> IntArray:
    """Return rows as (n_states, n_rows, n_classes), those of a feature's state together."""
    shape = [program.n_states[k] for k in table.features]
    costs = table.costs.reshape(*shape, program.n_classes)
    first = np.moveaxis(costs, table.features.index(f), 0)
    return first.reshape(program.n_states[f], -1, program.n_classes)


def _with_states(program: Program, table: Table, f: int, blocks: IntArray) -> Table:
    """Undo `_by_state`."""
    place = table.features.index(f)
    rest = [program.n_states[k] for k in table.features if k != f]
    first = blocks.reshape(program.n_states[f], *rest, program.n_classes)
    return replace(table, costs=np.moveaxis(first, 0, place).reshape(table.costs.shape))
