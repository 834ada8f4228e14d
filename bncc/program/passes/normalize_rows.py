"""
Subtract from every row its smallest cost.

Rewrites: every row of every table, and the prior, less its own minimum over the classes.
Margins stay: a decision reads one row of each table and the prior, so each input's costs shrink by
    one number that is the same for all classes, and that cancels in every difference of costs.
Fires: when some row, or the prior, has no cost of zero.
Saves: nothing by itself; entries and sums get smaller, which lets their widths shrink, and rows
    that tell the classes apart equally become equal.
"""

from dataclasses import replace

from bncc._types import IntArray
from bncc.program.ir import Program, with_tables


def normalize_rows(program: Program) -> Program:
    """Let the smallest cost of every row be zero."""
    prior = _less_minimum(program.prior)
    costs = [_less_minimum(table.costs) for table in program.tables]
    if prior is program.prior and all(
        new is table.costs for new, table in zip(costs, program.tables, strict=True)
    ):
        return program
    tables = [replace(table, costs=new) for new, table in zip(costs, program.tables, strict=True)]
    return with_tables(program, tables, prior)


def _less_minimum(costs: IntArray) -> IntArray:
    """Return rows whose minimum is zero; the same array when they are so already."""
    smallest = costs.min(axis=-1, keepdims=True)
    return costs - smallest if smallest.any() else costs
