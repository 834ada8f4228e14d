"""Size of a self-test, and its declared coverage."""

import re

import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.selftest import AVR_BYTES, STEPS_PER_VECTOR, avr_steps
from bncc.emit.vectors import drawn_vectors
from bncc.lower.c.constants import MOST_IN_ALL
from tests import models as hand
from tests.agreement.large import letter_like, many_features
from tests.agreement.test_direct_readings import model_of


def header_of(text):
    """Return the words before the first line that is none."""
    return " ".join(text.partition("#include")[0].replace("\n *", " ").split())


def test_it_says_what_it_covers():
    files = emit_c(hand.naive_integer(), EmitOptions("m", frozenset({"scores"}))).files
    said = header_of(files["m_selftest.c"])
    assert "calls every entry point and triggers every error" in said
    assert "all 5 rows of the tables" in said
    assert "all 12 readings at the boundaries of states" in said
    assert "any single-bit error in these rows, by the scores" in said


def test_a_small_self_test_says_what_it_leaves_out():
    model = letter_like()
    options = EmitOptions("m", vectors=drawn_vectors(model, 4), is_bounded=True)
    said = header_of(emit_c(model, options).files["m_selftest.c"])
    read, n_rows = re.search(r"([\d,]+) of ([\d,]+) rows", said).groups()
    assert 0 < int(read.replace(",", "")) < int(n_rows.replace(",", ""))
    assert re.search(r"\d+ of \d+ readings at the boundaries", said)


@pytest.mark.parametrize("n", [1, 8])
def test_the_number_of_vectors_bounds_the_steps(n):
    model = letter_like()
    options = EmitOptions("m", vectors=drawn_vectors(model, n), is_bounded=True)
    text = emit_c(model, options).files["m_vectors.h"]
    assert f"#define M_N_VECTORS {n}U" in text
    assert f"#define M_N_STEPS {STEPS_PER_VECTOR * n}U" in text


def test_an_avr_has_as_many_steps_as_fit():
    assert avr_steps(1000, 3, 500) == 500
    assert avr_steps(AVR_BYTES - 30, 3, 500) == 10
    assert avr_steps(AVR_BYTES, 3, 500) == 500
    assert avr_steps(MOST_IN_ALL - 1, 3, 500) == 1
    assert avr_steps(MOST_IN_ALL, 3, 500) == 500  # it is too large for one


def test_what_an_avr_leaves_out_is_behind_a_condition(monkeypatch):
    emission = emit_c(letter_like(), EmitOptions("m", frozenset({"scores"})))
    monkeypatch.setattr("bncc.emit.selftest.AVR_BYTES", 0)
    monkeypatch.setattr("bncc.emit.selftest.MOST_IN_ALL", emission.layout.rom_bytes + 4000)
    text = emission.files["m_vectors.h"]
    fewer, all_ = (int(n) for n in re.findall(r"#define M_N_STEPS (\d+)U", text))
    assert fewer < all_
    assert len(re.findall(r"#if !defined\(__AVR__\)\n +\d", text)) == 3
    assert len(re.findall(r"#define M_STEPS_CRC", text)) == 2


def test_features_beyond_255_are_counted_in_16_bits():
    model = many_features()
    text = emit_c(model, EmitOptions("m", is_bounded=True)).files["m_vectors.h"]
    assert ("uint16_t m_vector_step_features[" in text) == (model.n_features > 255)


@pytest.mark.parametrize("kind", ["int16"])
def test_readings_that_are_compared_directly_have_the_ends_of_all_states(kind):
    emission = emit_c(model_of(kind), EmitOptions("m", optimize="size"))
    assert emission.layout.direct is not None
    n_ends = 2 * sum(feature.n_states for feature in emission.program.features)
    assert f"m_vector_ends[{n_ends}]" in emission.files["m_vectors.h"]
    assert "m_predict_raw(low) != (int16_t)label" in emission.files["m_selftest.c"]


def test_files_are_printed_once_and_can_be_replaced():
    files = emit_c(hand.ties(), EmitOptions("m")).files
    assert files["m_vectors.h"] is files["m_vectors.h"]
    assert len(files) == len(list(files)) == 5
    assert (files | {"m.c": ""})["m.c"] == ""
