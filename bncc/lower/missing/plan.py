"""
How missing features are summed out on a device: tables in the order of one walk, and memory.

Features are nodes, numbered so that children come before their parents, in a forest a whole subtree
after the other. What children send to a missing parent is added up in a place of its own until that
one's turn. Places are given to others then, so that few numbers are held at any time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bncc.lower.missing.joint import JointPlan, plan_jointly
from bncc.lower.missing.tables import MissingTables
from bncc.model.missing_form import MissingForm, missing_form_of, missing_range
from bncc.model.model import Model


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
        """Whether any node has a parent; else nothing is ever added but costs."""
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
    """Return the first place at which so many sums lie beside all that are held."""
    begin = 0
    for node, place in sorted(held.items(), key=lambda each: each[1]):
        if place - begin >= size:
            break
        begin = place + n_states[node]
    return begin
