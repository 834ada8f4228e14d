"""Optional parts of a model, and their stand-ins."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.discretize.feature import states_of
from bncc.discretize.readings import raw_of_table
from bncc.errors import ModelError
from bncc.lower.request import ENTRIES
from bncc.model.confidence import decided
from bncc.model.counters import MAX_BINS
from bncc.model.filter import Filter, filtered
from bncc.model.model import Model, check_model
from bncc.model.reference import scores
from bncc.model.rules import EXTRAS, RULES, own_entries, rules_of, with_stand_ins
from bncc.resources import FilterForm
from bncc.train.adaptation_choice import adaptations_to_try
from tests.dwelling import dataset, trained
from tests.unknown import ruled


def test_a_rule_is_a_field_of_a_model_and_an_entry_point():
    assert RULES.keys() < EXTRAS.keys() <= ENTRIES
    assert all(extra.field in Model.__dataclass_fields__ for extra in EXTRAS.values())
    assert all(RULES[name].field == name for name in RULES)


@pytest.mark.parametrize("name", EXTRAS)
def test_a_model_without_a_rule_is_refused(name):
    with pytest.raises(ModelError, match="train it with"):
        EXTRAS[name].required(None)


def test_stand_ins_are_valid_and_leave_the_own_rules():
    model = ruled("naive", "int16", "float32")
    full = with_stand_ins(model, EXTRAS)
    check_model(full)
    assert rules_of(model) == ("unknown",)
    assert set(rules_of(full)) == RULES.keys()
    assert own_entries(full) == tuple(EXTRAS)
    assert full.unknown is model.unknown
    assert with_stand_ins(model, ("unknown",)) is model


def test_the_stand_in_of_a_confidence_has_as_many_levels_as_training_chooses():
    plain = replace(trained("tables", 9), filter=None)
    found = with_stand_ins(plain, ("confidence",)).confidence
    assert len(found.margins) == 8
    assert found.least_margin == found.margins[-1] > 0


def test_the_stand_in_of_ranges_has_those_of_every_input():
    plain = replace(ruled("naive", "int16", "float32"), unknown=None)
    found = with_stand_ins(plain, ("unknown",)).unknown
    assert set(found.ranges) == {feature.name for feature in plain.inputs}
    assert set(found.ranges["r0"]) == {None}


def test_the_stand_in_of_counters_counts_what_the_model_rates():
    known = replace(ruled("naive", "int16", "float32"), unknown=None)
    assert with_stand_ins(known, ("counters",)).counters.expected.unknown is None
    assert with_stand_ins(known, ("counters", "unknown")).counters.expected.unknown == 0
    of_tables = with_stand_ins(trained("tables", 9), ("counters",)).counters
    assert len(of_tables.margins) == MAX_BINS


def test_the_stand_in_of_an_adaptation_has_the_most_tables_that_training_tries():
    model = replace(trained("tables", 9), filter=None)
    found = with_stand_ins(model, ("adapt",)).adaptation
    tried = list(adaptations_to_try(model, 16))
    assert found.tables == tried[-1].tables != ()
    assert with_stand_ins(trained("naive", 9), ("adapt",)).adaptation.tables == ()


def test_the_stand_in_of_a_filter_has_the_form_that_is_asked_for():
    plain = replace(trained("naive", 9), filter=None)
    assert with_stand_ins(plain, ("filter",)).filter == Filter(2**15 - 1)
    found = with_stand_ins(plain, ("filter",), FilterForm(2, 3, has_transitions=True))
    check_model(found)
    assert (found.filter.hold, found.filter.lag) == (2, 3)
    assert len(found.filter.transitions) == plain.n_classes
    assert with_stand_ins(found, ("filter",), FilterForm()) is found


def test_rules_decide_as_their_definitions_do():
    rows = dataset()
    model = with_stand_ins(trained("naive", 30), RULES)
    X = states_of(model.features, rows.table)
    S, R = scores(model, X), raw_of_table(model.features, rows.table)
    one = np.zeros(len(S), dtype=np.int64)
    assert np.array_equal(RULES["filter"].decide(model, S, None), filtered(S, one, 30))
    assert np.array_equal(RULES["confidence"].decide(model, S, None), decided(S, model.confidence))
    known = model.unknown.known_class(model.features, R, S)
    assert np.array_equal(RULES["unknown"].decide(model, S, R), known)
