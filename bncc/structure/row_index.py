"""How the tables of a classifier are read, whatever its structure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from math import prod

import numpy as np

from bncc._types import IntArray
from bncc.structure.decision_tables import Grids
from bncc.structure.graph import Structure


@dataclass(frozen=True)
class LookUp:
    """How one table is read: its row counts levels of features in mixed radix."""

    features: tuple[int, ...]  # Outermost first
    n_levels: tuple[int, ...]  # Of each feature
    # By feature the level of each of its states; a feature without a map has its states as levels
    maps: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Joint levels."""
        return prod(self.n_levels)

    def states(self, f: int) -> tuple[int, ...]:
        """Return a state of each level of a feature, the smallest."""
        if f not in self.maps:
            return tuple(range(self.n_levels[self.features.index(f)]))
        _, first = np.unique(self.maps[f], return_index=True)
        return tuple(first.tolist())

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


@singledispatch
def lookups_of(structure: Structure | Grids, n_states: Sequence[int]) -> tuple[LookUp, ...]:
    """Return how each table of a structure is read."""
    raise TypeError(f"{type(structure).__name__} is no structure")


@lookups_of.register
def _(structure: Structure, n_states: Sequence[int]) -> tuple[LookUp, ...]:
    scopes = [(*parents, i) for i, parents in enumerate(structure.parents)]
    if structure.class_parents:
        scopes.append(structure.class_parents)
    return tuple(LookUp(scope, tuple(n_states[f] for f in scope)) for scope in scopes)


@lookups_of.register
def _(structure: Grids, n_states: Sequence[int]) -> tuple[LookUp, ...]:
    return tuple(
        LookUp(grid.features, grid.n_levels, grid.maps(n_states)) for grid in structure.tables
    )
