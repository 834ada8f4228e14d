"""The facts of a model, under the keys that the command line promises."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.errors import ModelError
from bncc.fixed_point import QFormat
from bncc.model.card import (
    class_parent_names,
    cycle_note,
    given_names,
    model_facts,
    number_words,
    parent_names,
    recorded_error,
    structure_words,
    table_widths,
)
from bncc.model.training_record import early_end_note, recorded_options, recorded_unseen
from bncc.structure.graph import one_parent_each
from tests import models as hand


def test_facts_of_a_general_network():
    """Entries 3 + 6 + 6 + 2 + 72, parameters 2 + 3 + 4 + 1 + 36, at 5 bits an entry."""
    assert model_facts(hand.general_network()) == {
        "n_features": 4,
        "n_classes": 3,
        "structure": "by hand",
        "parameters": None,
        "q_format": {"int_bits": 5, "frac_bits": 0},
        "table_entries": 89,
        "free_parameters": 46,
        "table_bits": 445,
        "epochs": None,
        "seed": 0,
        "error_train": None,
        "error_validation": None,
        "error_test": None,
        "confusion": None,
        "recall": None,
        "confusion_of": None,
        "error_cross_validation": None,
        "folds": None,
        "error_interval": None,
        "interval_method": None,
    }


def test_a_table_needs_the_bits_of_what_tells_its_classes_apart():
    assert table_widths(hand.general_network()) == [2, 0, 0, 5]


def test_facts_take_errors_from_the_training_record():
    model = replace(hand.ties(), training={"error_test": 0.25, "secret": 1})
    facts = model_facts(model)
    assert facts["error_test"] == 0.25
    assert "secret" not in facts


def test_a_model_trained_without_quantization_has_no_format():
    model = replace(hand.ties(), training={"quantized": False})
    assert model_facts(model)["q_format"] is None


def test_a_cycle_is_told_by_the_names_on_it():
    model = hand.pseudo_tan()
    assert cycle_note(model) == (
        "the arcs form cycles (x0 -> x1 -> x0 is one), so the model is an additive ensemble "
        "and not a Bayesian network: decisions are as accurate as measured, but "
        "probabilities are meaningless"
    )
    pair = replace(model, structure=one_parent_each([1, 0, None, 2, 3, 4]))
    assert cycle_note(pair).startswith("the arcs form a cycle (x0 -> x1 -> x0), so the model is")


def test_a_long_cycle_is_cut_short():
    many = tuple(hand.feature(f"x{i}", 2) for i in range(7))
    short = replace(
        hand.pseudo_tan(), features=many[:6], structure=one_parent_each([5, 0, 1, 2, 3, 4])
    )
    assert "(x0 -> x1 -> x2 -> x3 -> x4 -> x5 -> x0)" in cycle_note(short)
    long = replace(short, features=many, structure=one_parent_each([6, 0, 1, 2, 3, 4, 5]))
    assert "(x0 -> x1 -> x2 -> x3 -> x4 -> ... -> x6 -> x0)" in cycle_note(long)


def test_a_bayesian_network_has_no_such_note():
    assert cycle_note(hand.general_network()) is None


def test_the_folds_of_a_search_are_a_fact_of_its_model_alone():
    plain = hand.naive_integer()
    for folds, known in ((5, {"validation_folds": 5}), ("5", {}), (None, {})):
        model = replace(plain, training={**plain.training, "validation_folds": folds})
        facts = model_facts(model)
        assert {key: facts[key] for key in facts.keys() - model_facts(plain).keys()} == known


def test_an_early_end_is_known_of_interim_models_alone():
    done, early = hand.naive_integer(), {"interim": True, "epochs": 12, "epochs_done": 3}
    stopped = replace(done, training=early)
    assert early_end_note(done) is None
    assert model_facts(stopped).keys() - model_facts(done).keys() == {"interim", "epochs_done"}
    assert early_end_note(stopped) == "stopped early, after 3 of 12 epochs"
    whole = replace(done, training=early | {"epochs_in_all": [15, 24]})
    assert model_facts(whole)["epochs_in_all"] == [15, 24]
    assert early_end_note(whole) == "stopped early, after 15 of 24 epochs in all"
    for wrong in ([25, 24], ["*/", 24], [1], 3):
        forged = replace(done, training=early | {"epochs_in_all": wrong})
        assert early_end_note(forged) == early_end_note(stopped)
        assert "epochs_in_all" not in model_facts(forged)
    first = replace(done, training=early | {"epochs_done": 12})
    assert early_end_note(first) == "stopped early, before training on all rows"
    for tried, words in ((1, "1 candidate"), (3, "3 candidates")):
        searched = replace(done, training={"candidates_tried": tried})
        assert early_end_note(searched) == f"search stopped early, after {words}"
        assert model_facts(searched)["candidates_tried"] == tried
    both = replace(done, training=early | {"candidates_tried": 2})
    assert early_end_note(both) == (
        "search stopped early, after 2 candidates; stopped early, after 3 of 12 epochs"
    )
    forged = replace(done, training={"candidates_tried": "*/"})
    assert early_end_note(forged) is None
    assert "candidates_tried" not in model_facts(forged)


def test_a_sum_of_tables_has_no_parents_and_counts_its_rows():
    model = hand.sum_of_tables()
    facts = model_facts(model)
    assert parent_names(model) == [[], [], [], []]
    assert cycle_note(model) is None
    assert (facts["table_entries"], facts["free_parameters"]) == (18 * 3, 18 * 2)
    assert structure_words(model) == "3 tables over 8 cuts of 3 features"


def test_the_prior_of_a_rare_class_makes_no_table_larger():
    """Tables of 3 bits, 51 entries, and a prior of 3 entries in 7 bits."""
    model = hand.sum_of_tables()
    rare = replace(model, q_format=QFormat(6, 1), prior=np.array([0, 99, 1]))
    facts = model_facts(rare)
    assert facts["q_format"] == {"int_bits": 2, "frac_bits": 1}
    assert (facts["table_bits"], facts["prior_bits"]) == (51 * 3 + 3 * 7, 7)
    assert number_words(rare) == "UQ2.1, 3 bits per cost, 7 in the prior"
    assert number_words(model) == "UQ2.1, 3 bits per cost"
    assert model_facts(model)["table_bits"] == 54 * 3


def test_a_class_with_parents_is_told_in_words_and_names():
    model = hand.class_with_parents()
    assert structure_words(model) == (
        "1 arc between features, 2 parents of the class, 2 given features"
    )
    assert (class_parent_names(model), given_names(model)) == (["far", "above"], ["beside", "far"])
    # class: 4 rows of 2; above: 2; below: 6 rows of 2
    assert model_facts(model)["table_entries"] == 8 + 2 + 12
    for other in (hand.sum_of_tables(), hand.general_network()):
        assert class_parent_names(other) == given_names(other) == []


def test_options_and_unseen_classes_are_facts_where_a_record_is_sound():
    """A model file can hold any record."""
    model = hand.naive_integer()
    record = {
        "options": ["--bits", "3"],
        "unseen_classes": {"validation": ["a"], "test": [], "x": 1},
    }
    facts = model_facts(replace(model, training={**model.training, **record}))
    assert facts["unseen_classes"] == {"validation": ["a"]}
    assert recorded_options(record) == ["--bits", "3"]
    for words in ([], [3], "--bits", None):
        assert recorded_options({"options": words}) is None
    for other in ({}, {"validation": [1]}, ["a"], None):
        assert recorded_unseen({"unseen_classes": other}) == {}
    assert "unseen_classes" not in model_facts(model)


def test_an_error_that_is_no_fraction_is_shown_in_part():
    model = replace(hand.ties(), training={"error_test": "9" * 500})
    with pytest.raises(
        ModelError, match=r"contains \"9{10,100}\.\.\. as its error_test"
    ) as refusal:
        recorded_error(model, "error_test")
    assert len(str(refusal.value)) < 250
