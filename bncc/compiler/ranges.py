"""Range analysis: bounds that hold for every input, not only for those that were tried."""

import numpy as np

from bncc._types import IntArray
from bncc.compiler.ir import Program


def cost_bounds(program: Program) -> tuple[IntArray, IntArray]:
    r"""Bound the cost of every class over all inputs by interval arithmetic.

    .. math:: \sum_t \min_r T_t[r, c] \le cost[c] - prior[c] \le \sum_t \max_r T_t[r, c]

    Every summand lies in its column's interval, so every sum lies in the sum of the intervals.
    Partial sums are bounded by the same upper end because no cost is negative.

    Parameters
    ----------
    program : Program
        Any program.

    Returns
    -------
    low, high : (n_classes,) int64
        Least and largest cost of each class; the bound is safe, and exact when no feature is
        read twice.
    """
    low = program.prior.astype(np.int64)
    high = program.prior.astype(np.int64)
    for table in program.tables:
        low = low + table.costs.min(axis=0)
        high = high + table.costs.max(axis=0)
    return low, high


def largest_cost(program: Program) -> int:
    """Return the largest value that an accumulator can reach.

    Parameters
    ----------
    program : Program
        Any program.

    Returns
    -------
    int
        An upper bound of every class's cost, partial sums included.
    """
    return int(cost_bounds(program)[1].max())
