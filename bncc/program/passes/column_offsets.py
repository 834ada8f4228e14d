"""
Shift the columns of tables so that their entries get smaller.

Rewrites: subtracts from every row of a table one offset per class, adds the offsets to the prior,
    normalizes the rows, and folds the prior where there is room for it.
Margins stay: every decision reads exactly one row of the table, so each class loses its offset
    once, and gets it back with the prior; normalizing subtracts one number from all classes.
Fires: when the tables' entries need fewer bits, or as many with smaller entries, and neither flash
    nor sums more; again and again, since a folded prior makes new gaps. Tried are all tables that
    can shrink, then those alone that save a bit.
Saves: flash where entries need fewer bits; widenings of lanes, since more entries fit into one.
"""

from collections.abc import Sequence
from dataclasses import replace

from bncc.program.ir import Program, with_tables
from bncc.program.passes.fold_prior import fold_prior
from bncc.program.tables import gaps, improves, least_spread, normalized, offsets_below


def column_offsets(program: Program) -> Program:
    """Let the largest entry of every table be as small as offsets of the classes allow."""
    while (after := _shifted_once(program)) is not program:
        program = after
    return program


def _shifted_once(program: Program) -> Program:
    """Shift the columns that it is worth to shift; the same object when none are."""
    spreads = [int(least_spread(gaps(table.costs))) for table in program.tables]
    most = [int(table.costs.max()) for table in program.tables]
    shrink = [t for t, least in enumerate(spreads) if least < most[t]]
    save = [t for t in shrink if spreads[t].bit_length() < most[t].bit_length()]
    before = fold_prior(program)
    for chosen in (shrink, save):
        after = fold_prior(_shifted(program, chosen, spreads))
        if improves(after, before):
            return after
    return program


def _shifted(program: Program, chosen: Sequence[int], spreads: Sequence[int]) -> Program:
    """Shift the columns of some tables, each time by offsets that leave the smallest prior."""
    tables, prior = list(program.tables), program.prior
    for t in chosen:
        costs = tables[t].costs
        offsets = offsets_below(gaps(costs) - spreads[t], -prior)
        assert offsets is not None, "the least spread can be reached"
        prior = normalized(prior + offsets)
        tables[t] = replace(tables[t], costs=normalized(costs - offsets))
    return with_tables(program, tables, prior)
