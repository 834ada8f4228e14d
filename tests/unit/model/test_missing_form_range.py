"""Bounds of values during marginalization, compared with all values that occur."""

from itertools import product

import pytest

from bncc.fixed_point import QFormat
from bncc.model.missing_form import Range, missing_range
from tests.missing_oracle import Oracle, drawn_model
from tests.models import all_zero, general_network, saturated

MODELS = {
    "chain": drawn_model([None, 0, 1], [3, 2, 2], QFormat(2, 1)),
    "star": drawn_model([None, 0, 0, 0], [3, 2, 2, 1], QFormat(4, 0), seed=1),
    "fine": drawn_model([None, 0, 1], [3, 2, 2], QFormat(2, 10), seed=2),
    "naive": drawn_model([None] * 3, [3, 2, 2], QFormat(4, 0), seed=3),
    "saturated": saturated(),
    "zero": all_zero(),
    "network": general_network(),
    "class with parents": drawn_model(
        None, [2, 3, 2, 2], QFormat(3, 1), parents=[(), (0,), (), (1,)],
        of_class=[False, False, False, True], above=(2, 1), seed=4,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_no_number_lies_beyond(name):
    model = MODELS[name]
    oracle = Oracle(model)
    for x in product(*([None, *range(n)] for n in model.n_states)):
        oracle.costs(x)
    bounds = missing_range(model)
    assert bounds.low <= min(oracle.seen) <= max(oracle.seen) <= bounds.high


def test_bounds_of_naive_bayes_are_its_least_and_largest_sum():
    assert missing_range(all_zero()) == Range(0, 0)
    model = MODELS["naive"]
    largest = max(model.prior + sum(table.max(axis=0) for table in model.tables))
    assert missing_range(model) == Range(0, largest)


def test_a_type_holds_differences_too():
    assert Range(-100, 32667).fits(16)
    assert not Range(-101, 32667).fits(16)
    assert Range(-101, 32667).fits(32)
