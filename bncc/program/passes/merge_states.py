"""
Let states whose rows are equal in a table share them through a state map.

Rewrites: where all rows of a table for one state of a feature equal those for another, the table
    keeps them once, and a state map gives both states the same level.
Costs stay: a decision reads a row equal to the one that it read before.
Fires: when the rows that a table loses take more bits than an address for each state of the
    feature does.
Saves: rows; where a state was shifted into an address, it costs a look-up.
"""

from dataclasses import replace

import numpy as np

from bncc._types import IntArray
from bncc.program.ir import Program, Table, n_levels, with_tables

ADDRESS_BITS = 16
"""Bits of a state map per state: the address at which its level begins."""


def merge_states(program: Program) -> Program:
    """Give tables state maps where that takes less flash."""
    most = max(int(table.costs.max()) for table in program.tables)
    row_bits = program.n_classes * most.bit_length()
    tables = []
    for table in program.tables:
        for f in table.features if table.tree is None else ():
            table = _merged(program, table, f, row_bits)
        tables.append(table)
    if all(new is old for new, old in zip(tables, program.tables, strict=True)):
        return program
    return with_tables(program, tables, program.prior)


def _merged(program: Program, table: Table, f: int, row_bits: int) -> Table:
    """Return a table with equal states of one feature merged; the same one if that does not pay."""
    place = table.features.index(f)
    counts = n_levels(table, program.n_states)
    costs = table.costs.reshape(*counts, program.n_classes)
    first, levels = _different(np.moveaxis(costs, place, 0).reshape(counts[place], -1))
    n_saved = len(table.costs) // counts[place] * (counts[place] - len(first))
    map_bits = 0 if f in table.maps else program.n_states[f] * ADDRESS_BITS
    if n_saved * row_bits <= map_bits:
        return table
    of_states = levels[list(table.maps.get(f, range(len(levels))))]
    return replace(
        table,
        costs=costs.take(first, axis=place).reshape(-1, program.n_classes),
        maps={**table.maps, f: tuple(of_states.tolist())},
    )


def _different(rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return where each different row comes first, in their order, and which of them each is."""
    _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return first[order], np.argsort(order)[which.reshape(-1)]
