"""Cost of networks, computed by hand."""

import pytest

from bncc.baselines.plan import Form, Layer, NetworkPlan, Task, plan_of, plan_within
from bncc.errors import OptionError

TASK = Task((3, 2, 4, 3), 5)


def test_a_dense_network_counts_as_in_the_paper():
    """Weights at B bits, 64 bits a normalized unit, 32 a bias; a product is one operation."""
    plan = plan_of(TASK, Form(3, 2, "relu", True), 7)
    assert [(layer.n_in, layer.n_out) for layer in plan.layers] == [(4, 7), (7, 7), (7, 5)]
    assert plan.n_weights == 28 + 49 + 35
    assert plan.parameter_bits == 2 * 112 + 64 * 14 + 32 * 5
    assert plan.operations == 112 + 14 + 5


def test_without_normalization_units_cost_nothing():
    plan = plan_of(TASK, Form(2, 8, "sign", False), 3)
    assert plan.parameter_bits == 8 * (12 + 15) + 32 * 5
    assert plan.operations == 27 + 5


def test_one_hot_inputs_add_a_weight_a_feature():
    """All states have weights; those of one state per feature are added."""
    plan = plan_of(TASK, Form(2, 1, "relu", False, is_one_hot=True), 6)
    assert plan.layers[0] == Layer(12, 6)
    assert plan.parameter_bits == 12 * 6 + 6 * 5 + 32 * 5
    assert plan.operations == 4 * 6 + 6 * 5 + 5
    assert plan.family == "dnn-one-hot"


def test_a_convolutional_network_counts_every_position():
    """8 x 8 pixels, then 4 x 4, then 2 x 2 after the second pooling."""
    plan = plan_of(Task((2,) * 64, 3), Form(2, 4, "relu", True, is_convolutional=True), 2)
    assert plan.layers == (Layer(1, 2, 8), Layer(2, 4, 4), Layer(16, 3))
    assert plan.n_weights == 9 * 2 + 9 * 2 * 4 + 16 * 3
    assert plan.operations == 64 * 18 + 16 * 72 + 48 + (64 * 2 + 16 * 4) + 3
    assert plan.family == "cnn"


@pytest.mark.parametrize("limit", [500, 2000, 20000])
@pytest.mark.parametrize("depth", [2, 3, 5])
def test_one_unit_less_is_within_the_budget_and_one_more_beyond(depth, limit):
    """The exact number of units is rounded."""
    form = Form(depth, 3, "relu", True)
    plan = plan_within(TASK, form, lambda plan: plan.parameter_bits, limit)
    units = plan.layers[0].n_out
    assert units == 1 or plan_of(TASK, form, units - 1).parameter_bits <= limit
    assert plan_of(TASK, form, units + 1).parameter_bits > limit


def test_the_budget_may_be_one_of_operations():
    task = Task((3,) * 256, 10)
    form = Form(1, 3, "relu", True, is_convolutional=True)
    plan = plan_within(task, form, lambda plan: plan.operations, 8 * 2570)
    assert plan.layers[0].n_out == 6
    assert abs(plan.operations - 8 * 2570) < 0.5 * 2304 + 640


def test_no_budget_is_too_small_for_one_unit():
    plan = plan_within(TASK, Form(2, 8, "relu", True), lambda plan: plan.parameter_bits, 1)
    assert plan.layers[0].n_out == 1


def test_features_that_are_no_image_are_not_convolved():
    with pytest.raises(OptionError, match="no square image"):
        plan_of(Task((2,) * 15, 3), Form(1, 4, "relu", True, is_convolutional=True), 2)


def test_plans_are_values():
    assert plan_of(TASK, Form(2, 2, "relu", True), 3) == plan_of(TASK, Form(2, 2, "relu", True), 3)
    assert isinstance(plan_of(TASK, Form(2, 2, "relu", True), 3), NetworkPlan)
