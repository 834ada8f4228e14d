"""Test vectors with missing features: right, reproducible, only for C that sums them out."""

import re

import numpy as np
import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.vectors import drawn_missing, drawn_vectors
from bncc.fixed_point import QFormat
from bncc.model.missing import predict
from tests import models as hand
from tests.missing_oracle import drawn_model

MODELS = ("naive_integer", "tan_float", "general_network", "wide_states")


def files_of(model, *entries):
    return emit_c(model, EmitOptions("m", frozenset(entries))).files


def numbers(text, array):
    """Return the constants of an array."""
    found = re.search(rf"m_vector_{array}\[(\d+)\][^{{]*\{{(.*?)\}};", text, re.DOTALL)
    assert found is not None
    constants = [int(word) for word in re.findall(r"(\d+)U", found[2])]
    assert len(constants) == int(found[1])
    return constants


@pytest.mark.parametrize("name", MODELS)
def test_answers_are_those_of_python(name):
    model = hand.NAMED[name]()
    vectors = drawn_vectors(model)
    drawn = drawn_missing(model, vectors)
    assert drawn.is_missing.shape == vectors.states.shape
    assert drawn.classes.tolist() == predict(model, vectors.states, drawn.is_missing).tolist()


def test_the_first_has_nothing_and_the_others_their_shares():
    model = drawn_model([None] * 40, [2] * 40, QFormat(3, 1))
    is_missing = drawn_missing(model, drawn_vectors(model, 255)).is_missing
    assert is_missing[0].all()
    found = [is_missing[k::3].mean() for k in range(3, 6)]
    assert np.allclose(found, [0.1, 0.3, 0.5], atol=0.03)


def test_the_same_model_gives_the_same_ones():
    first, second = (drawn_missing(hand.tan_float(), drawn_vectors(hand.tan_float())) for _ in "ab")
    assert first.is_missing.tolist() == second.is_missing.tolist()


def test_one_vector_is_enough():
    model = hand.tan_float()
    assert drawn_missing(model, drawn_vectors(model, 1)).is_missing.all()


@pytest.mark.parametrize("n", [8, 9])
def test_bits_are_those_of_the_interface(n):
    """Bit i % 8 of byte i / 8 is feature i."""
    model = drawn_model([None] * n, [2] * n, QFormat(3, 1))
    text = files_of(model, "missing")["m_vectors.h"]
    drawn = drawn_missing(model, drawn_vectors(model))
    n_bytes = (n + 7) // 8
    found = np.reshape(numbers(text, "gaps"), (-1, n_bytes))
    expected = [
        [sum(int(row[i]) << i % 8 for i in range(n) if i // 8 == b) for b in range(n_bytes)]
        for row in drawn.is_missing
    ]
    assert found.tolist() == expected
    assert numbers(text, "gap_classes") == drawn.classes.tolist()


def test_without_the_entry_point_there_are_none():
    files = files_of(hand.tan_float())
    assert not any("gap" in files[file] for file in ("m_vectors.h", "m_selftest.c"))


def test_without_readings_only_states_are_decided():
    assert "m_predict_raw_missing" not in files_of(hand.wide_states(), "missing")["m_selftest.c"]
    assert "m_predict_raw_missing" in files_of(hand.tan_float(), "missing")["m_selftest.c"]
