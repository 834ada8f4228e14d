"""A front in a model: recognized by its costs, and described apart from the tables behind it."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.model.card import (
    cost_format,
    front_words,
    model_facts,
    number_words,
    structure_words,
    table_widths,
)
from bncc.model.file import from_bytes, to_bytes
from bncc.model.front import UNSURE, front_facts, front_of
from bncc.model.model import check_model
from bncc.model.reference import predict
from bncc.model.used import with_used_inputs
from bncc.structure.decision_tables import TableEnsemble
from tests import models as hand

MODEL = hand.sum_with_front()
PLAIN = hand.sum_of_tables()


def changed(row, costs):
    """Return the model with another row of its front."""
    front = MODEL.tables[0].copy()
    front[row] = costs
    return replace(MODEL, tables=(front, *MODEL.tables[1:]))


def test_sure_leaves_decide_and_tables_elsewhere():
    check_model(MODEL)
    X = hand.all_states(MODEL)
    front = front_of(MODEL)
    assert front.decisions.tolist() == [1, UNSURE, 2]
    assert front.n_sure == 2
    found = front.decisions[front.tree.rows(X)]
    wanted = np.where(found == UNSURE, predict(PLAIN, X), found)
    assert np.array_equal(predict(MODEL, X), wanted)
    assert (wanted != predict(PLAIN, X)).any()


def test_the_largest_cost_must_outweigh_all_others():
    most = int(MODEL.tables[0].max())
    assert front_of(changed(0, [most, 0, most])) is not None
    assert front_of(changed(0, [most, 0, most - 1])) is None
    assert front_of(changed(0, [most, most, most])) is None
    assert front_of(changed(0, [most, 0, 0])) is None
    assert front_of(changed(0, [0, 0, 0])).n_sure == 1
    zeros = replace(MODEL, tables=(MODEL.tables[0] * 0, *MODEL.tables[1:]))
    assert front_of(zeros) is None
    heavier = replace(MODEL, prior=MODEL.prior + 1)
    assert front_of(heavier) is None


def test_other_models_have_none():
    alone = TableEnsemble(MODEL.structure.tables[:1])
    assert front_of(replace(MODEL, structure=alone, tables=MODEL.tables[:1])) is None
    for model in (PLAIN, hand.trees_of_sensors(3, 2), hand.tan_float()):
        assert front_of(model) is None
        assert front_facts(model) is None
        assert "sure_front" not in model_facts(model)


def test_a_file_keeps_it():
    again = from_bytes(to_bytes(MODEL), "m")
    assert again.structure == MODEL.structure
    assert front_of(again).decisions.tolist() == [1, UNSURE, 2]
    assert front_facts(again) == front_facts(MODEL)


def test_an_unused_input_does_not_change_it():
    smaller = with_used_inputs(MODEL)
    assert smaller.n_features == 3
    assert front_of(smaller).n_sure == 2


def test_it_is_described_apart_from_the_tables():
    assert structure_words(MODEL) == (
        f"front of 3 leaves, 2 of them sure; {structure_words(PLAIN)}"
    )
    assert cost_format(MODEL) == cost_format(PLAIN)
    assert number_words(MODEL) == number_words(PLAIN)
    assert table_widths(MODEL)[1:] == table_widths(PLAIN)
    facts = model_facts(MODEL)
    assert {**facts, "sure_front": None} == {**model_facts(PLAIN), "sure_front": None}
    assert facts["sure_front"] == {"leaves": 3, "sure": 2, "answers": 0.5, "differing": 0.0025}
    assert front_words(facts) == (
        "sure leaves decide 50.0 % of the training rows, and 0.25 % of all rows differently than "
        "the tables (cross-validated)"
    )


@pytest.mark.parametrize("record", [None, [], {}, {"answers": "many", "differing": 2}])
def test_a_strange_record_is_no_fact(record):
    model = replace(MODEL, training={"front": record})
    facts = model_facts(model)
    assert facts["sure_front"] == {"leaves": 3, "sure": 2, "answers": None, "differing": None}
    assert front_words(facts) is None
