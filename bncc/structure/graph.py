"""The graph of a classifier: the parents of every feature, and the resulting table entries."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod


@dataclass(frozen=True)
class Cycles:
    """Cycles of a graph."""

    # Arcs (parent, child), one in every cycle: removing them breaks all cycles. If features have at
    # most one parent, there is one such arc per cycle.
    closing: tuple[tuple[int, int], ...]
    # One cycle: every feature is a parent of the next, and the last of the first. Empty if there is
    # none.
    first: tuple[int, ...]


def find_cycles(parents: Sequence[Sequence[int]]) -> Cycles:
    """
    Search a graph for cycles.

    An arc closes a cycle if it leads back to a feature that is still on the path. Without these
    arcs, all parents of a feature are finished before it, so there is no cycle.
    """
    closing: list[tuple[int, int]] = []
    first: tuple[int, ...] = ()
    is_seen, is_on_path = [False] * len(parents), [False] * len(parents)
    for start in range(len(parents)):
        path: list[int] = []
        to_search: list[Iterator[int]] = [iter((start,))]
        while to_search:
            feature = next(to_search[-1], None)
            if feature is None:
                to_search.pop()
                if path:
                    is_on_path[path.pop()] = False
            elif is_on_path[feature]:
                closing.append((feature, path[-1]))
                first = first or (feature, *path[: path.index(feature) : -1])
            elif not is_seen[feature]:
                is_seen[feature] = is_on_path[feature] = True
                path.append(feature)
                to_search.append(iter(parents[feature]))
    return Cycles(tuple(closing), first)


@dataclass(frozen=True)
class Structure:
    """
    Parents of each feature in a classifier with one class variable.

    The arcs between features may form cycles. The tables then define no joint distribution, but
    their sum still determines a decision (pseudo-TAN of S0, section 4). Callers that need an order
    of the features or a distribution check `is_bayesian_network`, or use `acyclic_part`.
    """

    # ``parents[i]``: feature parents of feature i, outermost index first
    parents: tuple[tuple[int, ...], ...]
    class_is_parent: tuple[bool, ...]  # True if the class is also a parent of feature i
    # Features that are parents of the class, outermost index first. If there are any, the class
    # has its own table behind those of the features, and the prior is zero.
    class_parents: tuple[int, ...] = ()
    # Features without a distribution of their own, ascending: others are conditioned on them. They
    # have no parents, and their tables are zero.
    given: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        n = len(self.parents)
        if len(self.class_is_parent) != n:
            raise ValueError("parents and class_is_parent must have one entry per feature")
        for i, parents in enumerate(self.parents):
            if len(set(parents)) != len(parents) or not all(0 <= j < n for j in parents):
                raise ValueError(f"feature {i} has a repeated or unknown parent")
            if i in parents:
                raise ValueError(f"feature {i} is its own parent")
        if self.class_parents:
            self._check_class()
        if list(self.given) != sorted(set(self.given)) or not all(0 <= i < n for i in self.given):
            raise ValueError(
                "the given features repeat, are not in ascending order, or are unknown"
            )
        for i in self.given:
            if self.parents[i] or self.class_is_parent[i]:
                raise ValueError(f"feature {i} is given and has parents")

    def _check_class(self) -> None:
        above, n = set(self.class_parents), len(self.parents)
        if len(above) != len(self.class_parents) or not all(0 <= i < n for i in above):
            raise ValueError("the class has a repeated or unknown parent")
        to_see = list(above)
        while to_see:
            i = to_see.pop()
            if self.class_is_parent[i]:
                raise ValueError(f"the class is on a cycle through feature {i}")
            to_see += set(self.parents[i]) - above
            above.update(self.parents[i])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.parents)

    @property
    def is_class_isolated(self) -> bool:
        """True if no arc joins the class to a feature, so that decisions ignore all features."""
        return not self.class_parents and not any(self.class_is_parent)

    @property
    def n_edges(self) -> int:
        """Number of arcs between features."""
        return sum(len(parents) for parents in self.parents)

    @cached_property
    def cycles(self) -> Cycles:
        """The cycles that the arcs between features form."""
        return find_cycles(self.parents)

    @property
    def is_bayesian_network(self) -> bool:
        """True if the tables define a distribution: no cycle, and every feature has a table."""
        return not (self.cycles.closing or self.given)


def one_parent_each(parent: Sequence[int | None]) -> Structure:
    """Return the structure in which the class and at most one feature are parents."""
    return Structure(tuple(() if j is None else (int(j),) for j in parent), (True,) * len(parent))


def forest(parent: Sequence[int | None]) -> Structure:
    """Return the structure in which the class and at most one feature are parents, no cycle."""
    structure = one_parent_each(parent)
    if structure.cycles.closing:
        raise ValueError(f"features {structure.cycles.first[:5]} form a cycle")
    return structure


def acyclic_part(structure: Structure) -> Structure:
    """Return a structure without the arcs that close a cycle."""
    closing = set(structure.cycles.closing)
    if not closing:
        return structure
    kept = (
        tuple(j for j in parents if (j, i) not in closing)
        for i, parents in enumerate(structure.parents)
    )
    return replace(structure, parents=tuple(kept))


def topological_order(structure: Structure) -> tuple[int, ...]:
    """Return the features so that parents come before their children."""
    children: list[list[int]] = [[] for _ in structure.parents]
    waiting_for = [len(parents) for parents in structure.parents]
    for i, parents in enumerate(structure.parents):
        for j in parents:
            children[j].append(i)
    order: list[int] = []
    free = [i for i, count in enumerate(waiting_for) if count == 0]
    while free:
        order += free
        freed: list[int] = []
        for j in free:
            for i in children[j]:
                waiting_for[i] -= 1
                if waiting_for[i] == 0:
                    freed.append(i)
        free = sorted(freed)
    if len(order) < len(waiting_for):
        raise ValueError(f"features {structure.cycles.first[:5]} form a cycle")
    return tuple(order)


def n_rows(structure: Structure, n_states: Sequence[int], i: int) -> int:
    """Return the number of joint states of feature i and its feature parents."""
    return n_states[i] * prod(n_states[j] for j in structure.parents[i])


def class_rows(structure: Structure, n_states: Sequence[int]) -> int:
    """Return the number of joint states of the parents of the class; 1 where it has none."""
    return prod(n_states[j] for j in structure.class_parents)


def table_entries(structure: Structure, n_states: Sequence[int], n_classes: int) -> int:
    r"""Count stored entries: ``q C + sum_i r_i q_i`` with the class among the parents (S3)."""
    return class_rows(structure, n_states) * n_classes + sum(
        n_rows(structure, n_states, i) * (n_classes if structure.class_is_parent[i] else 1)
        for i in range(structure.n_features)
        if i not in structure.given
    )


def free_parameters(structure: Structure, n_states: Sequence[int], n_classes: int) -> int:
    r"""Count free parameters: ``q (C - 1) + sum_i (r_i - 1) q_i`` (S1, table 3)."""
    return class_rows(structure, n_states) * (n_classes - 1) + sum(
        (n_states[i] - 1)
        * prod(n_states[j] for j in structure.parents[i])
        * (n_classes if structure.class_is_parent[i] else 1)
        for i in range(structure.n_features)
        if i not in structure.given
    )
