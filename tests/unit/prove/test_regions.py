"""Sets of numbers, boxes, regions and partitions against sets of points."""

from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bncc.prove.regions import (
    EVERYWHERE,
    Partitions,
    added,
    are_in,
    axis_numbers,
    both,
    box_in,
    breakpoints,
    common,
    is_in,
    joined,
    meets,
    numbers,
    outside,
    without,
)
from tests.tiers import examples
from tests.unit.prove.brute import (
    contains,
    listed,
    points_in,
    random_algebra,
    random_region,
    random_term,
    set_of,
)

seeds = st.integers(0, 2**32 - 1)
sets = st.sets(st.integers(0, 15))
intervals = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), max_size=6)
FULL = (((0, 4),), ((0, 3), (8, 9)), ((7, 10),))


def all_points():
    return list(points_in(EVERYWHERE, FULL))


def points(region):
    return {p for p in all_points() if contains(region, p)}


@given(intervals)
def test_intervals_become_ascending_ones_apart(pairs):
    found = numbers((low, low + n) for low, n in pairs)
    assert listed(found) == sorted({x for low, n in pairs for x in range(low, low + n + 1)})
    assert all(a[1] + 1 < b[0] for a, b in pairwise(found))


@given(sets, sets)
def test_sets_of_numbers_are_sets(a, b):
    for operation, expected in ((common, a & b), (without, a - b)):
        found = operation(set_of(a), set_of(b))
        assert found == set_of(expected)


def test_what_is_left_of_all_numbers_reaches_their_ends():
    every = ((0, (1 << 32) - 1),)
    assert without(every, ((0, 0), ((1 << 32) - 1, (1 << 32) - 1))) == ((1, (1 << 32) - 2),)
    assert without(every, ()) == every
    assert without(every, every) == ()


@settings(max_examples=examples(50))
@given(st.sets(st.integers(0, 40)), st.booleans())
def test_numbers_in_a_set_are_found_all_at_once(some, reaches_the_end):
    last = (1 << 32) - 1
    allowed = numbers([*((x, x) for x in some), *([(last - 3, last)] * reaches_the_end)])
    asked = [*range(42), *range(last - 5, last + 1)]
    found = are_in(allowed, np.array(asked, dtype=np.int64))
    assert found.tolist() == [is_in(allowed, x) for x in asked]


@settings(max_examples=examples(150))
@given(seeds)
def test_what_is_outside_of_another_region_is_in_disjoint_boxes(seed):
    rng = Random(seed)
    a, b = random_region(rng, FULL), random_region(rng, FULL)
    found = outside(a, b, FULL)
    assert points(found) == points(a) - points(b)
    assert sum(len(points((box,))) for box in found) == len(points(found))
    assert all(list(box) == sorted(box) for box in found)


@settings(max_examples=examples(150))
@given(seeds)
def test_what_regions_have_in_common(seed):
    rng = Random(seed)
    a, b = random_region(rng, FULL), random_region(rng, FULL)
    expected = points(a) & points(b)
    assert points(both(a, b)) == expected
    assert meets(a, b) == bool(expected)
    for p in a:
        for q in b:
            box = box_in(p, q)
            assert (set() if box is None else points((box,))) == points((p,)) & points((q,))
            assert box is None or list(box) == sorted(box)


@settings(max_examples=examples(150))
@given(seeds)
def test_joined_boxes_are_the_same_inputs_in_fewer_boxes(seed):
    """Also where a box ends up with every number of an input, which it then does not name."""
    rng = Random(seed)
    left = all_points()
    cuts = [random_region(rng, FULL) for _ in range(3)]
    boxes, expected = [], set()
    region = EVERYWHERE
    for cut in cuts:
        region = both(region, cut)
    for box in region:
        boxes.append(box)
    # Single inputs outside the boxes
    for p in rng.sample(left, 25):
        if not contains(region, p):
            boxes.append(tuple((axis, ((x, x),)) for axis, x in enumerate(p)))
    boxes = list(dict.fromkeys(boxes))
    expected = {p for p in left if any(contains((box,), p) for box in boxes)}
    rng.shuffle(boxes)
    found = joined(boxes, FULL)
    assert points(found) == expected
    assert len(found) <= len(boxes)
    assert all(allowed != FULL[axis] for box in found for axis, allowed in box)


