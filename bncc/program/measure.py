"""
When one program is better than another: what a pass that could go either way asks.

Lanes are widened the more often, the larger the entries of each table are; so entries count by the
bit, table by table, and behind that by their value. In flash all entries have one width, or every
different row is stored once behind an index: neither may make a program larger. Sums count by the
bit: that is what the width of the last lanes follows. A prior counts as it is stored.
"""

import numpy as np

from bncc.program.ir import Program, width_of
from bncc.program.ranges import largest_cost


def packed_bits(program: Program) -> int:
    """Return the bits of all costs when each table's take no more than its largest needs."""
    bits = [table.costs.size * int(table.costs.max()).bit_length() for table in program.tables]
    return sum(bits) + prior_bits(program)


def prior_bits(program: Program) -> int:
    """Return the bits of a prior as it is stored."""
    if not program.prior.any():
        return 0
    return program.prior.size * width_of(int(program.prior.max()))


def flash_bits(program: Program) -> int:
    """Return the bits of all tables in the smaller of two forms."""
    rows = np.concatenate([table.costs for table in program.tables])
    n_different = len(np.unique(rows, axis=0))
    row_bits = program.n_classes * int(rows.max()).bit_length()
    shared = n_different * row_bits + len(rows) * width_of(n_different - 1)
    return min(len(rows) * row_bits, shared)


def sum_bits(program: Program) -> int:
    """Return how many bits the sums need."""
    return largest_cost(program).bit_length()


def improves(after: Program, before: Program) -> bool:
    """Tell whether a program is better than another of equal margins."""
    return (
        _entries(after) < _entries(before)
        and flash_bits(after) <= flash_bits(before)
        and sum_bits(after) <= sum_bits(before)
    )


def _entries(program: Program) -> tuple[int, int]:
    return packed_bits(program), sum(int(table.costs.max()) for table in program.tables)
