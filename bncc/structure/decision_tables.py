"""Table layouts: rows of boosted tables by cuts or by a decision tree, and of network tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from math import prod
from typing import TypeAlias

import numpy as np

from bncc._types import IntArray
from bncc.structure.graph import Structure


@dataclass(frozen=True)
class DecisionTable:
    """
    The joint levels of some features, one per table row.

    A feature's level is the number of its cuts below its state, ``sum(x > cut)``; the row index
    combines levels in mixed radix, first feature outermost.
    """

    features: tuple[int, ...]  # At least one, no duplicates
    # Cuts per feature: states >= 0, strictly ascending, at least one; a cut separates the states
    # up to it from those above it
    cuts: tuple[tuple[int, ...], ...]

    @property
    def n_levels(self) -> tuple[int, ...]:
        """Number of levels of each feature."""
        return tuple(len(cuts) + 1 for cuts in self.cuts)

    @property
    def n_rows(self) -> int:
        """Number of joint levels."""
        return prod(self.n_levels)

    @property
    def n_cuts(self) -> int:
        """Number of cuts."""
        return sum(map(len, self.cuts))

    def rows(self, X: IntArray) -> IntArray:
        """
        Return the row of every sample.

        Shapes: `X` (n_samples, n_features) int; returns (n_samples,) int64, in ``0 .. n_rows - 1``.
        """
        row = np.zeros(len(X), dtype=np.int64)
        for f, cuts in zip(self.features, self.cuts, strict=True):
            row = row * (len(cuts) + 1) + np.searchsorted(cuts, X[:, f], side="left")
        return row

    def maps(self, n_states: Sequence[int]) -> dict[int, tuple[int, ...]]:
        """Return for each feature the level of each state, as in a program's table."""
        return {
            f: tuple(np.searchsorted(cuts, np.arange(n_states[f]), side="left").tolist())
            for f, cuts in zip(self.features, self.cuts, strict=True)
        }


@dataclass(frozen=True)
class BranchingTable:
    """
    A table addressed by a decision tree: its rows are the leaves, from left to right.

    The nodes are in preorder, the root first. At node k a state up to ``cuts[k]`` goes on to
    ``below[k]``, one above it to ``above[k]``: another node where that is not negative, else the
    row ``-1 - below[k]``. A tree-structured conditional table: context-specific independence.
    """

    features: tuple[int, ...]  # Feature of each node, at least one node
    cuts: tuple[int, ...]  # Last state of each node that goes below
    below: tuple[int, ...]  # Next node, or -1 - row, up to the cut
    above: tuple[int, ...]  # The same above the cut

    @property
    def n_rows(self) -> int:
        """Number of leaves."""
        return len(self.features) + 1

    @property
    def n_cuts(self) -> int:
        """Number of nodes, each of which has a cut."""
        return len(self.cuts)

    @property
    def read(self) -> tuple[int, ...]:
        """The features of all nodes, each once, ascending."""
        return tuple(sorted(set(self.features)))

    def states(self, f: int) -> tuple[int, ...]:
        """Return the smallest state of each level of a feature, between the cuts of its nodes."""
        cuts = {cut for of, cut in zip(self.features, self.cuts, strict=True) if of == f}
        return (0, *(cut + 1 for cut in sorted(cuts)))

    @property
    def depths(self) -> tuple[int, ...]:
        """Number of nodes on the way to each row."""
        return tuple(map(len, self.paths()))

    @property
    def depth(self) -> int:
        """The most nodes on the way to a row."""
        return max(self.depths)

    def paths(self) -> Iterator[tuple[tuple[int, bool], ...]]:
        """Yield for each row, from left to right, the nodes on the way and whether it is above."""
        waiting: list[tuple[int, tuple[tuple[int, bool], ...]]] = [(0, ())]
        while waiting:
            place, path = waiting.pop()
            if place < 0:
                yield path
            else:
                waiting.append((self.above[place], (*path, (place, True))))
                waiting.append((self.below[place], (*path, (place, False))))

    def regions(self, n_states: Sequence[int]) -> Iterator[dict[int, tuple[int, int]]]:
        """Yield for each row the first and the last state of the features read on the way."""
        for path in self.paths():
            region: dict[int, tuple[int, int]] = {}
            for node, is_above in path:
                f, cut = self.features[node], self.cuts[node]
                first, last = region.get(f, (0, n_states[f] - 1))
                region[f] = (max(first, cut + 1), last) if is_above else (first, min(last, cut))
            yield region

    def courses(self, n_states: Sequence[int]) -> dict[int, tuple[int, tuple[int, ...]]]:
        """Return for each feature a stride and states by which input k reaches row k, at an end."""
        states: dict[int, list[int]] = {f: [] for f in self.read}
        for k, region in enumerate(self.regions(n_states)):
            for f, of_feature in states.items():
                of_feature.append(region.get(f, (0, n_states[f] - 1))[k % 2])
        return {f: (1, tuple(of_feature)) for f, of_feature in states.items()}

    def rows(self, X: IntArray, fixed: Mapping[int, int] | None = None) -> IntArray:
        """
        Return the row of every sample.

        Shapes: `X` (n_samples, n_features) int; returns (n_samples,) int64, in ``0 .. n_rows - 1``.
        """
        if fixed:
            X = X.copy()
            for f, state in fixed.items():
                X[:, f] = state
        samples = np.arange(len(X))
        place = np.zeros(len(X), dtype=np.int64)
        feature, cut = np.array(self.features), np.array(self.cuts)
        below, above = np.array(self.below), np.array(self.above)
        while (inside := place >= 0).any():
            node = place[inside]
            is_above = X[samples[inside], feature[node]] > cut[node]
            place[inside] = np.where(is_above, above[node], below[node])
        return -1 - place


