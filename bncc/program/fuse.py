"""Several tables as one over all their features."""

from collections.abc import Sequence

import numpy as np

from bncc._types import IntArray
from bncc.program.ir import Program, Table, expanded
from bncc.program.offsets import normalized


def fused(program: Program, tables: Sequence[Table]) -> Table:
    """Add tables up, row by row of their joint states."""
    features = tuple(dict.fromkeys(f for table in tables for f in table.features))
    total: IntArray = np.zeros(program.n_classes, dtype=np.int64)
    for table in (expanded(table, program.n_states) for table in tables):
        states = [program.n_states[f] for f in table.features]
        read = [f for f in features if f in table.features]
        costs = table.costs.reshape(*states, program.n_classes)
        costs = costs.transpose(*(table.features.index(f) for f in read), -1)
        shape = [program.n_states[f] if f in read else 1 for f in features]
        total = total + costs.reshape(*shape, program.n_classes)
    name = ", ".join(table.name for table in tables)
    return Table(name, features, normalized(total.reshape(-1, program.n_classes)))
