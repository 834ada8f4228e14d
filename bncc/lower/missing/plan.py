"""
Marginalization plan for missing features: tables in the order of one walk, or joint states.

How missing features are summed out on a device: tables in the order of one walk, and memory.

Features are nodes, numbered so that children come before their parents, in a forest a whole subtree
after the other. What children send to a missing parent is added up in a place of its own until that
one's turn. Places are given to others then, so that few numbers are held at any time.

How missing features are summed out over joint states on a device: what each feature moves.

An arc is a table that reads a feature: the feature's own, a child's, or the class's. Where the
feature's state rises by one, the table is read by the arc's stride further on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from bncc._types import IntArray
from bncc.discretize.readings import state_dtype
from bncc.model.missing_form import LogAdd, MissingForm, missing_form_of, missing_range, n_joint
from bncc.model.model import Model
from bncc.program.ir import width_of
from bncc.structure.decision_tables import RowIndex

NARROW_BITS = 4
"""Width of costs of which two share a byte."""


@dataclass(frozen=True, eq=False)
class MissingTables:
    """Tables that every form of marginalization reads."""

    starts: tuple[int, ...]  # First entry of each table
    # (n_entries,) int64: All tables, concatenated, class index fastest; as in the model, not
    # shifted
    costs: IntArray
    prior: IntArray  # (n_classes,) int64: Likewise
    number_bits: int  # Width of the signed numbers, by range analysis
    log_add: LogAdd  # How probabilities are added

    @cached_property
    def entry_bits(self) -> int:
        """Width of an entry: 4 where two share a byte, 8, 16 or 32."""
        largest = int(self.costs.max())
        return NARROW_BITS if largest < 1 << NARROW_BITS else width_of(largest)

    @property
    def place_bits(self) -> int:
        """Width of an entry's number, with one left that no entry has: 16 or 32."""
        return max(16, width_of(len(self.costs)))


@dataclass(frozen=True)
class Arc:
    """A table that reads a feature."""

    table: int  # The table
    stride: int  # Entries between the rows of two neighboring states of the feature
    span: int  # Entries between the rows of its first and its last state


@dataclass(frozen=True, eq=False)
class JointPlan(MissingTables):
    """Tables in the model's order, and the addressing of their rows."""

    upward: tuple[int, ...]  # All features, children before their parents
    arcs: tuple[tuple[Arc, ...], ...]  # Arcs of each feature, in the order of tables
    n_summed: int  # Features that are summed over at once, at most: those that have children
    n_joint: int  # Joint states to enumerate for each class, at most
    state_bits: int  # Width of a state

    @property
    def has_class_table(self) -> bool:
        """True if the class has parents, and so a table, the last."""
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
        assert isinstance(lookup, RowIndex), "missing features need a network"
        stride = model.n_classes
        for i, n in zip(reversed(lookup.features), reversed(lookup.n_levels), strict=True):
            found[i].append(Arc(t, stride, stride * (n - 1)))
            stride *= n
    return tuple(map(tuple, found))


@dataclass(frozen=True, eq=False)
class MissingPlan(MissingTables):
    """The tables of a forest in the order of the walk."""

    features: tuple[int, ...]  # The feature of each node
    parents: tuple[int | None, ...]  # The node that is the parent of each
    # Entries between the rows of two neighboring states of the parent; 0 without one
    strides: tuple[int, ...]
    # Where the sums of each node's states are held; 0 for those without children
    places: tuple[int, ...]
    n_sums: int  # Sums that are held at once, at most

    @property
    def has_arcs(self) -> bool:
        """True if any node has a parent; else nothing is ever added but costs."""
        return any(parent is not None for parent in self.parents)

    @property
    def scratch_bytes(self) -> int:
        """Bytes of the arrays that are held on the stack."""
        n_classes = len(self.prior)
        if not self.has_arcs:
            return n_classes * self.number_bits // 8
        return (len(self.features) * self.place_bits + self.n_sums * self.number_bits) // 8


def plan_missing(model: Model) -> MissingPlan | JointPlan:
    """Lay out a model for summing missing features out."""
    form = missing_form_of(model)
    return _plan_forest(model, form) if form.is_forest else plan_jointly(model, form)


def _plan_forest(model: Model, form: MissingForm) -> MissingPlan:
    features = _walk(model, form)
    node = {feature: k for k, feature in enumerate(features)}
    parents = tuple(None if (j := form.parent[i]) is None else node[j] for i in features)
    tables = [model.tables[i].astype(np.int64) for i in features]
    ends = np.cumsum([table.size for table in tables]).tolist()
    places, n_sums = _places(parents, [model.n_states[i] for i in features])
    return MissingPlan(
        features=features,
        parents=parents,
        strides=tuple(
            0 if form.parent[i] is None else model.n_states[i] * model.n_classes for i in features
        ),
        starts=(0, *ends[:-1]),
        places=places,
        n_sums=n_sums,
        costs=np.concatenate([table.ravel() for table in tables]),
        prior=model.prior.astype(np.int64),
        number_bits=16 if missing_range(model).fits(16) else 32,
        log_add=form.log_add,
    )


def _walk(model: Model, form: MissingForm) -> tuple[int, ...]:
    """Return features subtree by subtree, children first, of these the one that holds most."""
    children: list[list[int]] = [[] for _ in form.upward]
    held = [0] * len(children)
    for i in form.upward:
        parent = form.parent[i]
        if parent is not None:
            children[parent].append(i)
        if children[i]:
            n = model.n_states[i]
            children[i].sort(key=lambda j: (-held[j], j))
            first, *others = children[i]
            sums = [model.n_states[j] if children[j] else 0 for j in children[i]]
            held[i] = max(held[first], n + max(sums), *(n + held[j] for j in others))
    order: list[int] = []
    waiting = [i for i, parent in enumerate(form.parent) if parent is None]
    while waiting:
        order.append(waiting.pop())
        waiting += children[order[-1]]
    return tuple(reversed(order))


def _places(parents: Sequence[int | None], n_states: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """Return where the sums of each node are held, from its first child's turn to its own."""
    held: dict[int, int] = {}
    places = [0] * len(parents)
    n_sums = 0
    for k, parent in enumerate(parents):
        if parent is not None and parent not in held:
            held[parent] = places[parent] = _gap(held, n_states, n_states[parent])
            n_sums = max(n_sums, places[parent] + n_states[parent])
        held.pop(k, None)
    return tuple(places), n_sums


def _gap(held: dict[int, int], n_states: Sequence[int], size: int) -> int:
    """Return the first offset with room for a number of sums next to those that are held."""
    begin = 0
    for node, place in sorted(held.items(), key=lambda each: each[1]):
        if place - begin >= size:
            break
        begin = place + n_states[node]
    return begin
