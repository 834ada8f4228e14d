"""The Markov blanket of a class, and a network without all other variables."""

from dataclasses import dataclass
from math import prod

import numpy as np

from bncc._types import AnyArray
from bncc.network.network import Network

MAX_REMOVAL = 4096
"""Numbers of a table that comes of removing a variable; beyond, its children become given."""


@dataclass(frozen=True, eq=False)
class Blanket:
    """A network of a class and its Markov blanket."""

    network: Network  # Network of the variables that are left, in their old order
    target: int  # The class among them
    # Variables without a distribution of their own, ascending: their tables are uniform
    # placeholders
    given: tuple[int, ...]
    n_removed: int  # Variables that are gone


def markov_blanket(network: Network, target: int) -> tuple[int, ...]:
    """Return the parents of a variable, its children, and their other parents."""
    found = {*network.parents[target], *network.children[target]}
    for child in network.children[target]:
        found.update(network.parents[child])
    return tuple(sorted(found - {target}))


def blanket_of(network: Network, target: int, max_entries: int = MAX_REMOVAL) -> Blanket:
    r"""
    Remove all variables that are neither the class nor in its Markov blanket.

    Variables without children left go first, as their tables sum to 1. Another variable v is summed
    out by node removal: with its children :math:`y_1, y_2, \ldots` in topological order,

    .. math::
       p(y_j \mid S_j) = \sum_v p(v \mid S_{j-1}, y_{j-1}) \, p(y_j \mid v, pa(y_j)), \quad
       S_j = S_{j-1} \cup \{y_{j-1}\} \cup pa(y_j), \; S_0 = pa(v)

    so that every child has its elders, their parents and those of v as new parents. The joint
    distribution of all others is kept, and the tables that hold the class are not touched: a
    variable outside the blanket is no parent of the class nor of its children, and no child of the
    class, so no y is the class or below it.

    Where each removal would make a table of more than `max_entries`, the children of a variable
    that are left lose their tables instead and are *given*. Posteriors of the class stay exact
    where all features are known, as no table of a child of v holds the class; they are not where
    features are missing.


    References
    ----------
    Shachter, Evaluating influence diagrams, Operations Research 34 (1986), arc reversal.
    """
    kept = {target, *markov_blanket(network, target)}
    work = _Work(network, kept)
    work.drop_barren()
    costs: dict[int, tuple[int, int]] = {}
    while others := [v for v in network.order if v in work.tables and v not in kept]:
        for v in others:
            if v not in costs:
                costs[v] = work.cost(v)
        v = min(others, key=lambda u: (costs[u][0], u))
        if costs[v][1] > max_entries:
            fitting = [u for u in others if costs[u][1] <= max_entries]
            above = [u for u in others if work.children[u] <= kept]
            v = min(fitting or above, key=lambda u: (costs[u][0], u))
        touched = work.near(v)
        if costs[v][1] <= max_entries:
            work.remove(v)
        else:
            work.give_up(v)
            work.drop_barren()
        for u in touched:
            costs.pop(u, None)
    return work.result(target)


