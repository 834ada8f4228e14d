"""The graph of a classifier: the parents of every feature, and what they cost in table entries."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from bncc.structure.cycles import Cycles, find_cycles


@dataclass(frozen=True)
class Structure:
    """Parents of each feature in a classifier with one class variable.

    The arcs between features may form cycles. The tables then belong to no joint distribution, but
    their sum still decides (pseudo-TAN of S0, section 4). What needs an order of the features or a
    distribution asks `is_bayesian_network`, or makes do with `acyclic_part`.

    Parameters
    ----------
    parents : tuple of tuple of int
        ``parents[i]`` are the feature parents of feature i, outermost index first.
    class_is_parent : tuple of bool
        Whether the class is a parent of feature i too.

    Raises
    ------
    ValueError
        If a parent is out of range or repeated, or a feature its own parent.
    """

    parents: tuple[tuple[int, ...], ...]
    class_is_parent: tuple[bool, ...]

    def __post_init__(self) -> None:
        n = len(self.parents)
        if len(self.class_is_parent) != n:
            raise ValueError("parents and class_is_parent must have one entry per feature")
        for i, parents in enumerate(self.parents):
            if len(set(parents)) != len(parents) or not all(0 <= j < n for j in parents):
                raise ValueError(f"feature {i} has a repeated or unknown parent")
            if i in parents:
                raise ValueError(f"feature {i} is its own parent")

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.parents)

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
        """Whether the arcs form no cycle, so that probability tables make a distribution."""
        return not self.cycles.closing


def one_parent_each(parent: Sequence[int | None]) -> Structure:
    """Return the structure in which the class and at most one feature are parents.

    Parameters
    ----------
    parent : sequence of int or None
        The feature parent of each feature.

    Returns
    -------
    Structure
        Naive Bayes, TAN or forest TAN; pseudo-TAN where the arcs form a cycle.
    """
    return Structure(tuple(() if j is None else (int(j),) for j in parent), (True,) * len(parent))


def forest(parent: Sequence[int | None]) -> Structure:
    """Return the structure in which the class and at most one feature are parents, no cycle.

    Parameters
    ----------
    parent : sequence of int or None
        The feature parent of each feature.

    Returns
    -------
    Structure
        A naive Bayes, TAN or forest TAN structure.

    Raises
    ------
    ValueError
        If the arcs form a cycle.
    """
    structure = one_parent_each(parent)
    if not structure.is_bayesian_network:
        raise ValueError(f"features {structure.cycles.first[:5]} lie on a cycle")
    return structure


def acyclic_part(structure: Structure) -> Structure:
    """Return a structure without the arcs that close a cycle.

    Parameters
    ----------
    structure : Structure
        Any graph.

    Returns
    -------
    Structure
        A Bayesian network; the same object where nothing was to leave out.
    """
    closing = set(structure.cycles.closing)
    if not closing:
        return structure
    kept = (
        tuple(j for j in parents if (j, i) not in closing)
        for i, parents in enumerate(structure.parents)
    )
    return replace(structure, parents=tuple(kept))


def topological_order(structure: Structure) -> tuple[int, ...]:
    """Return the features so that parents come before their children.

    Parameters
    ----------
    structure : Structure
        The graph.

    Returns
    -------
    tuple of int
        A permutation of the features, layer by layer; within a layer the smallest first.

    Raises
    ------
    ValueError
        If the graph has a cycle.
    """
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
        raise ValueError(f"features {structure.cycles.first[:5]} lie on a cycle")
    return tuple(order)


def n_rows(structure: Structure, n_states: Sequence[int], i: int) -> int:
    """Return the number of joint states of feature i and its feature parents."""
    return n_states[i] * prod(n_states[j] for j in structure.parents[i])


def table_entries(structure: Structure, n_states: Sequence[int], n_classes: int) -> int:
    r"""Count what is stored: ``C + sum_i r_i q_i`` with the class among the parents (S3).

    Parameters
    ----------
    structure : Structure
        The graph.
    n_states : sequence of int
        Cardinality of each feature.
    n_classes : int
        C.

    Returns
    -------
    int
        Table entries, the prior's included; a table without the class has one entry a row.
    """
    return n_classes + sum(
        n_rows(structure, n_states, i) * (n_classes if structure.class_is_parent[i] else 1)
        for i in range(structure.n_features)
    )


def free_parameters(structure: Structure, n_states: Sequence[int], n_classes: int) -> int:
    r"""Count free parameters: ``(C - 1) + sum_i (r_i - 1) q_i`` (S1, table 3).

    Parameters
    ----------
    structure : Structure
        The graph.
    n_states : sequence of int
        Cardinality of each feature.
    n_classes : int
        C.

    Returns
    -------
    int
        Free parameters.
    """
    return (n_classes - 1) + sum(
        (n_states[i] - 1)
        * prod(n_states[j] for j in structure.parents[i])
        * (n_classes if structure.class_is_parent[i] else 1)
        for i in range(structure.n_features)
    )
