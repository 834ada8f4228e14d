"""Where the tables of a sum are read: each over a few cuts of a few features."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from bncc._types import IntArray


@dataclass(frozen=True)
class Grid:
    """
    The joint levels of some features: a table has a row for each.

    A feature's level is the number of its cuts below its state, ``sum(x > cut)``; the row counts
    levels in mixed radix, first feature outermost.
    """

    features: tuple[int, ...]  # At least one, each once
    # Of each feature: states >= 0, strictly ascending, at least one; a state and those below it lie
    # on one side, those above it on the other
    cuts: tuple[tuple[int, ...], ...]

    @property
    def n_levels(self) -> tuple[int, ...]:
        """Levels of each feature."""
        return tuple(len(cuts) + 1 for cuts in self.cuts)

    @property
    def n_rows(self) -> int:
        """Joint levels."""
        return prod(self.n_levels)

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
        """Return by feature the level of each of its states, as a program's table has them."""
        return {
            f: tuple(np.searchsorted(cuts, np.arange(n_states[f]), side="left").tolist())
            for f, cuts in zip(self.features, self.cuts, strict=True)
        }


@dataclass(frozen=True)
class Grids:
    """The structure of a sum of tables."""

    tables: tuple[Grid, ...]  # One per table, at least one

    @property
    def features(self) -> tuple[int, ...]:
        """The features that some table reads, ascending."""
        return tuple(sorted({f for grid in self.tables for f in grid.features}))

    @property
    def n_cuts(self) -> int:
        """Cuts of all tables."""
        return sum(len(cuts) for grid in self.tables for cuts in grid.cuts)
