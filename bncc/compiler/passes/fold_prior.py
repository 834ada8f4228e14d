"""Fold the prior into a table.

Rewrites: adds the prior to every row of one table, and sets the prior to zero.
Costs stay: every decision reads exactly one row of that table, so the prior is added once, as it
    was before.
Fires: when a table has room for it without wider entries, and a second table is there, since
    the kernel starts its sum from two rows and would otherwise have to copy one.
Saves: the prior's bytes, and one addition per class and decision.
"""

from dataclasses import replace

import numpy as np

from bncc.compiler.ir import Program, width_of, with_tables


def fold_prior(program: Program) -> Program:
    """Add the prior to the rows of the smallest table that has room for it.

    Parameters
    ----------
    program : Program
        Any program.

    Returns
    -------
    Program
        Equal costs for every input; the same object when nothing was to do.
    """
    if not program.prior.any() or len(program.tables) < 2:
        return program
    by_size = sorted(range(len(program.tables)), key=lambda t: len(program.tables[t].costs))
    widest = max(width_of(int(table.costs.max())) for table in program.tables)
    for t in by_size:
        costs = program.tables[t].costs + program.prior
        if width_of(int(costs.max())) <= widest:
            tables = list(program.tables)
            tables[t] = replace(tables[t], costs=costs)
            return with_tables(program, tables, np.zeros_like(program.prior))
    return program
