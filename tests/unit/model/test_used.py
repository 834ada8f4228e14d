"""Models without the features that no table reads: the same decisions and margins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.fixed_point import QFormat
from bncc.model.model import check_model
from bncc.model.reference import predict, scores
from bncc.model.used import used_features, with_used_inputs
from bncc.structure.graph import forest
from tests import models as hand
from tests.ranged import ranged
from tests.strategies import idle_models, models, states


@given(idle_models(), st.data())
def test_decisions_and_margins_stay(model, data):
    smaller = with_used_inputs(model)
    check_model(smaller)
    kept = used_features(model) or (0,)
    assert [feature.name for feature in smaller.features] == [model.features[f].name for f in kept]
    X = data.draw(states(model))
    assert predict(smaller, X[:, kept]).tolist() == predict(model, X).tolist()
    assert scores(smaller, X[:, kept]).tolist() == scores(model, X).tolist()


@given(models())
def test_nothing_is_left_out_of_the_smaller_model(model):
    smaller = with_used_inputs(model)
    assert with_used_inputs(smaller) is smaller


@pytest.mark.parametrize("name", ["naive_integer", "tan_float", "int8_readings"])
def test_a_model_that_uses_all_features_is_the_same(name):
    model = hand.NAMED[name]()
    assert with_used_inputs(model) is model


def test_a_feature_of_no_table_goes_with_its_range():
    model = ranged(hand.sum_of_tables())
    smaller = with_used_inputs(model)
    assert [feature.name for feature in smaller.features] == ["hall", "volt", "mode"]
    assert smaller.training["readings"].keys() == {"hall", "volt"}
    assert smaller.structure == model.structure


def test_the_parent_of_a_table_that_tells_no_classes_apart_goes():
    """x0 is the parent of x1, whose table is the same for both classes; x1 is a parent of x2."""
    model = hand.model_of(
        [hand.feature(f"x{i}", 2) for i in range(3)],
        forest([None, 0, 1]),
        QFormat(4, 0),
        [0, 3],
        [[[1, 1], [4, 4]], [[1, 1], [2, 2], [5, 5], [0, 0]], [[0, 9], [9, 0], [3, 5], [7, 1]]],
    )
    smaller = with_used_inputs(model)
    assert [feature.name for feature in smaller.features] == ["x1", "x2"]
    assert smaller.structure.parents == ((), (0,))
    assert not smaller.tables[0].any()


def test_one_input_remains_where_none_is_used():
    smaller = with_used_inputs(hand.ties())
    assert [feature.name for feature in smaller.features] == ["a"]


@pytest.mark.parametrize(("costs", "used"), [([0, 3], (1,)), ([0, 4], (0, 1))])
def test_a_table_that_no_input_changes_stays_if_the_prior_has_no_room(costs, used):
    """The largest cost of four bits is 15, and the prior has 12."""
    model = hand.model_of(
        [hand.feature("x0", 2), hand.feature("x1", 2)],
        forest([None, None]),
        QFormat(4, 0),
        [0, 12],
        [[costs, costs], [[0, 9], [9, 0]]],
    )
    assert used_features(model) == used
