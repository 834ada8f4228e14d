"""Terms of few inputs as arrays over intervals of these inputs, and the extremes of their sum."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

from bncc._types import BoolArray, IntArray
from bncc.prove.regions import Numbers, Partition, Region, axis_numbers, points_in
from bncc.prove.values import Exact

MOST_GRID = 1 << 20
"""Largest number of cells of an array."""

Starts = Mapping[int, Sequence[int]]
"""By input, one number of each interval that no cell divides."""


def starts_of(
    partitions: Sequence[Partition], region: Region, full: Sequence[Numbers]
) -> dict[int, list[int]]:
    """Return the intervals of each input that neither partitions nor a region divide."""
    found: dict[int, list[int]] = {}
    for axis in {axis for partition in partitions for axis in partition.scope}:
        allowed = axis_numbers(region, axis, full[axis])
        edges = frozenset().union(*(p.edges(axis) for p in partitions if axis in p.scope))
        own = {low for low, _ in allowed}
        for low, high in allowed:
            own.update(edge for edge in edges if low <= edge <= high)
        found[axis] = sorted(own)
    return found


def grid_size(scope: Sequence[int], starts: Starts) -> int:
    """Return the number of cells of an array over some inputs."""
    total = 1
    for axis in scope:
        total *= len(starts[axis])
    return total


def grid_of(partition: Partition, values: IntArray, starts: Starts) -> IntArray:
    """Return a function that is constant on cells as an array over the inputs of its scope."""
    index = partition.index(tuple(tuple(starts[axis]) for axis in partition.scope))
    return np.append(values, 0)[index]


def largest_sum(
    terms: Sequence[tuple[Partition, IntArray]], region: Region, full: Sequence[Numbers]
) -> int:
    """
    Bound a sum of functions from above, over all combinations of inputs of a region's hull.

    Inputs are eliminated one after the other, the cheapest first; the bound is exact while arrays
    stay small, else the sum of each array's maximum.
    """
    starts = starts_of([partition for partition, _ in terms], region, full)
    total = 0
    factors: list[tuple[tuple[int, ...], IntArray]] = []
    for partition, values in terms:
        if grid_size(partition.scope, starts) > MOST_GRID:
            total += int(values.max())
        else:
            factors.append((partition.scope, grid_of(partition, values, starts)))
    while True:
        axes = {axis for scope, _ in factors for axis in scope}
        sizes = {axis: grid_size(_neighbors(factors, axis), starts) for axis in axes}
        if not sizes or min(sizes.values()) > MOST_GRID:
            break
        axis = min(sizes, key=lambda one: (sizes[one], one))
        scope = _neighbors(factors, axis)
        joint = np.zeros(tuple(len(starts[one]) for one in scope), dtype=np.int64)
        for own, grid in factors:
            if axis in own:
                shape = tuple(len(starts[one]) if one in own else 1 for one in scope)
                joint = joint + grid.reshape(shape)
        factors = [factor for factor in factors if axis not in factor[0]]
        rest = tuple(one for one in scope if one != axis)
        factors.append((rest, joint.max(axis=scope.index(axis))))
    return total + sum(int(grid.max()) for _, grid in factors)


def _neighbors(factors: Sequence[tuple[tuple[int, ...], IntArray]], axis: int) -> tuple[int, ...]:
    return tuple(sorted({one for scope, _ in factors if axis in scope for one in scope}))


def varying(scope: tuple[int, ...], grid: IntArray) -> tuple[tuple[int, ...], IntArray]:
    """Return a function of a grid as one of those inputs alone that change it."""
    for k in reversed(range(len(scope))):
        first = grid.take([0], axis=k)
        if (grid == first).all():
            scope, grid = scope[:k] + scope[k + 1 :], first.squeeze(k)
    return scope, grid


def components(
    scope: tuple[int, ...], grid: IntArray
) -> Iterable[tuple[tuple[int, ...], IntArray]]:
    """
    Split a function of a grid into functions of fewer inputs that vanish at each first number.

    The split is unique, so a sum of functions is zero if and only if the sum of each part is.
    """
    n = len(scope)
    for axis in range(n):
        first = grid.take([0], axis=axis)
        rest = grid.take(range(1, grid.shape[axis]), axis=axis)
        grid = np.concatenate([first, rest - first], axis=axis)
    for size in range(n + 1):
        for kept in combinations(range(n), size):
            part = grid[tuple(slice(None) if axis in kept else 0 for axis in range(n))].copy()
            for k in range(size):
                part[(slice(None),) * k + (0,)] = 0
            yield tuple(scope[axis] for axis in kept), part


def is_zero(
    const: int, grids: Iterable[tuple[tuple[int, ...], IntArray]], modulus: int | None = None
) -> bool:
    """Return whether a sum of functions of grids is zero, maybe modulo a number, everywhere."""
    sums: dict[tuple[int, ...], IntArray] = {}
    for scope, grid in grids:
        _add(sums, *varying(scope, grid))
    parts: dict[tuple[int, ...], IntArray] = {}
    for scope, grid in sums.items():  # Mostly constant: the code has tables of the model
        grid = grid if modulus is None else grid % modulus
        for own, part in components(*varying(scope, grid)):
            _add(parts, own, part)
    const += int(parts.pop((), 0))
    if modulus is None:
        return const == 0 and not any(part.any() for part in parts.values())
    return const % modulus == 0 and not any((part % modulus).any() for part in parts.values())


def _add(sums: dict[tuple[int, ...], IntArray], scope: tuple[int, ...], grid: IntArray) -> None:
    known = sums.get(scope)
    sums[scope] = grid if known is None else known + grid


def evaluated(total: Exact, points: IntArray) -> tuple[IntArray, BoolArray]:
    """Return a sum at each point, and where it is defined."""
    found = np.full(len(points), total.const, dtype=np.int64)
    known = np.ones(len(points), dtype=bool)
    for partition, term in total.terms.items():
        inside = np.zeros(len(points), dtype=bool)
        for k, cell in enumerate(partition.cells):
            here = points_in(cell, points)
            inside |= here
            value = np.full(len(points), term.values[k], dtype=np.int64)
            if term.slopes is not None and term.slopes[k]:
                value += int(term.slopes[k]) * points[:, partition.scope[0]]
            found += np.where(here, value, 0)
        known &= inside
    return found, known
