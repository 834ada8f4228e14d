"""The front of a program: a decision tree whose sure leaves decide before all tables are summed."""

from dataclasses import dataclass, replace

import numpy as np

from bncc.model.front import ModelFront
from bncc.program.ir import Program, Table, width_of
from bncc.program.ranges import largest_cost


@dataclass(frozen=True, eq=False)
class Front:
    """The table of a front, as a program of its own."""

    program: Program  # Its only table
    classes: tuple[int, ...]  # The class that each leaf decides for, or `bncc.model.front.UNSURE`
    most: int  # Cost of every other class in the row of a sure leaf

    @property
    def table(self) -> Table:
        """The table."""
        return self.program.tables[0]


def split_front(program: Program, front: ModelFront) -> tuple[Front, Program]:
    """
    Return a model's front, and the program of all other tables.

    Their sums are less than the cost of the other classes in the row of a sure leaf, so that the
    decision is the same whether or not they are summed.
    """
    first, *others = program.tables
    rest = replace(program, tables=tuple(others))
    rest = replace(rest, cost_bits=width_of(largest_cost(rest)))
    alone = replace(program, tables=(first,), prior=np.zeros_like(program.prior))
    return Front(alone, tuple(front.decisions.tolist()), front.most), rest
