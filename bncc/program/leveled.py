"""State maps as features of their own, for machines that look up faster than they compare."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bncc._types import IntArray
from bncc.discretize.feature import Feature
from bncc.program.ir import Program, Table


@dataclass(frozen=True, eq=False)
class Leveled:
    """A program without state maps, and what its added features are."""

    # Its features are those of the first program, then one for every different map of one
    program: Program
    # For each added feature the one that it is a level of, and the level of each state
    reads: tuple[tuple[int, IntArray], ...]

    def states(self, X: IntArray) -> IntArray:
        """
        Return the states of all features.

        Shapes: `X` (n_samples, n_features) int; returns (n_samples, n_features + n_added) int, of
        the type of `X`.
        """
        added = [levels[np.minimum(X[:, f], len(levels) - 1)] for f, levels in self.reads]
        return np.column_stack([X, *added]).astype(X.dtype) if added else X


def leveled(program: Program) -> Leveled:
    """Return a program whose tables are read by levels without state maps."""
    place: dict[tuple[int, tuple[int, ...]], int] = {}
    tables = [_by_levels(table, place, len(program.features)) for table in program.tables]
    added = (Feature(program.features[f].name, "state", max(levels) + 1) for f, levels in place)
    features = (*program.features, *added)
    reads = tuple((f, np.array(levels)) for f, levels in place)
    return Leveled(replace(program, features=features, tables=tuple(tables)), reads)


def _by_levels(
    table: Table, place: dict[tuple[int, tuple[int, ...]], int], n_features: int
) -> Table:
    features: Sequence[int] = [
        place.setdefault((f, table.maps[f]), n_features + len(place)) if f in table.maps else f
        for f in table.features
    ]
    return replace(table, features=tuple(features), maps={})