def test_all_inputs_one_by_one_join_to_every_input():
    boxes = [tuple((axis, ((x, x),)) for axis, x in enumerate(p)) for p in all_points()]
    assert joined(boxes, FULL) == EVERYWHERE
    assert joined([], FULL) == ()


@settings(max_examples=examples(100))
@given(seeds)
def test_numbers_of_an_input_in_a_region(seed):
    rng = Random(seed)
    region = random_region(rng, FULL)
    for axis, full in enumerate(FULL):
        expected = {p[axis] for p in points(region)}
        assert axis_numbers(region, axis, full) == set_of(expected)


def test_breakpoints_are_the_starts_and_what_follows_the_ends():
    cells = [(((0, ((1, 3), (5, 5))),),), (((0, ((4, 4),)), (1, ((9, 9),))),)]
    assert breakpoints(cells, 0) == [1, 4, 5, 6]
    assert breakpoints(cells, 1) == [9, 10]
    assert breakpoints(cells, 2) == []


@settings(max_examples=examples(150))
@given(seeds)
def test_an_overlay_tells_the_cell_of_each_partition(seed):
    rng = Random(seed)
    g = random_algebra(rng, 16)
    p, q = random_term(rng, g).partition, random_term(rng, g).partition
    found = g.partitions.overlay(p, q, 1000)
    assert found is not None
    cells, first, second = found
    assert len(cells.cells) == len(first) == len(second)
    for point in points_in(EVERYWHERE, g.full):
        (k,) = (k for k, cell in enumerate(cells.cells) if contains(cell, point))
        assert contains(p.cells[first[k]], point)
        assert contains(q.cells[second[k]], point)
    # No cell without an input
    for cell in cells.cells:
        assert next(points_in(cell, g.full), None) is not None
    assert g.partitions.overlay(p, q, 1000) == found


def test_an_overlay_of_too_many_cells_is_none():
    partitions = Partitions()
    p = partitions.of_axis(0, [((k, k),) for k in range(5)])
    q = partitions.of_axis(1, [((k, k),) for k in range(5)])
    assert partitions.overlay(p, q, 24) is None
    found = partitions.overlay(p, q, 25)
    assert found is not None
    assert len(found[0].cells) == 25
    assert partitions.overlay(p, p, 1) == (p, tuple(range(5)), tuple(range(5)))


def test_equal_partitions_are_one_object():
    partitions = Partitions()
    cells = [((0, 3),), ((4, 7),)]
    p = partitions.of_axis(2, cells)
    assert partitions.of_axis(2, list(cells)) is p
    assert partitions.of_axis(1, cells) is not p
    assert p.scope == (2,)
    assert p.is_single
    two = partitions.of([(((0, ((0, 0),)), (1, ((0, 0),))),), (((0, ((1, 1),)),),)])
    assert two.scope == (0, 1)
    assert not two.is_single


@pytest.mark.parametrize("axes", [(), (0,), (1, 2)])
def test_a_box_without_a_restriction_is_every_input(axes):
    region = (tuple((axis, ((0, 0),)) for axis in axes),)
    assert both(EVERYWHERE, region) == region
    assert both(region, EVERYWHERE) == region
    assert both((), region) == ()
    assert not meets((), region)


def test_added_boxes_are_joined_with_those_of_a_region():
    left = (((0, ((0, 1),)), (1, ((0, 1),))),)
    right = (((0, ((0, 1),)), (1, ((2, 5),))), ((0, ((2, 5),)),))
    full = (((0, 5),), ((0, 5),))
    assert added(left, right, full) == EVERYWHERE == joined((*left, *right), full)
    other = (((0, ((3, 3),)),),)
    assert added(left, other, full) == (*left, *other)
