"""Functions as arrays, and the largest value of their sum, against all inputs."""

from itertools import product

import numpy as np
import pytest

from bncc.prove.grids import (
    components,
    grid_of,
    grid_size,
    is_zero,
    largest_sum,
    starts_of,
    varying,
)
from bncc.prove.machines import CORTEX_M, RISCV
from bncc.prove.regions import Partitions
from tests.unit.prove.brute import contains

FULL = (((0, 5),), ((0, 3),), ((0, 4),))


def cells_of(axes, cuts):
    """Return a partition of some inputs by one cut each."""
    sides = [
        [((axis, ((0, cut),)),) for cut in (cuts[axis],)]
        + [((axis, ((cuts[axis] + 1, FULL[axis][0][1]),)),)]
        for axis in axes
    ]
    boxes = [tuple(item for part in chosen for item in part) for chosen in product(*sides)]
    return Partitions().of((box,) for box in boxes)


def at(partition, values, point):
    return next(
        int(v) for cell, v in zip(partition.cells, values, strict=True) if contains(cell, point)
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_largest_sum_is_reached_and_not_exceeded(seed):
    rng = np.random.default_rng(seed)
    terms = []
    for axes in ((0, 1), (1, 2), (0, 2), (1,)):
        partition = cells_of(axes, rng.integers(0, 3, 3))
        terms.append((partition, rng.integers(-9, 10, len(partition.cells))))
    points = list(product(range(6), range(4), range(5)))
    sums = [sum(at(p, v, point) for p, v in terms) for point in points]
    assert largest_sum(terms, ((),), FULL) == max(sums)
    region = (((0, ((4, 5),)),),)
    inside = [s for s, point in zip(sums, points, strict=True) if point[0] >= 4]
    assert largest_sum(terms, region, FULL) == max(inside)


def test_components_add_up_and_vanish_at_first_numbers():
    grid = np.random.default_rng(0).integers(-9, 10, (3, 1, 4))
    total, sizes = np.zeros_like(grid), {2: 3, 5: 1, 7: 4}
    scopes = []
    for scope, part in components((2, 5, 7), grid):
        scopes.append(scope)
        assert all(not part.take(0, axis=k).any() for k in range(part.ndim))
        total += part.reshape([n if a in scope else 1 for a, n in sizes.items()])
    assert (total == grid).all()
    assert scopes == [(), (2,), (5,), (7,), (2, 5), (2, 7), (5, 7), (2, 5, 7)]


def test_an_array_has_the_value_of_each_cell():
    partition = cells_of((0, 2), (2, 0, 1))
    values = np.array([3, 1, 4, 1])
    starts = starts_of([partition], ((),), FULL)
    assert starts == {0: [0, 3], 2: [0, 2]}
    assert grid_size(partition.scope, starts) == 4
    assert grid_of(partition, values, starts).tolist() == [[3, 1], [4, 1]]


@pytest.mark.parametrize("machine", [CORTEX_M, RISCV])
def test_a_machine_names_its_registers(machine):
    assert set(machine.kept) <= set(machine.registers)
    assert {machine.result, *machine.arguments} <= set(machine.registers)


@pytest.mark.parametrize("kept", [(), (0,), (2,), (0, 2), (0, 1, 2)])
def test_a_function_is_one_of_the_inputs_that_change_it(kept):
    wanted = np.arange(np.prod([2 + k for k in kept], dtype=int)).reshape([2 + k for k in kept])
    sides = [2 + k if k in kept else 1 for k in range(3)]
    grid = np.broadcast_to(wanted.reshape(sides), (2, 3, 4))
    scope, found = varying((5, 6, 9), grid)
    assert scope == tuple((5, 6, 9)[k] for k in kept)
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize("modulus", [None, 4])
@pytest.mark.parametrize("seed", range(20))
def test_a_sum_of_grids_is_zero_if_it_is_so_everywhere(seed, modulus):
    rng = np.random.default_rng(seed)
    scopes = [(0, 1), (1, 2), (0,), (0, 1), (0, 2)]
    shape = (2, 3, 2)
    grids = [rng.integers(-2, 3, [shape[axis] for axis in scope]) for scope in scopes]
    # Whatever a part of one is, another one has less of it.
    scopes += [(0, 1), (1, 2), (0, 2), (0,)]
    grids += [-grids[0] - grids[3], -grids[1] - 5, 5 - grids[4], -grids[2]]
    grids[-1] = grids[-1] + (0 if modulus is None else modulus * rng.integers(0, 2, 2))
    given = list(zip(scopes, grids, strict=True))
    assert is_zero(0, given, modulus)
    assert not is_zero(1, given, modulus)
    k = int(rng.integers(len(grids)))
    changed = grids[k].copy()
    changed[(-1,) * changed.ndim] += 2
    assert not is_zero(0, [*given[:k], (scopes[k], changed), *given[k + 1 :]], modulus)
