"""
How missing features are summed out over joint states on a device: what each feature moves.

An arc is a table that reads a feature: the feature's own, a child's, or the class's. Where the
feature's state rises by one, the table is read by the arc's stride further on.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from bncc.discretize.readings import state_dtype
from bncc.lower.missing.tables import MissingTables
from bncc.model.missing_form import MissingForm, missing_range, n_joint
from bncc.model.model import Model
from bncc.program.ir import width_of


@dataclass(frozen=True)
class Arc:
    """A table that reads a feature."""

    table: int  # The table
    stride: int  # Entries between the rows of two neighboring states of the feature
    span: int  # Entries between the rows of its first and its last state


@dataclass(frozen=True, eq=False)
class JointPlan(MissingTables):
    """Tables in the model's order, and what their rows are found by."""

    upward: tuple[int, ...]  # All features, children before their parents
    arcs: tuple[tuple[Arc, ...], ...]  # Of each feature, in the order of tables
    n_summed: int  # Features that are summed over at once, at most: those that have children
    n_joint: int  # Joint states that are gone through for each class, at most
    state_bits: int  # Width of a state

    @property
    def has_class_table(self) -> bool:
        """Whether the class has parents, and so a table, the last."""
        return len(self.starts) > len(self.arcs)

    @cached_property
    def arcs_at(self) -> tuple[int, ...]:
        """Number of the first arc of each feature, and of all arcs."""
        return tuple(accumulate(map(len, self.arcs), initial=0))

    @property
    def scratch_bytes(self) -> int:
        """Bytes of the arrays that are held on the stack."""
        of_one = width_of(len(self.arcs)) + self.state_bits
        return (len(self.starts) * self.place_bits + self.n_summed * of_one) // 8


def plan_jointly(model: Model, form: MissingForm) -> JointPlan:
    """Lay out a model for summing over joint states."""
    ends = np.cumsum([table.size for table in model.tables]).tolist()
    arcs = _arcs(model)
    return JointPlan(
        starts=(0, *ends[:-1]),
        costs=np.concatenate([table.astype(np.int64).ravel() for table in model.tables]),
        prior=model.prior.astype(np.int64),
        number_bits=16 if missing_range(model).fits(16) else 32,
        log_add=form.log_add,
        upward=form.upward,
        arcs=arcs,
        n_summed=sum(any(arc.table != i for arc in some) for i, some in enumerate(arcs)),
        n_joint=n_joint(model, form.structure),
        state_bits=8 * state_dtype(model.n_states).itemsize,
    )


def _arcs(model: Model) -> tuple[tuple[Arc, ...], ...]:
    """Return what reads each feature; in a row the last feature is innermost, then the class."""
    found: list[list[Arc]] = [[] for _ in model.features]
    for t, lookup in enumerate(model.lookups):
        stride = model.n_classes
        for i, n in zip(reversed(lookup.features), reversed(lookup.n_levels), strict=True):
            found[i].append(Arc(t, stride, stride * (n - 1)))
            stride *= n
    return tuple(map(tuple, found))
