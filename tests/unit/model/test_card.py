"""The facts of a model, under the keys that the command line promises."""

from dataclasses import replace

from bncc.model.card import model_facts
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
    }


def test_facts_take_errors_from_the_training_record():
    model = replace(hand.ties(), training={"error_test": 0.25, "secret": 1})
    facts = model_facts(model)
    assert facts["error_test"] == 0.25
    assert "secret" not in facts


def test_a_model_trained_without_quantization_has_no_format():
    model = replace(hand.ties(), training={"quantized": False})
    assert model_facts(model)["q_format"] is None
