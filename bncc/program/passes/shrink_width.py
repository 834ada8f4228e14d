"""
Store every number as narrowly as its proven range allows.

Rewrites: the storage width of every table's entries, and the width of the accumulators.
Costs stay: an entry is at most its table's maximum, a sum at most the bound of the range
    analysis, and both fit their new widths; no number changes.
Fires: when an entry or the sum fits fewer bits than it has.
Saves: flash for entries, RAM and cycles for sums.
"""

from dataclasses import replace

from bncc.program.ir import Program, width_of
from bncc.program.ranges import largest_cost


def shrink_width(program: Program) -> Program:
    """Choose the smallest of 8, 16 and 32 bits for entries and for sums."""
    cost_bits = width_of(largest_cost(program))
    widths = [width_of(int(table.costs.max())) for table in program.tables]
    if cost_bits == program.cost_bits and widths == [t.entry_bits for t in program.tables]:
        return program
    tables = tuple(
        replace(table, entry_bits=bits) for table, bits in zip(program.tables, widths, strict=True)
    )
    return replace(program, tables=tables, cost_bits=cost_bits)
