"""
Fold the prior into tables that have room for it.

Rewrites: shares the prior out as one offset per class to some tables, adds its share to every row
    of a table, normalizes these rows, and sets the prior to zero.
Margins stay: every decision reads exactly one row of each table, so all shares, and with them the
    prior, are added once, as it was before; normalizing subtracts one number from all classes.
Fires: when no entry needs more bits than its table's largest, no sum more than before, flash no
    more than with the prior apart, as where tables share rows that would differ then, and a second
    table is there, since kernels start their sum from two rows and would otherwise have to copy
    one. First no table may get larger entries at all; then as large as its bits hold.
Saves: the prior's bytes, and one addition per class and decision.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bncc.program.ir import Program, with_tables
from bncc.program.tables import flash_bits, gaps, normalized, offsets_below, prior_bits, sum_bits

Room = Callable[[int], int]

ROOMS: tuple[Room, ...] = (lambda most: most, lambda most: (1 << most.bit_length()) - 1)
"""Limits on a table's entries, given its largest: the same, or the largest of as many bits."""


def fold_prior(program: Program) -> Program:
    """Share the prior out to the rows of tables that have room for it, the smallest first."""
    if not program.prior.any() or len(program.tables) < 2:
        return program
    for room in ROOMS:
        folded = _folded(program, room)
        if folded is None or sum_bits(folded) > sum_bits(program):
            continue
        if flash_bits(folded) <= flash_bits(program) + prior_bits(program):
            return folded
    return program


def _folded(program: Program, room: Room) -> Program | None:
    """Return the program without its prior; None when some of it is left over."""
    rest = normalized(program.prior)
    tables = list(program.tables)
    for t in sorted(range(len(tables)), key=lambda t: len(tables[t].costs)):
        if not rest.any():
            break
        gap = gaps(tables[t].costs)
        taken = offsets_below(gap - room(int(gap.max())), -rest)
        assert taken is not None, "no offset at all is a solution"
        rest = normalized(rest + taken)
        if np.ptp(taken):
            tables[t] = replace(tables[t], costs=normalized(tables[t].costs - taken))
    return None if rest.any() else with_tables(program, tables, np.zeros_like(program.prior))
