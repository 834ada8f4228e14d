r"""
Range analysis: bounds that hold for every input, not only for those that were tried.

The largest sum of any input: the maximum of a sum of tables over all joint states.
It is found exactly by eliminating one feature after the other (max-sum dynamic programming):

.. math:: \max_x \sum_t T_t[x] = \max_{x \setminus x_f} \Big( \sum_{t \not\ni f} T_t[x]
          + \max_{x_f} \sum_{t \ni f} T_t[x] \Big)

States that no table distinguishes count as one, so a table over a few cuts of features with many
states is no larger than its cuts ask for.
None of this requires a Bayesian network, so arcs may form a cycle. On a forest
eliminations leave tables of one feature, on a forest whose trees have one arc too many, as in
pseudo-TAN, of two. Where tables depend on each other so densely that one would grow beyond
`MOST_ENTRIES`, interval arithmetic takes over: every summand is within its column's interval, so
every sum is within the sum of the intervals. Tables that decision trees address are summed so from
the start: their leaves depend on many features each.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import heappop, heappush
from math import prod

import numpy as np

from bncc._types import IntArray
from bncc.program.ir import Program, Table, n_levels

MOST_ENTRIES = 2**20
"""Entries of the largest table that an elimination may make."""

Reduce = Callable[..., IntArray]


@dataclass(frozen=True, eq=False)
class _Factor:
    """
    A function of some features: an array with one axis for each, and one for the classes.

    Where a feature has levels, they say for each of its values which entry of its axis is meant.
    """

    features: tuple[int, ...]
    costs: IntArray
    levels: Mapping[int, IntArray] = field(default_factory=dict)


def cost_bounds(program: Program) -> tuple[IntArray, IntArray]:
    """
    Bound the cost of every class over all inputs.

    Partial sums are bounded by the same upper end because no cost is negative.

    Shapes: returns low, high (n_classes,) int64, least and largest cost of each class: reached by
    some input unless the features depend on each other too densely, and safe in any case.
    """
    return _extreme(program, np.min), _extreme(program, np.max)


@lru_cache(maxsize=16)
def largest_cost(program: Program) -> int:
    """
    Return the largest value that an accumulator can reach.

    Passes query the same programs repeatedly, so recent answers are cached.
    """
    return int(_extreme(program, np.max).max())


def _extreme(program: Program, reduce: Reduce) -> IntArray:
    """Return the extreme cost of every class, exactly where that is feasible."""
    values = _values(program)
    n_values = [len(some) for some in values]
    pool = _Pool(n_values)
    for table in program.tables:
        if table.tree is not None:
            pool.add(_Factor((), reduce(table.costs, axis=0)))
        else:
            pool.add(_factor(program, table, values))
    while (feature := pool.cheapest()) is not None:
        neighbors = pool.neighbors(feature)
        n_joint = prod(n_values[f] for f in (*neighbors, feature))
        if n_joint * program.n_classes > MOST_ENTRIES:
            break
        joint = _joint(pool.take(feature), (*neighbors, feature))
        pool.add(_Factor(neighbors, reduce(joint, axis=len(neighbors))))
    extremes = [reduce(f.costs, axis=tuple(range(len(f.features)))) for f in pool.factors]
    return np.asarray(program.prior.astype(np.int64) + sum(extremes))


def _values(program: Program) -> list[IntArray]:
    """Return representative states of each feature: one per set of indistinguishable ones."""
    readers: list[list[Table]] = [[] for _ in program.n_states]
    for table in program.tables:
        if table.tree is None:
            for f in table.features:
                readers[f].append(table)
    values: list[IntArray] = []
    for f, n in enumerate(program.n_states):
        maps = [table.maps[f] for table in readers[f] if f in table.maps]
        if maps and len(maps) == len(readers[f]):
            values.append(_told_apart(np.array(maps)))
        else:
            values.append(np.arange(n))
    return values


def _told_apart(maps: IntArray) -> IntArray:
    """Return the first state of each kind that maps (n_maps, n_states) tell from others."""
    # Most maps ascend in a few steps: sorting is left for the states at which one changes.
    first = np.flatnonzero(np.append(True, (maps[:, 1:] != maps[:, :-1]).any(axis=0)))
    return np.asarray(first[np.unique(maps[:, first], axis=1, return_index=True)[1]])


def _factor(program: Program, table: Table, values: Sequence[IntArray]) -> _Factor:
    """Return a table as a function of values."""
    levels = {
        f: np.array([states[value] for value in values[f].tolist()])
        for f, states in table.maps.items()
    }
    shape = (*n_levels(table, program.n_states), program.n_classes)
    return _Factor(table.features, table.costs.reshape(shape), levels)


class _Pool:
    """Factors, found by the features that they read, cheapest feature to eliminate first."""

    def __init__(self, n_values: Sequence[int]) -> None:
        self._n_values = n_values
        self._readers: dict[int, dict[int, _Factor]] = {}
        self._done: list[_Factor] = []
        self._queue: list[tuple[int, int]] | None = None

    @property
    def factors(self) -> list[_Factor]:
        """All factors, each once."""
        reading = {id(f): f for readers in self._readers.values() for f in readers.values()}
        return [*self._done, *reading.values()]

    def neighbors(self, feature: int) -> tuple[int, ...]:
        """Return the features that are read together with one."""
        near = {f for factor in self._readers[feature].values() for f in factor.features}
        return tuple(sorted(near - {feature}))

    def add(self, factor: _Factor) -> None:
        """Put a factor in."""
        for f in factor.features:
            self._readers.setdefault(f, {})[id(factor)] = factor
        if not factor.features:
            self._done.append(factor)

    def take(self, feature: int) -> list[_Factor]:
        """Remove and return the factors that read a feature."""
        taken = list(self._readers.pop(feature).values())
        for factor in taken:
            for f in factor.features:
                if f != feature:
                    del self._readers[f][id(factor)]
        return taken

    def cheapest(self) -> int | None:
        """
        Return a feature whose elimination leaves a small table; None when no one is left.

        A size in the queue may be that of an earlier time, which can only delay a feature.
        """
        if self._queue is None:
            self._queue = sorted((self._size(f), f) for f in self._readers)
        while self._queue:
            size, feature = heappop(self._queue)
            if size == (now := self._size(feature)):
                return feature
            heappush(self._queue, (now, feature))
        return None

    def _size(self, feature: int) -> int:
        return prod(self._n_values[f] for f in self.neighbors(feature))


def _joint(factors: Sequence[_Factor], order: tuple[int, ...]) -> IntArray:
    """Return the sum of factors, one axis per feature of an order."""
    return np.asarray(sum(_spread(factor, order) for factor in factors))


def _spread(factor: _Factor, order: tuple[int, ...]) -> IntArray:
    """Return a factor's array with one axis per feature of an order, of length 1 if not read."""
    read = [f for f in order if f in factor.features]
    costs = factor.costs
    for f, levels in factor.levels.items():
        costs = costs.take(levels, axis=factor.features.index(f))
    costs = costs.transpose(*(factor.features.index(f) for f in read), -1)
    shape = [costs.shape[read.index(f)] if f in read else 1 for f in order]
    return costs.reshape(*shape, costs.shape[-1])
