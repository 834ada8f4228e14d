"""A feature whose rule Python and C could read differently is refused."""

import pytest
from hypothesis import given

from bncc.discretize.feature import Feature
from bncc.errors import ModelError
from bncc.model.model import (
    MAX_MAPPED_STATES,
    MAX_STATES,
    check_feature,
    check_grids,
    check_text,
)
from bncc.structure.decision_tables import DecisionTable, TableEnsemble
from tests.strategies import features

INT16 = {"kind": "int16", "n_states": 3, "thresholds": (1, 2)}
INT8 = {"kind": "int8", "n_states": 3, "thresholds": (-128, 127)}
UINT8 = {"kind": "uint8", "n_states": 3, "thresholds": (0, 255)}
INT32 = {"kind": "int32", "n_states": 3, "thresholds": (1, 2)}
FLOAT32 = {"kind": "float32", "n_states": 3, "thresholds": (0.5, 1.5)}
CATEGORY = {"kind": "category", "n_states": 2, "categories": ("a", "b")}
STATE = {"kind": "state", "n_states": 4}


@pytest.mark.parametrize("good", [INT8, UINT8, INT16, INT32, FLOAT32, CATEGORY, STATE])
def test_sound_features_pass(good):
    assert check_feature(Feature("x", **good)) is None


@given(features("x"))
def test_every_drawn_feature_passes(feature):
    assert check_feature(feature) is None


@pytest.mark.parametrize("good", [INT8, INT16, FLOAT32, CATEGORY])
def test_missing_readings_may_have_the_last_state_for_themselves(good):
    n_states = good["n_states"] + 1
    check_feature(Feature("x", **{**good, "n_states": n_states, "missing_state": n_states - 1}))
    with pytest.raises(ModelError, match="its rule needs"):
        check_feature(Feature("x", **{**good, "n_states": n_states, "missing_state": 0}))


@pytest.mark.parametrize(
    ("good", "bad", "message"),
    [
        (STATE, {"n_states": 0}, "0 states"),
        (STATE, {"n_states": MAX_STATES + 1}, "65536 states"),
        (STATE, {"missing_state": 4}, "falls back to state 4"),
        (STATE, {"missing_state": -1}, "falls back to state -1"),
        (STATE, {"kind": "int64"}, "unknown kind 'int64'"),
        (STATE, {"thresholds": (1,)}, "cannot have thresholds"),
        (CATEGORY, {"thresholds": (1,)}, "cannot have thresholds"),
        (STATE, {"categories": ("a",)}, "cannot have categories"),
        (INT16, {"categories": ("a",)}, "cannot have categories"),
        (CATEGORY, {"categories": ("a", "a")}, "category twice"),
        (CATEGORY, {"n_states": 1}, "needs 2"),
        (INT16, {"n_states": 5, "missing_state": 4}, "needs 3"),
        (INT8, {"thresholds": (-129, 1)}, "outside its integer type"),
        (INT8, {"thresholds": (1, 128)}, "outside its integer type"),
        (UINT8, {"thresholds": (-1, 1)}, "outside its integer type"),
        (UINT8, {"thresholds": (1, 256)}, "outside its integer type"),
        (UINT8, {"n_states": 4, "missing_state": 3}, "has no value for a missing reading"),
        (INT16, {"thresholds": (2, 1)}, "are not strictly increasing"),
        (INT16, {"thresholds": (1, 1)}, "are not strictly increasing"),
        (FLOAT32, {"thresholds": (1.5, 1.5)}, "are not strictly increasing"),
        (INT16, {"thresholds": (1, 2**15)}, "threshold 32768"),
        (INT16, {"thresholds": (-(2**15) - 1, 2)}, "threshold -32769"),
        (INT32, {"thresholds": (1, 2**31)}, "outside its integer type"),
        (INT32, {"thresholds": (1, 2.0)}, "threshold 2.0"),
        (INT16, {"thresholds": (False, True)}, "threshold False"),
        (FLOAT32, {"thresholds": (0.1, 1.5)}, "not a float32 value"),
        (FLOAT32, {"thresholds": (1, 2.0)}, "threshold 1,"),
        (FLOAT32, {"thresholds": (-0.0, 1.0)}, "threshold -0.0"),
        (FLOAT32, {"thresholds": (0.5, float("inf"))}, "threshold inf"),
        (FLOAT32, {"thresholds": (0.5, float("nan"))}, "threshold nan"),
        (FLOAT32, {"thresholds": (0.5, 1e300)}, r"threshold 1e\+300"),
        (CATEGORY, {"categories": ("a", "\ud800")}, "not valid Unicode"),
    ],
)
def test_unsound_features_are_refused_by_name(good, bad, message):
    with pytest.raises(ModelError, match=message):
        check_feature(Feature("x", **{**good, **bad}))


@pytest.mark.parametrize("text", ["", "\x00", "\ud7ff\ue000", "\U0001f600"])
def test_any_text_that_utf_8_can_write_is_a_name(text):
    assert check_text(text) is None


@pytest.mark.parametrize("text", ["\ud800", "a\udfff"])
def test_half_a_surrogate_pair_is_no_name(text):
    with pytest.raises(ModelError, match="not valid Unicode"):
        check_text(text)


def test_sums_that_read_too_many_states_are_refused_before_levels_are_made():
    n_tables = MAX_MAPPED_STATES // MAX_STATES + 1
    many = TableEnsemble((DecisionTable((0,), ((5,),)),) * n_tables)
    check_grids(TableEnsemble(many.tables[1:]), [MAX_STATES])
    with pytest.raises(ModelError, match="fewer tables, or with columns of fewer states"):
        check_grids(many, [MAX_STATES])


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ((), "the model's ensemble has no table"),
        ((DecisionTable((), ()),), "table 0 does not read each feature once"),
        ((DecisionTable((0, 0), ((0,), (1,))),), "table 0 does not read each feature once"),
        ((DecisionTable((0, 1), ((0,),)),), "table 0 does not read each feature once"),
        (
            (DecisionTable((0,), ((0,),)), DecisionTable((2,), ((0,),))),
            "table 1 reads feature 2, which does not exist",
        ),
        ((DecisionTable((-1,), ((0,),)),), "reads feature -1, which does not exist"),
        ((DecisionTable((0,), ((),)),), "cuts feature 0 not between ascending states"),
        ((DecisionTable((0,), ((1, 1),)),), "cuts feature 0 not between ascending states"),
        ((DecisionTable((0,), ((2,),)),), "cuts feature 0 not between ascending states"),
        ((DecisionTable((0,), ((-1,),)),), "cuts feature 0 not between ascending states"),
    ],
)
def test_an_unsound_grid_is_refused(tables, message):
    check_grids(TableEnsemble((DecisionTable((0, 1), ((0, 1), (0,))),)), (3, 2))
    with pytest.raises(ModelError, match=message):
        check_grids(TableEnsemble(tables), (3, 2))