class _Work:
    """
    A network that changes: parents, children, and tables with an axis per parent and one more.

    Parents of one state have no axis in recomputed tables.
    """

    def __init__(self, network: Network, kept: set[int]) -> None:
        self.network, self.kept = network, kept
        self.n_states = network.n_states
        self.parents = {i: list(parents) for i, parents in enumerate(network.parents)}
        self.children = {i: set(children) for i, children in enumerate(network.children)}
        self.tables: dict[int, AnyArray] = dict(enumerate(network.tables))
        self.given: set[int] = set()

    def drop_barren(self) -> None:
        """Remove variables outside the blanket that have no children, until there is none."""
        barren = [v for v in self.tables if v not in self.kept and not self.children[v]]
        while barren:
            v = barren.pop()
            for j in self.parents[v]:
                self.children[j].discard(v)
                if j not in self.kept and not self.children[j]:
                    barren.append(j)
            del self.tables[v]

    def near(self, v: int) -> set[int]:
        """Return the variables whose removal costs another sum once v is gone."""
        found = set(self.parents[v])
        for y in self.children[v]:
            found |= {y, *self.parents[y]}
        return found | {j for y in found for j in self.parents[y]}

    def cost(self, v: int) -> tuple[int, int]:
        """Return the numbers in all tables that removing v makes, and in the largest."""
        sizes = [
            prod(self.n_states[j] for j in scope) * self.n_states[y] for y, scope in self._scopes(v)
        ]
        return sum(sizes), max(sizes)

    def _scopes(self, v: int) -> list[tuple[int, list[int]]]:
        """Return the children of v, parents before children, and what each will be below."""
        order, scope, found = self._order(v), set(self.parents[v]), []
        for y in order:
            scope |= set(self.parents[y]) - {v}
            found.append((y, [j for j in sorted(scope) if self.n_states[j] > 1]))
            scope.add(y)
        return found

    def _order(self, v: int) -> list[int]:
        """Return the children of v so that none has a later one among its ancestors."""
        order: list[int] = []
        seen: set[int] = set()
        for start in sorted(self.children[v]):
            path = [(start, iter(self.parents[start]))]
            while path:
                y, above = path[-1]
                up = next((j for j in above if j not in seen and j != v), None)
                if up is None:
                    path.pop()
                    if y not in seen and y in self.children[v]:
                        order.append(y)
                    seen.add(y)
                else:
                    path.append((up, iter(self.parents[up])))
        return order

    def _axes(self, i: int) -> tuple[list[int], AnyArray]:
        """Return the variables of a table, those of one state left out, and its numbers."""
        axes = [j for j in (*self.parents[i], i) if self.n_states[j] > 1 or j == i]
        return axes, self.tables[i].reshape([self.n_states[j] for j in axes])

    def remove(self, v: int) -> None:
        """Marginalize v and recompute the tables of its children."""
        above, rest = self._axes(v)
        above = above[:-1]
        for y, scope in self._scopes(v):
            old, table = self._axes(y)
            label = {j: k for k, j in enumerate(dict.fromkeys((*above, *old, v)))}
            joint = np.einsum(
                rest, [label[j] for j in (*above, v)], table, [label[j] for j in old],
                [label[j] for j in (*scope, y, v)],
            )  # fmt: skip
            summed = joint.sum(axis=-1)
            self._set(y, scope, summed)
            # where y never happens, nothing reads what is left of v
            rest = joint / np.where(summed > 0, summed, 1.0)[..., np.newaxis]
            above = [*scope, y] if self.n_states[y] > 1 else scope
            rest = rest if self.n_states[y] > 1 else rest[..., 0, :]
        self.children[v].clear()
        self.drop_barren()

    def give_up(self, v: int) -> None:
        """Let the children of v have no distribution."""
        for y in sorted(self.children[v]):
            self.given.add(y)
            self._set(y, [], np.full(self.n_states[y], 1 / self.n_states[y]))

    def _set(self, y: int, parents: list[int], table: AnyArray) -> None:
        for j in self.parents[y]:
            self.children[j].discard(y)
        for j in parents:
            self.children[j].add(y)
        rows = table.reshape(-1, self.n_states[y])
        sums = rows.sum(axis=1, keepdims=True)
        even = np.full_like(rows, 1 / self.n_states[y])
        self.tables[y] = np.where(sums > 0, rows / np.where(sums > 0, sums, 1.0), even)
        self.parents[y] = parents

    def result(self, target: int) -> Blanket:
        """Return what is left as a network."""
        left = sorted(self.tables)
        place = {old: new for new, old in enumerate(left)}
        network = Network(
            tuple(self.network.variables[i] for i in left),
            tuple(tuple(place[j] for j in self.parents[i]) for i in left),
            tuple(self.tables[i] for i in left),
        )
        given = tuple(sorted(place[i] for i in self.given))
        return Blanket(network, place[target], given, self.network.n_variables - len(left))
