"""The verifier: the rules that every program keeps, checked after every pass."""

from math import prod

import numpy as np

from bncc.errors import IrError, ModelError
from bncc.model.model import check_tree
from bncc.program.ir import WIDTHS, Program, Table, n_levels
from bncc.program.ranges import largest_cost


def verify(program: Program) -> None:
    """
    Refuse a program that breaks a rule.

    The rules: at least one feature, one table and two classes; the prior and every row have one
    cost per class; costs are integers >= 0; a table reads distinct, known features and has one
    row per joint state of them, or level where a feature has a state map; a map gives every state
    of its feature a level, and no level is left out; a table with a decision tree has one row per
    leaf, and the tree reads its features; entries fit their width, and the largest sum
    that any input can reach fits the accumulators; a gate has tables before it and behind it, and a
    margin of at least 1.
    """
    if not program.features:
        raise IrError("a program reads at least one feature")
    if program.n_classes < 2:
        raise IrError("a program tells at least two classes apart")
    if not program.tables:
        raise IrError("a program sums at least one table")
    if program.prior.shape != (program.n_classes,):
        raise IrError("the prior has one cost per class")
    if not np.issubdtype(program.prior.dtype, np.integer) or program.prior.min() < 0:
        raise IrError("the prior's costs are integers >= 0")
    for t, table in enumerate(program.tables):
        _verify_table(program, t, table)
    gate = program.gate
    if gate is not None and not (1 <= gate.tables < len(program.tables) and gate.margin >= 1):
        raise IrError("a gate has tables before it and behind it, and a margin of at least 1")
    if program.cost_bits not in WIDTHS:
        raise IrError(f"accumulators have {WIDTHS} bits, not {program.cost_bits}")
    if largest_cost(program) >= 1 << program.cost_bits:
        raise IrError(
            f"a sum can reach {largest_cost(program)}, more than {program.cost_bits} bits hold; "
            "train with fewer bits"
        )


def _verify_table(program: Program, t: int, table: Table) -> None:
    if len(set(table.features)) != len(table.features) or not all(
        0 <= f < len(program.features) for f in table.features
    ):
        raise IrError(f"table {t} reads distinct, known features")
    if not table.features:
        raise IrError(f"table {t} reads at least one feature; constants belong into the prior")
    if table.tree is not None:
        if table.maps or table.tree.read != table.features:
            raise IrError(f"table {t} reads the features of its decision tree, by states alone")
        try:
            check_tree(f"table {t}", table.tree, program.n_states)
        except ModelError as error:
            raise IrError(str(error)) from error
    for f, levels in table.maps.items():
        if f not in table.features or len(levels) != program.n_states[f]:
            raise IrError(f"a state map of table {t} has a level for every state of its feature")
        if set(levels) != set(range(len(set(levels)))):
            raise IrError(f"the levels of a state map of table {t} are 0, 1, 2, ...")
    n_rows = table.tree.n_rows if table.tree else prod(n_levels(table, program.n_states))
    if table.costs.shape != (n_rows, program.n_classes):
        raise IrError(f"table {t} has one row per joint state and one cost per class")
    if not np.issubdtype(table.costs.dtype, np.integer) or table.costs.min() < 0:
        raise IrError(f"the costs of table {t} are integers >= 0")
    if table.entry_bits not in WIDTHS or table.costs.max() >= 1 << table.entry_bits:
        raise IrError(f"the entries of table {t} fit their width of {table.entry_bits} bits")
