"""Range analysis: bounds that are exact where features are independent, and safe everywhere."""

import pytest
from hypothesis import given, settings

from bncc.compiler.importer import program_of
from bncc.compiler.interpreter import costs
from bncc.compiler.ranges import cost_bounds, largest_cost
from tests import models as hand
from tests.strategies import models
from tests.unit.compiler.by_hand import inputs, program, table


@pytest.mark.parametrize("name", ["naive_integer", "ties", "wide_states", "hostile_names"])
def test_bounds_are_exact_when_every_feature_is_read_once(name):
    some = program_of(hand.NAMED[name]())
    every = costs(some, inputs(some.n_states, most=10**4))
    if all(len(t.features) == 1 for t in some.tables):
        low, high = cost_bounds(some)
        assert low.tolist() == every.min(axis=0).tolist()
        assert high.tolist() == every.max(axis=0).tolist()


@given(models(max_features=4))
@settings(max_examples=80)
def test_bounds_contain_every_cost_and_touch_them_for_naive_programs(model):
    some = program_of(model)
    every = costs(some, inputs(some.n_states, most=10**4))
    low, high = cost_bounds(some)
    assert (low <= every).all()
    assert (every <= high).all()
    if all(len(t.features) == 1 for t in some.tables):
        assert low.tolist() == every.min(axis=0).tolist()
        assert high.tolist() == every.max(axis=0).tolist()


def test_bounds_may_be_wider_when_two_tables_read_one_feature():
    opposed = program([2], [0, 0], [table([0], [[0, 9], [1, 0]]), table([0], [[0, 0], [2, 9]])])
    assert costs(opposed, inputs([2])).max(axis=0).tolist() == [3, 9]
    assert [bound.tolist() for bound in cost_bounds(opposed)] == [[0, 0], [3, 18]]


@pytest.mark.parametrize("largest", [255, 256, 65535, 65536, 2**32])
def test_the_largest_sum_is_exact_at_the_edges_of_widths(largest):
    half = largest // 2
    tables = [table([0], [[1, half], [0, 0]]), table([1], [[1, largest - half], [0, 0]])]
    assert largest_cost(program([2, 2], [0, 0], tables)) == largest


def test_the_prior_counts():
    some = program([1], [7, 0], [table([0], [[1, 3]])])
    assert largest_cost(some) == 8
    assert [bound.tolist() for bound in cost_bounds(some)] == [[8, 3], [8, 3]]


def test_bounds_do_not_write_into_the_prior():
    some = program([1], [7, 0], [table([0], [[1, 3]])])
    cost_bounds(some)
    assert some.prior.tolist() == [7, 0]
