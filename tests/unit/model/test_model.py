"""An inconsistent model is refused before anything uses it."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from bncc.discretize.feature import Feature
from bncc.errors import ModelError
from bncc.model import model as module
from bncc.model.model import check_model
from bncc.structure.graph import forest
from tests import models as hand
from tests.strategies import models

GOOD = hand.general_network()


@pytest.mark.parametrize("name", hand.NAMED)
def test_hand_built_models_are_whole(name):
    assert check_model(hand.NAMED[name]()) is None


@given(models())
def test_drawn_models_are_whole(model):
    assert check_model(model) is None


def test_counts_follow_from_the_parts():
    assert (GOOD.n_features, GOOD.n_classes, GOOD.n_states) == (4, 3, (2, 3, 2, 2))


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_model_can_be_copied_and_sent_to_another_process(clone):
    twin = clone(GOOD)
    assert (twin.features, twin.structure, twin.training) == (
        GOOD.features,
        GOOD.structure,
        GOOD.training,
    )
    assert twin.tables[3].tolist() == GOOD.tables[3].tolist()


def test_the_training_record_cannot_be_changed():
    record = {"seed": 1}
    model = replace(GOOD, training=record)
    record["seed"] = 2
    assert model.training["seed"] == 1
    with pytest.raises(TypeError):
        model.training["seed"] = 3


def _tables(i, table):
    tables = list(GOOD.tables)
    tables[i] = np.array(table)
    return tuple(tables)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"features": ()}, "has 0 features"),
        ({"features": (Feature("x", "state", 0), *GOOD.features[1:])}, "0 states"),
        ({"features": (GOOD.features[1], *GOOD.features[1:])}, "same name"),
        ({"classes": ("one",)}, "has 1 classes"),
        ({"classes": ("a", "b", "a")}, "same label"),
        ({"classes": ("a", "b", "\udc00")}, "not valid Unicode"),
        ({"structure": forest([None] * 3)}, "disagree in the number of features"),
        ({"tables": GOOD.tables[:3]}, "disagree in the number of features"),
        ({"prior": np.zeros(2, dtype=np.int64)}, "one cost per class"),
        ({"prior": np.array([0, 0, 32])}, "outside UQ5"),
        ({"prior": np.array([0, 0, -1])}, "outside UQ5"),
        ({"tables": _tables(0, [[0, 0, 0]])}, r"table 0 has shape \(1, 3\)"),
        ({"tables": _tables(0, [[0, 0, 32], [0, 0, 0]])}, "outside UQ5"),
        ({"tables": _tables(2, [[4, 4, 4], [9, 9, 8]])}, "table 2 depends on the class"),
    ],
)
def test_a_model_with_one_wrong_part_is_refused(part, message):
    with pytest.raises(ModelError, match=message):
        check_model(replace(GOOD, **part))


def test_too_many_features_classes_or_entries_are_refused(monkeypatch):
    for limit, bound in [("MAX_FEATURES", 3), ("MAX_CLASSES", 2), ("MAX_TABLE_ENTRIES", 100)]:
        with monkeypatch.context() as patch:
            patch.setattr(module, limit, bound)
            with pytest.raises(ModelError, match=f"{bound}"):
                check_model(GOOD)


def test_a_sum_has_a_table_for_each_grid():
    whole = hand.sum_of_tables()
    with pytest.raises(ModelError, match="disagree in the number of tables"):
        check_model(replace(whole, tables=whole.tables[:2]))
    with pytest.raises(ModelError, match=r"table 0 has shape \(3, 3\); its cuts ask for \(6, 3\)"):
        check_model(replace(whole, tables=(whole.tables[1], *whole.tables[1:])))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"prior": np.array([0, 1])}, "class has parents and a prior"),
        ({"tables": hand.class_with_parents().tables[:-1]}, "disagree in the number of features"),
    ],
)
def test_a_class_with_parents_has_a_table_and_no_prior(change, words):
    with pytest.raises(ModelError, match=words):
        check_model(replace(hand.class_with_parents(), **change))


def test_a_given_feature_has_no_costs():
    model = hand.class_with_parents()
    tables = (*model.tables[:3], np.ones((2, 2), dtype=np.int64), model.tables[4])
    with pytest.raises(ModelError, match="table 3 holds a cost, and its feature is given"):
        check_model(replace(model, tables=tables))
