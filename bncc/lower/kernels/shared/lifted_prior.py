"""The prior apart from the tables: what a pass folded into a table may have made costs wider."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from bncc.program.ir import Program


def lifted_priors(program: Program) -> Iterator[Program]:
    """
    Yield a program, and one whose tables have zero minima in each column.

    The prior takes over what every row of a column has at least, so costs are equal; then its own
    least entry is taken from all classes alike, so margins are. It undoes a fold of the prior that
    made entries wider.
    """
    yield program
    least = [table.costs.min(axis=0) for table in program.tables]
    prior = program.prior + np.sum(least, axis=0)
    if any(row.any() for row in least):
        pairs = zip(program.tables, least, strict=True)
        tables = tuple(replace(table, costs=table.costs - row) for table, row in pairs)
        yield replace(program, tables=tables, prior=prior - prior.min())