GridTable: TypeAlias = DecisionTable | BranchingTable
"""The layout of a boosted table."""


@dataclass(frozen=True)
class TableEnsemble:
    """The structure of boosted tables."""

    tables: tuple[GridTable, ...]  # At least one

    @property
    def features(self) -> tuple[int, ...]:
        """The features that any table reads, ascending."""
        return tuple(sorted({f for grid in self.tables for f in grid.features}))

    @property
    def used_cuts(self) -> dict[int, tuple[int, ...]]:
        """The cuts of each feature that any table reads, ascending, by feature, ascending."""
        used: dict[int, set[int]] = {f: set() for f in self.features}
        for grid in self.tables:
            if isinstance(grid, BranchingTable):
                for f, cut in zip(grid.features, grid.cuts, strict=True):
                    used[f].add(cut)
            else:
                for f, cuts in zip(grid.features, grid.cuts, strict=True):
                    used[f].update(cuts)
        return {f: tuple(sorted(cuts)) for f, cuts in used.items()}

    @property
    def n_cuts(self) -> int:
        """Number of cuts in all tables."""
        return sum(grid.n_cuts for grid in self.tables)


def has_trees(structure: object) -> bool:
    """Return whether a decision tree addresses any table of a structure."""
    return isinstance(structure, TableEnsemble) and any(
        isinstance(grid, BranchingTable) for grid in structure.tables
    )


@dataclass(frozen=True)
class RowIndex:
    """Layout of one table: its row index combines feature levels in mixed radix."""

    features: tuple[int, ...]  # Outermost first
    n_levels: tuple[int, ...]  # Number of levels per feature
    # Level of each state by feature; without a map, the states are the levels
    maps: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of joint levels."""
        return prod(self.n_levels)

    @property
    def read(self) -> tuple[int, ...]:
        """The features that it reads."""
        return self.features

    def states(self, f: int) -> tuple[int, ...]:
        """Return the smallest state of each level of a feature."""
        if f not in self.maps:
            return tuple(range(self.n_levels[self.features.index(f)]))
        _, first = np.unique(self.maps[f], return_index=True)
        return tuple(first.tolist())

    def courses(self, n_states: Sequence[int]) -> dict[int, tuple[int, tuple[int, ...]]]:
        """Return for each feature a stride and states by which `n_rows` inputs reach all rows."""
        found, stride = {}, 1
        for f, n in zip(self.features, self.n_levels, strict=True):
            found[f] = (stride, self.states(f))
            stride *= n
        return found

    def rows(self, X: IntArray, fixed: Mapping[int, int] | None = None) -> IntArray:
        """
        Return the row that each sample reads.

        Shapes: `X` (n_samples, n_features) int; returns (n_samples,) int64, in ``0 .. n_rows - 1``.
        """
        fixed = fixed or {}
        row = np.zeros(len(X), dtype=np.int64)
        for f, n in zip(self.features, self.n_levels, strict=True):
            state = np.asarray(fixed[f] if f in fixed else X[:, f])
            row = row * n + (np.array(self.maps[f])[state] if f in self.maps else state)
        return row


Lookup: TypeAlias = RowIndex | BranchingTable
"""Layout of a table: how states address its rows."""


@singledispatch
def lookups_of(structure: Structure | TableEnsemble, n_states: Sequence[int]) -> tuple[Lookup, ...]:
    """Return the layout of each table of a structure."""
    raise TypeError(f"{type(structure).__name__} is no structure")


@lookups_of.register
def _(structure: Structure, n_states: Sequence[int]) -> tuple[Lookup, ...]:
    scopes = [(*parents, i) for i, parents in enumerate(structure.parents)]
    if structure.class_parents:
        scopes.append(structure.class_parents)
    return tuple(RowIndex(scope, tuple(n_states[f] for f in scope)) for scope in scopes)


@lookups_of.register
def _(structure: TableEnsemble, n_states: Sequence[int]) -> tuple[Lookup, ...]:
    return tuple(
        grid
        if isinstance(grid, BranchingTable)
        else RowIndex(grid.features, grid.n_levels, grid.maps(n_states))
        for grid in structure.tables
    )
