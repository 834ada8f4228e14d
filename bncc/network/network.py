"""A Bayesian network over discrete variables, of any form."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from bncc._types import FloatArray
from bncc.errors import NetworkError
from bncc.structure.graph import Structure, topological_order

TOLERANCE = 1e-9
"""Tolerance for the sum of a row."""
MAX_ENTRIES = 2**25
"""Entries of all tables of a network: 256 MiB. The largest here, mildew, has 0.55 million."""
_MOST_NAMES = 6
"""Variables of a cycle that are named."""


@dataclass(frozen=True)
class Variable:
    """A discrete variable."""

    name: str  # Any text
    states: tuple[str, ...]  # Labels of the states, in the order of the tables' columns


@dataclass(frozen=True, eq=False)
class Network:
    """
    A Bayesian network: variables, their parents, and a conditional table for each.

    Parameters
    ----------
    variables : tuple of Variable
        One or more.
    parents : tuple of tuple of int
        ``parents[i]`` are the parents of variable i, outermost first.
    tables : tuple of (n_rows_i, n_states_i) float64
        ``tables[i][u, k]`` is ``p(x_i = k | parents = u)``, where row u counts the joint
        states of the parents in mixed radix, the first parent outermost.

    Raises
    ------
    NetworkError
        If a name or label is repeated, a parent is out of range or repeated, the arcs form a
        cycle, or a table has the wrong shape or a row that is no distribution.
    """

    variables: tuple[Variable, ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[FloatArray, ...]

    def __post_init__(self) -> None:
        if not len(self.variables) == len(self.parents) == len(self.tables):
            raise NetworkError("a network needs parents and a table for each of its variables")
        check_graph(self.variables, self.parents)
        for i, table in enumerate(self.tables):
            _check_table(self, i, table)

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.variables)

    @property
    def n_arcs(self) -> int:
        """Number of arcs."""
        return sum(map(len, self.parents))

    @property
    def n_entries(self) -> int:
        """Numbers in all tables."""
        return sum(table.size for table in self.tables)

    @cached_property
    def n_states(self) -> tuple[int, ...]:
        """Cardinality of each variable."""
        return tuple(len(variable.states) for variable in self.variables)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Name of each variable."""
        return tuple(variable.name for variable in self.variables)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Variables that each variable is a parent of, ascending."""
        children: list[list[int]] = [[] for _ in self.variables]
        for i, parents in enumerate(self.parents):
            for j in parents:
                children[j].append(i)
        return tuple(map(tuple, children))

    @cached_property
    def order(self) -> tuple[int, ...]:
        """All variables, parents before their children."""
        return topological_order(_graph(self.parents))

    def index(self, name: str) -> int:
        """
        Return which variable has a name.

        Parameters
        ----------
        name : str
            A variable's name.

        Returns
        -------
        int
            Its index.

        Raises
        ------
        NetworkError
            If there is none.
        """
        if name not in self.names:
            few = ", ".join(self.names[:_MOST_NAMES]) + ", ..." * (self.n_variables > _MOST_NAMES)
            raise NetworkError(f"the network has no variable '{name}'; its variables are {few}")
        return self.names.index(name)

    def n_rows(self, i: int) -> int:
        """Return the number of joint states of the parents of variable i."""
        return prod(self.n_states[j] for j in self.parents[i])


def check_graph(variables: Sequence[Variable], parents: Sequence[Sequence[int]]) -> None:
    """Verify the variables of a network and its arcs, before there are tables."""
    if not variables:
        raise NetworkError("the network has no variable; name a file with at least one")
    _check_names("the network", "variable", [variable.name for variable in variables])
    for variable in variables:
        _check_names(f"variable '{variable.name}'", "state", variable.states)
    try:
        graph = _graph(parents)
    except ValueError as error:
        raise NetworkError(
            f"the network's arcs make no graph: {str(error).replace('feature', 'variable')}"
        ) from None
    if not graph.is_bayesian_network:
        names = [variables[i].name for i in graph.cycles.first]
        if len(names) > _MOST_NAMES:
            names = [*names[: _MOST_NAMES - 1], "...", names[-1]]
        way = " -> ".join([*names, names[0]])
        raise NetworkError(f"the network has a cycle ({way}); turn or leave out one of its arcs")
    total = 0
    for variable, of_variable in zip(variables, parents, strict=True):
        entries = len(variable.states)
        for j in of_variable:
            entries *= len(variables[j].states)
            # Stopping here keeps a product of a million factors from being formed.
            if entries > MAX_ENTRIES:
                break
        total += entries
        if total > MAX_ENTRIES:
            raise NetworkError(
                f"the tables of the network up to that of '{variable.name}' have more than "
                f"{MAX_ENTRIES} numbers, the limit; use fewer parents or states"
            )


def _graph(parents: Sequence[Sequence[int]]) -> Structure:
    return Structure(tuple(map(tuple, parents)), (False,) * len(parents))


def _check_names(whose: str, what: str, names: Sequence[str]) -> None:
    if not names:
        raise NetworkError(f"{whose} has no {what}; give it at least one")
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise NetworkError(f"{whose} has the {what} '{name}' twice; rename one")
        if any("\ud800" <= letter <= "\udfff" for letter in name):
            raise NetworkError(f"{whose} has the {what} {name!a}, no valid Unicode; rename it")
        seen.add(name)


def _check_table(network: Network, i: int, table: FloatArray) -> None:
    name, shape = network.names[i], (network.n_rows(i), network.n_states[i])
    if table.shape != shape:
        raise NetworkError(f"the table of '{name}' has shape {table.shape}; {shape} is needed")
    if not (np.isfinite(table) & (table >= 0)).all():
        raise NetworkError(f"the table of '{name}' holds a number that is no probability")
    sums = table.sum(axis=1)
    worst = int(np.abs(sums - 1).argmax())
    if abs(sums[worst] - 1) > TOLERANCE:
        raise NetworkError(
            f"row {worst} of the table of '{name}' adds up to {sums[worst]:g}; make it 1"
        )
