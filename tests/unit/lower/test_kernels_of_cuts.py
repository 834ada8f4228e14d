"""Programs over cuts: bounds, passes and kernels need no row per joint state."""

import numpy as np
import pytest
from hypothesis import given, settings

from bncc.lower.kernels.looped.layout import looped
from bncc.lower.kernels.packed.layout import packed
from bncc.lower.kernels.planes.layout import columns, planes
from bncc.program.ir import can_unmap, costs
from bncc.program.passes.fuse_parent import fuse_parent
from bncc.program.passes.fuse_tables import fuse_tables
from bncc.program.pipeline import FLOWS, optimize_each
from bncc.program.ranges import cost_bounds
from bncc.program.verifier import verify
from tests.cut_programs import cut_programs, letter_like, usps_like
from tests.tiers import examples
from tests.unit.lower.by_hand import inputs, margins, program, table

LOW_HIGH = {0: (0, 0, 1, 1), 1: (0, 1, 1, 1)}
OF_TWO = table([0, 1], [[0, 3], [1, 0], [2, 0], [0, 1]], maps=LOW_HIGH)


def n_rows(some):
    return sum(len(each.costs) for each in some.tables)


@given(cut_programs())
@settings(max_examples=examples(40), deadline=None)
def test_every_flow_keeps_margins_and_makes_no_more_rows(some):
    X = inputs(some.n_states, most=200)
    wanted = margins(costs(some, X))
    for after, _ in optimize_each(some, FLOWS):
        assert np.array_equal(margins(costs(after, X)), wanted)
        assert n_rows(after) <= n_rows(some)


@given(cut_programs(max_tables=5))
@settings(max_examples=examples(40), deadline=None)
def test_bounds_are_safe(some):
    every = costs(some, inputs(some.n_states, most=500))
    low, high = cost_bounds(some)
    assert (low <= every).all()
    assert (every <= high).all()


def test_bounds_are_reached_where_tables_cut_a_feature_at_different_states():
    other = table([1, 2], [[0, 5], [4, 0], [0, 0], [0, 7]], maps={1: (0, 0, 0, 1), 2: (0, 1)})
    some = program([4, 4, 2], [0, 0], [OF_TWO, other])
    every = costs(some, inputs(some.n_states))
    assert [bound.tolist() for bound in cost_bounds(some)] == [
        every.min(axis=0).tolist(),
        every.max(axis=0).tolist(),
    ]


def test_many_tables_of_many_states_are_bounded_at_once():
    """Four features of 255 states have four billion joint states."""
    assert verify(usps_like(200, 32)) is None


@pytest.mark.parametrize("family", [looped, planes, columns, packed])
@pytest.mark.parametrize("make", [letter_like, usps_like])
def test_families_that_undo_state_maps_refuse_what_would_explode(family, make):
    assert not can_unmap(make())
    assert list(family(make())) == []


@pytest.mark.parametrize("family", [looped, packed])
def test_they_take_a_few_rows_more(family):
    some = program([4, 4], [0, 0], [OF_TWO])
    assert can_unmap(some)
    assert list(family(some))


@pytest.mark.parametrize("fuse", [fuse_parent, lambda some: fuse_tables(some, 256)])
def test_tables_over_cuts_are_not_fused(fuse):
    """Nor do they stop others from being fused."""
    first, second = table([0], [[0, 1]] * 4), table([0], [[1, 0]] * 4)
    some = program([4, 4], [0, 0], [first, OF_TWO, OF_TWO, second])
    after = fuse(some)
    assert [each for each in after.tables if each.maps] == [OF_TWO, OF_TWO]
    assert len(after.tables) == 3
