"""
The intermediate representation: a sum of integer tables, and nothing else.

The meaning of a program is one line,
``cost[c] = prior[c] + sum_t tables[t].costs[row_t(x), c]``, and its decision is the smallest class
index of least cost. With a gate, the sum is over the first tables alone where these decide. `costs`
is that as code.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

import numpy as np

from bncc._types import IntArray
from bncc.discretize.feature import Feature
from bncc.model.gate import Gate, summed
from bncc.structure.decision_tables import BranchingTable

WIDTHS = (8, 16, 32)
"""Storage widths in bits that the C has unsigned types for."""

MOST_UNMAPPED_ROWS = 1024
"""Rows that a program may get by undoing its state maps, whatever it had."""
MOST_TIMES_ROWS = 8
"""Largest growth factor of the number of rows."""


@dataclass(frozen=True, eq=False)
class Table:
    """One table of costs and the features that index it."""

    name: str  # What the table stands for, any text; usually the name of its last feature
    # Features read, outermost first: with states x and cardinalities n the row of two features (p,
    # i) is ``x[p] * n[i] + x[i]``. Where a feature has a state map, its state is replaced by the
    # level that the map gives it, its cardinality by the number of levels.
    features: tuple[int, ...]
    costs: IntArray  # (n_rows, n_classes) int64: Costs >= 0, the class index fastest
    entry_bits: int = 32  # Storage width of one entry
    # By feature, for those that have one: the level of each state, 0 .. n_levels - 1.
    maps: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    # Decision tree over states that finds the row instead: its leaves are the rows, `features` are
    # those that it reads, ascending, and there are no maps.
    tree: BranchingTable | None = None

    @property
    def is_plain(self) -> bool:
        """True if it has a row for every joint state of its features: no levels and no tree."""
        return not self.maps and self.tree is None


@dataclass(frozen=True, eq=False)
class Program:
    """A classifier as the compiler sees it."""

    features: tuple[Feature, ...]  # The inputs, in the order in which a caller passes them
    classes: tuple[str, ...]  # Class labels in index order
    frac_bits: int  # B_F: one unit of cost is ``2**-frac_bits`` nats
    # (n_classes,) int64: Cost of each class before any table is read; all zero once it is folded
    # away
    prior: IntArray
    tables: tuple[Table, ...]  # The summands, at least one
    cost_bits: int = 32  # Width of the accumulators
    gate: Gate | None = None  # Number of tables that decide where their margin is large

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @cached_property
    def n_states(self) -> tuple[int, ...]:
        """Cardinality of each feature."""
        return tuple(feature.n_states for feature in self.features)


def are_equal(one: Program, other: Program) -> bool:
    """Return whether two programs of the same inputs and classes have the same sums and widths."""
    if one is other:
        return True
    is_like = one.cost_bits == other.cost_bits and one.gate == other.gate
    if not is_like or not np.array_equal(one.prior, other.prior):
        return False
    if len(one.tables) != len(other.tables):
        return False
    return all(map(_are_equal_tables, one.tables, other.tables))


def _are_equal_tables(one: Table, other: Table) -> bool:
    facts = ((t.name, t.features, t.entry_bits, dict(t.maps), t.tree) for t in (one, other))
    return next(facts) == next(facts) and np.array_equal(one.costs, other.costs)


def n_rows(features: Iterable[int], n_states: Sequence[int]) -> int:
    """Return the number of joint states of some features."""
    return prod(n_states[f] for f in features)


def n_levels(table: Table, n_states: Sequence[int]) -> tuple[int, ...]:
    """Return how many states or levels each feature of a table has in it."""
    return tuple(max(table.maps[f]) + 1 if f in table.maps else n_states[f] for f in table.features)


def has_trees(program: Program) -> bool:
    """Return whether a decision tree finds the row of any table."""
    return any(table.tree is not None for table in program.tables)


def row_of(program: Program, table: Table, X: IntArray) -> IntArray:
    """
    Return the row of a table that states read.

    Shapes: `X` (n_samples, n_features) int; returns (n_samples,) int64.
    """
    if table.tree is not None:
        return table.tree.rows(X)
    row = np.zeros(len(X), dtype=np.int64)
    for f, n in zip(table.features, n_levels(table, program.n_states), strict=True):
        row = row * n + (np.array(table.maps[f])[X[:, f]] if f in table.maps else X[:, f])
    return row


def unmapped(program: Program) -> Program:
    """Return the program with a row for every joint state instead of state maps."""
    if not any(table.maps for table in program.tables):
        return program
    tables = [
        expanded(table, program.n_states) if table.maps else table for table in program.tables
    ]
    return with_tables(program, tables, program.prior)


def can_unmap(program: Program) -> bool:
    """Return whether a program has not too many rows without its state maps."""
    before = sum(len(table.costs) for table in program.tables)
    after = sum(n_rows(table.features, program.n_states) for table in program.tables)
    return after <= max(MOST_UNMAPPED_ROWS, MOST_TIMES_ROWS * before)


def expanded(table: Table, n_states: Sequence[int]) -> Table:
    """Return a table with a row for every joint state instead of state maps."""
    costs = table.costs.reshape(*n_levels(table, n_states), -1)
    for axis, f in enumerate(table.features):
        if f in table.maps:
            costs = costs.take(table.maps[f], axis=axis)
    return replace(table, costs=costs.reshape(-1, costs.shape[-1]), maps={})


def with_tables(program: Program, tables: Sequence[Table], prior: IntArray) -> Program:
    """
    Return the program with other tables and another prior, all else equal.

    Shapes: `prior` (n_classes,) int64.
    """
    return replace(program, tables=tuple(tables), prior=prior)


def width_of(largest: int) -> int:
    """Return the smallest storage width that holds a number."""
    return next((bits for bits in WIDTHS if largest < 1 << bits), 64)


def table_bits(program: Program) -> int:
    """Return the bits that the tables and a prior still in use take in flash."""
    prior = program.prior.size * program.cost_bits if program.prior.any() else 0
    return prior + sum(table.costs.size * table.entry_bits for table in program.tables)


def costs(program: Program, X: IntArray) -> IntArray:
    """
    Return the cost of every class for rows of valid states.

    Shapes: `X` (n_samples, n_features) int; returns (n_samples, n_classes) int64, costs in units of
    ``2**-frac_bits`` nats.
    """
    terms = (table.costs[row_of(program, table, X)] for table in program.tables)
    return summed(program.prior, terms, len(X), program.gate)


def decisions(program: Program, X: IntArray) -> IntArray:
    """
    Return the class index of least cost, the smallest on ties.

    Shapes: `X` (n_samples, n_features) int; returns (n_samples,) int64, class indices.
    """
    return np.asarray(costs(program, X).argmin(axis=1))


@dataclass(frozen=True, eq=False)
class Leveled:
    """A program without state maps and trees, and what its added features are."""

    # Its features are those of the first program, then one for every different map of one, then
    # one for every tree
    program: Program
    # For each feature added for a map the one that it is a level of, and the level of each state
    reads: tuple[tuple[int, IntArray], ...]
    trees: tuple[BranchingTable, ...] = ()  # For each feature added for a tree, whose leaf it is

    def states(self, X: IntArray) -> IntArray:
        """
        Return the states of all features.

        Shapes: `X` (n_samples, n_features) int; returns (n_samples, n_features + n_added) int, of
        the type of `X`.
        """
        added = [levels[np.minimum(X[:, f], len(levels) - 1)] for f, levels in self.reads]
        added += [self._leaf(tree, X) for tree in self.trees]
        dtype = np.int64 if self.trees else X.dtype
        return np.column_stack([X, *added]).astype(dtype) if added else X

    def _leaf(self, tree: BranchingTable, X: IntArray) -> IntArray:
        """Return the leaves that states reach; those out of range, which are noticed, reach any."""
        return tree.rows(X.astype(np.int64))


def leveled(program: Program) -> Leveled:
    """Return a program whose tables are read by levels and leaves, without maps and trees."""
    place: dict[tuple[int, tuple[int, ...]], int] = {}
    products = [table for table in program.tables if table.tree is None]
    tables = [_by_levels(table, place, len(program.features)) for table in products]
    added = [Feature(program.features[f].name, "state", max(levels) + 1) for f, levels in place]
    trees = []
    for table in program.tables:
        if table.tree is not None:
            trees.append(table.tree)
            n_before = len(program.features) + len(added)
            added.append(Feature(table.name, "state", len(table.costs)))
            tables.append(replace(table, features=(n_before,), tree=None))
    features = (*program.features, *added)
    reads = tuple((f, np.array(levels)) for f, levels in place)
    leveled_program = replace(program, features=features, tables=tuple(tables))
    return Leveled(leveled_program, reads, tuple(trees))


def _by_levels(
    table: Table, place: dict[tuple[int, tuple[int, ...]], int], n_features: int
) -> Table:
    features: Sequence[int] = [
        place.setdefault((f, table.maps[f]), n_features + len(place)) if f in table.maps else f
        for f in table.features
    ]
    return replace(table, features=tuple(features), maps={})
