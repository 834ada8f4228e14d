"""
Cuts of tables: where the states of a feature go from one level to the next.

A state map that starts at level 0 and never falls or jumps is a list of cuts: the level of a state
is the number of cuts below it. So comparisons find a row where otherwise every state has an entry
that says what it adds to the row's address.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from bncc._types import IntArray
from bncc.program.ir import Program, Table, n_levels


@dataclass(frozen=True)
class FeatureCuts:
    """Cuts of one feature in a table."""

    feature: int  # The feature
    # Ascending: the least state above each cut, 1 or more. A state's level is how many of them it
    # reaches.
    least: tuple[int, ...]

    @property
    def n_levels(self) -> int:
        """Levels of the feature."""
        return len(self.least) + 1


TableCuts = tuple[FeatureCuts, ...]
"""A table's features, outermost first: its row counts their levels in mixed radix."""


@lru_cache(maxsize=64)
def is_of_cuts(program: Program) -> bool:
    """Return whether comparisons alone find the row of every table, at least one per feature."""
    return all(
        f in table.maps and _ascends(table.maps[f]) and max(table.maps[f]) > 0
        for table in program.tables
        for f in table.features
    )


def gate_close(program: Program, largest_sum: int) -> int:
    """
    Return the largest difference of the two smallest costs with which a gate does not decide.

    No difference exceeds the largest sum, so that the constant fits the type of the sums.
    """
    return 0 if program.gate is None else min(program.gate.margin - 1, largest_sum)


@lru_cache(maxsize=4096)
def cuts_of(table: Table) -> TableCuts:
    """
    Return the cuts of a table of a program of cuts.

    Every layout of a program asks for them, so recent answers are cached.
    """
    steps = (np.flatnonzero(np.diff(table.maps[f])) + 1 for f in table.features)
    return tuple(
        FeatureCuts(f, tuple(least.tolist()))
        for f, least in zip(table.features, steps, strict=True)
    )


def most_levels_first(table: Table, n_states: Sequence[int]) -> Table:
    """
    Return a table whose outermost feature has the most levels.

    The outermost level is not multiplied, and each of two levels only doubles what is before it.
    """
    counts = n_levels(table, n_states)
    order = sorted(range(len(counts)), key=lambda k: -counts[k])
    costs = table.costs.reshape(*counts, -1).transpose(*order, -1)
    return replace(
        table,
        features=tuple(table.features[k] for k in order),
        costs=costs.reshape(table.costs.shape),
    )


def in_groups(tables: Sequence[Table], most: int) -> list[Table]:
    """
    Sort tables so that those whose sums stay small follow each other.

    Lanes are widened when the next row could fill one: the fewer times, the more rows fit between.
    """
    groups: list[list[Table]] = []
    sums: list[IntArray] = []
    for table in sorted(tables, key=lambda table: -int(table.costs.max(axis=0).sum())):
        largest = table.costs.max(axis=0)
        k = next((k for k, s in enumerate(sums) if (s + largest <= most).all()), len(sums))
        if k == len(sums):
            groups.append([])
            sums.append(np.zeros_like(largest))
        groups[k].append(table)
        sums[k] = sums[k] + largest
    return [table for group in groups for table in group]


def _ascends(levels: Sequence[int]) -> bool:
    steps = np.diff(levels)
    return levels[0] == 0 and bool(((steps == 0) | (steps == 1)).all())
