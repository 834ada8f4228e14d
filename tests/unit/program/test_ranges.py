"""Range analysis: bounds that some input reaches, or safe ones where that is too expensive."""

from math import prod
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bncc.program import ranges
from bncc.program.ir import costs
from bncc.program.pipeline import program_of
from bncc.program.ranges import cost_bounds, largest_cost
from tests import models as hand
from tests.strategies import models
from tests.tiers import examples
from tests.unit.lower.by_hand import inputs, program, table


@pytest.mark.parametrize("name", hand.NAMED)
def test_bounds_are_reached(name):
    some = program_of(hand.NAMED[name]())
    if prod(some.n_states) > 10**4:
        pytest.skip("more joint states than are tried here")
    every = costs(some, inputs(some.n_states, most=10**4))
    low, high = cost_bounds(some)
    assert low.tolist() == every.min(axis=0).tolist()
    assert high.tolist() == every.max(axis=0).tolist()
    assert largest_cost(some) == every.max()


@given(models(max_features=5))
@settings(max_examples=examples(150))
def test_bounds_are_reached_in_random_networks(model):
    some = program_of(model)
    every = costs(some, inputs(some.n_states, most=10**5))
    assert [b.tolist() for b in cost_bounds(some)] == [
        every.min(axis=0).tolist(),
        every.max(axis=0).tolist(),
    ]


@given(model=models(max_features=5), most=st.integers(0, 64))
@settings(max_examples=examples(80))
def test_bounds_are_safe_when_no_large_table_may_be_made(model, most):
    """Interval arithmetic takes over; hypothesis chooses after how many eliminations."""
    some = program_of(model)
    every = costs(some, inputs(some.n_states, most=10**5))
    with patch.object(ranges, "MOST_ENTRIES", most):
        low, high = cost_bounds(some)
    assert (low <= every).all()
    assert (every <= high).all()


def test_two_tables_of_one_feature_are_bounded_together():
    opposed = program([2], [0, 0], [table([0], [[0, 9], [1, 0]]), table([0], [[0, 0], [2, 9]])])
    assert [bound.tolist() for bound in cost_bounds(opposed)] == [[0, 9], [3, 9]]


def test_intervals_bound_them_one_by_one(monkeypatch):
    monkeypatch.setattr(ranges, "MOST_ENTRIES", 0)
    opposed = program([2], [0, 0], [table([0], [[0, 9], [1, 0]]), table([0], [[0, 0], [2, 9]])])
    assert [bound.tolist() for bound in cost_bounds(opposed)] == [[0, 0], [3, 18]]


def test_a_chain_of_hundreds_of_features_takes_no_time():
    """Elimination leaves one feature at a time: 3 states, not 3 ** 400."""
    rng = np.random.default_rng(0)
    tables = [table([0], rng.integers(0, 9, (3, 2)))]
    tables += [table([f, f + 1], rng.integers(0, 9, (9, 2))) for f in range(399)]
    chain = program([3] * 400, [0, 0], tables)
    best = np.asarray(tables[0].costs)
    for step in tables[1:]:
        best = (best[:, None] + step.costs.reshape(3, 3, 2)).max(axis=0)
    assert cost_bounds(chain)[1].tolist() == best.max(axis=0).tolist()


def test_a_ring_of_hundreds_of_features_is_bounded_exactly():
    """For each state of feature 0 the rest is a chain: 3 chains, not 3 ** 300 joint states."""
    rng = np.random.default_rng(0)
    n = 300
    tables = [table([f, (f + 1) % n], rng.integers(0, 9, (9, 2))) for f in range(n)]
    steps = [t.costs.reshape(3, 3, 2) for t in tables]
    best = steps[0]
    for step in steps[1:]:
        best = (best[:, :, None] + step[None]).max(axis=1)
    around = best.diagonal().max(axis=1)
    assert cost_bounds(program([3] * n, [0, 0], tables))[1].tolist() == around.tolist()


@pytest.mark.parametrize("largest", [255, 256, 65535, 65536, 2**32])
def test_the_largest_sum_is_exact_at_the_edges_of_widths(largest):
    half = largest // 2
    tables = [table([0], [[1, half], [0, 0]]), table([1], [[1, largest - half], [0, 0]])]
    assert largest_cost(program([2, 2], [0, 0], tables)) == largest


def test_state_maps_are_followed_exactly():
    mapped = table([0], [[0, 9], [5, 1]], maps={0: (0, 1, 1)})
    other = table([0], [[0, 1], [0, 2], [7, 0]])
    assert [b.tolist() for b in cost_bounds(program([3], [0, 0], [mapped, other]))] == [
        [0, 1],
        [12, 10],
    ]


def test_the_prior_counts():
    some = program([1], [7, 0], [table([0], [[1, 3]])])
    assert largest_cost(some) == 8
    assert [bound.tolist() for bound in cost_bounds(some)] == [[8, 3], [8, 3]]


def test_bounds_do_not_write_into_the_prior():
    some = program([1], [7, 0], [table([0], [[1, 3]])])
    cost_bounds(some)
    assert some.prior.tolist() == [7, 0]
