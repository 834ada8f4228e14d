"""When one program is better than another: what a pass that could go either way asks.

Kernels store a table's entries in as few bits as its largest needs, in lanes of any width, and
widen the lanes the more often, the larger the entries are; or they store every different row once
behind an index. So entries count by the bit in the smaller of the two forms, and behind that by
their value. The prior counts as it is stored, by its width. Sums count by the bit alone: that is
what the width of the last lanes follows.
"""

import numpy as np

from bncc.compiler.ir import Program, width_of
from bncc.compiler.ranges import largest_cost


def packed_bits(program: Program) -> int:
    """Return the bits of all costs when each table's take no more than its largest needs.

    Parameters
    ----------
    program : Program
        Any program.

    Returns
    -------
    int
        Bits of all tables and of the prior.
    """
    bits = [table.costs.size * int(table.costs.max()).bit_length() for table in program.tables]
    return sum(bits) + _prior_bits(program)


def shared_bits(program: Program) -> int:
    """Return the bits of all costs when every different row is stored once, behind an index.

    Parameters
    ----------
    program : Program
        Any program.

    Returns
    -------
    int
        Bits of the different rows, of an index for each row, and of the prior.
    """
    rows = np.concatenate([table.costs for table in program.tables])
    n_different = len(np.unique(rows, axis=0))
    entry_bits = int(rows.max()).bit_length()
    stored_bits = n_different * program.n_classes * entry_bits
    return stored_bits + len(rows) * width_of(n_different - 1) + _prior_bits(program)


def sum_bits(program: Program) -> int:
    """Return how many bits the sums need.

    Parameters
    ----------
    program : Program
        Any program.

    Returns
    -------
    int
        Bits of the largest cost that any input can reach.
    """
    return largest_cost(program).bit_length()


def improves(after: Program, before: Program) -> bool:
    """Tell whether a program is better than another of equal margins.

    Parameters
    ----------
    after, before : Program
        The one that is asked about, and the one that it would replace.

    Returns
    -------
    bool
        Whether its costs take fewer bits, or as many with smaller entries, while its sums need no
        more bits.
    """
    return _size(after) < _size(before) and sum_bits(after) <= sum_bits(before)


def _size(program: Program) -> tuple[int, int]:
    entries = sum(int(table.costs.max()) for table in program.tables)
    return min(packed_bits(program), shared_bits(program)), entries


def _prior_bits(program: Program) -> int:
    return program.prior.size * width_of(int(program.prior.max())) if program.prior.any() else 0
