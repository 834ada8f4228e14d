"""Vectors as C: constants that are exactly the readings."""

import re

import numpy as np
import pytest

from bncc.discretize.feature import Feature
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.vector_text import _literal, vector_text
from bncc.emit.vectors import Vectors, drawn_vectors
from tests import models as hand
from tests.agreement.large import mixed_kinds


def text_of(model, entries=frozenset(), vectors=None):
    """Return the text of a model's vectors, drawn if none are given."""
    layout = emit_c(model, EmitOptions("m", entries)).layout
    return vector_text(model, vectors or drawn_vectors(model), layout)


def test_one_line_of_states_per_vector_and_a_count_of_both():
    text = text_of(hand.naive_integer())
    assert (text.n_vectors, text.n_states, text.n_readings) == (32, 64, 64)
    assert len(text.states) == len(text.readings) == 32
    assert text.states[:2] == ("0U, 0U,", "2U, 1U,")
    assert text.readings[2] == "INT16_MIN, INT16_MIN,"
    assert text.index_type == "uint16_t"
    assert text.array_bytes == (64, 32, 2, 128)


def test_readings_are_there_where_the_model_takes_them():
    assert text_of(hand.ties()).readings == ()
    assert text_of(hand.ties(), frozenset({"raw"})).readings[:2] == ("0U, 0U,", "1U, 2U,")


def test_structs_keep_their_braces():
    text = text_of(mixed_kinds())
    n = text.n_vectors
    assert text.n_readings == n
    assert text.readings[2] == "{ INT16_MIN, 255U, M_VECTORS_NAN, 255U, INT32_MIN, 65535U },"
    assert text.array_bytes == (n * 6 * 2, n, 12, n * (2 + 1 + 4 + 1 + 4 + 2))


def test_very_many_states_are_counted_in_32_bits():
    model = hand.ties()
    states = np.zeros((32768, 2), dtype=np.int64)
    many = Vectors(states.astype(float), states, states[:, 0])
    assert text_of(model, vectors=many).index_type == "uint32_t"


FLOAT = Feature("f", "float32", 2, thresholds=(0.5,))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.nan, "M_VECTORS_NAN"),
        (3.0, "3.0F"),
        (float(np.float32(0.1)), "0.1F"),
        (-0.0, "-0.0F"),
        (float(np.float32(1e20)), "1e+20F"),
        (1.401298464324817e-45, "1e-45F"),
    ],
)
def test_a_float_has_the_fewest_digits_that_tell_it(value, text):
    assert _literal(FLOAT, value, "M") == text


def test_a_float_s_text_is_that_float():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2**32, 20000, dtype=np.uint32).view(np.float32)
    for value in values[np.isfinite(values)]:
        literal = _literal(FLOAT, float(value), "M")
        assert re.fullmatch(r"-?\d+(\.\d+)?(e[-+]\d+)?F", literal)
        assert np.float32(literal[:-1]) == value


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("int16", -(2**15), "INT16_MIN"),
        ("int16", -(2**15) + 1, "-32767"),
        ("int32", -(2**31), "INT32_MIN"),
        ("int32", -(2**15), "-32768"),
        ("state", 7, "7U"),
    ],
)
def test_an_integer_is_no_constant_of_a_wider_type(kind, value, text):
    assert _literal(Feature("f", kind, 9), value, "M") == text
