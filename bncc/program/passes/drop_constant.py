"""
Drop tables that tell the classes nothing new.

Rewrites: a table whose rows are all equal becomes a summand of the prior; a table whose columns
    are all equal disappears.
Margins stay: the first adds the same row for every input, as the prior does; the second adds the
    same number to every class, as does what the prior is normalized by, and that cancels in every
    difference of costs.
Fires: when there is such a table and another one is left to start the sum from.
Saves: the table, and one look-up with its additions per decision.
"""

from bncc.program.ir import Program, Table, with_tables
from bncc.program.tables import normalized


def drop_constant(program: Program) -> Program:
    """Fold constant tables into the prior and remove tables without the class."""
    kept: list[Table] = []
    prior = program.prior
    for t, table in enumerate(program.tables):
        last_one = not kept and t == len(program.tables) - 1
        if last_one or not (_equal_rows(table) or _equal_columns(table)):
            kept.append(table)
        elif not _equal_columns(table):
            prior = prior + table.costs[0]
    if len(kept) == len(program.tables):
        return program
    return with_tables(program, kept, normalized(prior))


def _equal_rows(table: Table) -> bool:
    return bool((table.costs == table.costs[:1]).all())


def _equal_columns(table: Table) -> bool:
    return bool((table.costs == table.costs[:, :1]).all())
