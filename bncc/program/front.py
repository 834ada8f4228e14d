"""The front of a program: a decision tree whose sure leaves decide before all tables are summed."""

from dataclasses import dataclass, replace

import numpy as np

from bncc.program.ir import Program, Table, width_of
from bncc.program.ranges import largest_cost

GO_ON = -1
"""In place of a class: the leaf is not sure, and the other tables decide."""


@dataclass(frozen=True, eq=False)
class Front:
    """A table of a program that decides alone where its row is not zero."""

    program: Program  # That table alone
    classes: tuple[int, ...]  # The class that each leaf decides for, or `GO_ON`
    most: int  # Cost of every other class in the row of a sure leaf

    @property
    def table(self) -> Table:
        """The table."""
        return self.program.tables[0]


def split_front(program: Program) -> tuple[Front | None, Program]:
    """
    Return the front of a program, and the program of all other tables.

    The first table is a front if a decision tree addresses it and each of its rows is zero, or zero
    for one class and some number for all others, greater than every sum of the other tables. Then
    that class has the least cost of all for every input that reaches the row: the decision is the
    same whether or not the other tables are summed.
    """
    first, *others = program.tables
    if first.tree is None or not others:
        return None, program
    rest = replace(program, tables=tuple(others))
    rest = replace(rest, cost_bits=width_of(largest_cost(rest)))
    most = int(first.costs.max())
    is_sure = first.costs.any(axis=1)
    own = first.costs.argmin(axis=1)
    expected = np.full_like(first.costs, most)
    expected[np.arange(len(own)), own] = 0
    expected[~is_sure] = 0
    if most <= largest_cost(rest) or (first.costs != expected).any():
        return None, program
    classes = np.where(is_sure, own, GO_ON)
    alone = replace(program, tables=(first,), prior=np.zeros_like(program.prior))
    return Front(alone, tuple(classes.tolist()), most), rest
