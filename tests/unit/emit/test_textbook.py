"""The textbook classifier: supported models, its three ways to find a row, and its types."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.device.sources import sources
from bncc.discretize.feature import Feature
from bncc.emit.textbook import misfit, textbook_c
from bncc.errors import ModelError, OptionError
from bncc.fixed_point import QFormat
from bncc.lower.c.c99 import LINE
from bncc.structure.graph import forest
from tests import models as hand
from tests.agreement.large import LARGE, letter_like, mixed_kinds, random_model

FITTING = [name for name, make in hand.NAMED.items() if misfit(make()) is None]


def c_text(model, **options):
    return textbook_c(model, "m", **options).files["m.c"]


def body(text, array):
    """Return the initializer of an array without comments, or None."""
    found = re.search(rf"\b{array}\[[^=]* PROGMEM = \{{\n(.*?)\n\}};", text, re.DOTALL)
    return found and re.sub(r"/\*.*?\*/", "", found.group(1))


def numbers(text, array):
    return [int(digits) for digits in re.findall(r"-?\d+", body(text, array))]


def largest_sum_of(n_features, prior):
    """Return naive Bayes over constant features whose every entry is 255 in both classes."""
    return hand.model_of(
        [hand.feature(f"x{i}", 1) for i in range(n_features)],
        forest([None] * n_features),
        QFormat(8, 0),
        prior,
        [[[255, 255]]] * n_features,
    )


def test_nearly_all_models_by_hand_have_one():
    others = ["class_with_parents", "sum_65535", "sum_65536", "sum_of_tables"]
    assert sorted(set(hand.NAMED) - set(FITTING)) == others


@pytest.mark.parametrize(("largest", "fits"), [(2 * 255, True), (2 * 255 + 1, False)])
def test_a_cost_has_one_byte(largest, fits):
    reason = misfit(hand.summing_to(largest))
    assert (reason is None) == fits
    assert fits or "8-bit tables and a cost of the model is 256; train with --bits 8" in reason


def test_a_sum_has_two_bytes_in_every_class():
    # 257 * 255 is 65535; the largest entries of different classes are never added up.
    assert misfit(largest_sum_of(257, [0, 0])) is None
    assert misfit(largest_sum_of(256, [255, 255])) is None
    assert "a sum can reach 65536" in misfit(largest_sum_of(257, [0, 1]))
    apart = largest_sum_of(257, [0, 255])
    tables = tuple(np.array([[255, 0]]) for _ in apart.tables)
    assert misfit(replace(apart, tables=tables)) is None


def test_a_model_without_one_is_an_error_that_says_why():
    with pytest.raises(ModelError) as error:
        textbook_c(hand.summing_to(65536))
    assert str(error.value) == misfit(hand.summing_to(65536))


def test_an_impossible_name_is_an_error():
    with pytest.raises(OptionError, match="cannot prefix C symbols"):
        textbook_c(hand.ties(), "1st")


def test_naive_bayes_needs_no_parent():
    text = c_text(hand.naive_integer())
    assert numbers(text, "table") == [0, 3, 15, 4, 1, 7, 15, 15, 0, 1, 2, 3, 3, 2, 1]
    assert numbers(text, "first_row") == [0, 3]
    assert numbers(text, "prior") == [2, 2, 2]
    assert numbers(text, "n_states") == [3, 2]
    assert "parent" not in text
    assert " * " not in text.split("int16_t m_predict_trusted")[1]


def test_a_root_is_its_own_parent_at_stride_zero():
    text = c_text(hand.tan_float())
    assert numbers(text, "first_row") == [0, 2, 8]
    assert numbers(text, "parent") == [0, 0, 1]
    assert numbers(text, "stride") == [0, 3, 2]
    assert body(text, "first_parent") is None
    upside_down = random_model(
        [hand.feature("a", 3), hand.feature("b", 2)], forest([1, None]), 2, QFormat(4, 0)
    )
    assert numbers(c_text(upside_down), "parent") == [1, 1]
    assert numbers(c_text(upside_down), "stride") == [3, 0]


def test_several_parents_count_in_mixed_radix():
    text = c_text(hand.general_network())
    assert numbers(text, "first_row") == [0, 2, 8, 10]
    assert numbers(text, "first_parent") == [0, 0, 1, 1, 4]
    assert numbers(text, "parent") == [0, 2, 0, 1]
    assert body(text, "stride") is None


@pytest.mark.parametrize("name", [*FITTING, "letter_like", "mixed_kinds", "large_tables"])
def test_the_table_holds_every_cost_once(name):
    model = {**hand.NAMED, **LARGE}[name]()
    book = textbook_c(model, "m")
    costs = np.concatenate(model.tables)
    assert numbers(book.files["m.c"], "table") == costs.ravel().tolist()
    assert f" table[{len(costs)}][M_N_CLASSES] " in book.files["m.c"]
    assert book.table_bytes == costs.size + model.n_classes
    lines = book.files["m.c"].split("PROGMEM = {\n")[1].split("\n};")[0].splitlines()
    assert max(map(len, lines)) <= LINE + 8


def test_rows_beyond_one_byte_are_found_by_two_and_beyond_two_by_four():
    assert "static const uint8_t first_row[2]" in c_text(hand.naive_integer())
    assert "static const uint16_t first_row[16]" in c_text(letter_like())
    features = [hand.feature(f"x{i}", 300) for i in range(3)]
    wide = random_model(features, forest([None, 0, 1]), 2, QFormat(4, 0))
    text = c_text(wide)
    assert "static const uint32_t first_row[3]" in text
    assert "pgm_read_dword(&first_row[i])" in text
    assert numbers(text, "first_row") == [0, 300, 90300]


@pytest.mark.parametrize(("n_states", "bits"), [(255, 8), (256, 16)])
def test_states_have_one_byte_up_to_255_of_them(n_states, bits):
    model = random_model([hand.feature("x", n_states)], forest([None]), 2, QFormat(4, 0))
    files = textbook_c(model, "m").files
    assert f"int16_t m_predict(const uint{bits}_t x[M_N_FEATURES]);" in files["m.h"]
    assert f"static const uint{bits}_t n_states[1]" in files["m.c"]


def test_a_large_prior_has_two_bytes():
    model = replace(hand.ties(), q_format=QFormat(12, 0), prior=np.array([255, 300, 0]))
    book = textbook_c(model, "m")
    assert "static const uint16_t prior[3]" in book.files["m.c"]
    assert "pgm_read_word(&prior[c])" in book.files["m.c"]
    assert book.table_bytes == sum(table.size for table in model.tables) + 6


def test_raw_is_there_when_there_are_thresholds_or_it_is_asked_for():
    def entries(model, **options):
        return sources(model, textbook_c(model, "m", **options).files).entries

    assert entries(hand.naive_integer()) == {"predict", "trusted", "raw"}
    assert entries(hand.naive_integer(), raw=False) == {"predict", "trusted"}
    assert entries(hand.ties()) == {"predict", "trusted"}
    assert entries(hand.ties(), raw=True) == {"predict", "trusted", "raw"}


def test_thresholds_are_in_the_sensors_own_unit():
    text = c_text(hand.naive_integer())
    assert numbers(text, "threshold_int16") == [-5, 100, 0]
    assert numbers(text, "first_threshold") == [0, 2, 3]
    assert "INT32_MIN, 0, 2147483646," in body(c_text(hand.int32_thresholds()), "threshold_int32")
    assert body(c_text(hand.tan_float()), "threshold_float32").split() == [
        "0.5F,", "-1.25F,", "3.0F,", "0.0F,",
    ]  # fmt: skip


def test_a_struct_has_thresholds_for_each_kind():
    text = c_text(mixed_kinds())
    for kind in ("int16", "int32", "float32"):
        (values,) = [f.thresholds for f in mixed_kinds().features if f.kind == kind]
        assert body(text, f"threshold_{kind}").count(",") == len(values)
    assert "state_of_code8(x->d, 7U, 3U);" in text
    assert "state_of_code16(x->f, 300U, 299U);" in text
    assert "state_of_int16(x->a, &threshold_int16[0], 5U, 3U);" in text


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), unique=True))
def test_float_thresholds_read_back_exactly(values):
    thresholds = tuple(sorted(value + 0.0 for value in set(values)))
    feature = Feature("x", "float32", len(thresholds) + 1, thresholds=thresholds)
    model = random_model([feature], forest([None]), 2, QFormat(4, 0))
    words = body(c_text(model, raw=True), "threshold_float32").replace("\n", " ").split()
    assert all(re.fullmatch(r"-?\d+(\.\d+)?(e[+-]\d+)?F,", word) for word in words)
    assert all("." in word or "e" in word for word in words)
    read = [float(np.float32(word[:-2])) for word in words]
    assert read == (list(thresholds) or [0.0])


def test_what_an_avr_cannot_hold_is_said_and_stops_its_compiler():
    assert textbook_c(letter_like()).avr_misfit == ""
    assert "#error" not in c_text(letter_like())
    features = [hand.feature(f"x{i}", 128) for i in range(2)]
    large = textbook_c(random_model(features, forest([None, 0]), 2, QFormat(4, 0)), "m")
    assert large.avr_misfit.startswith("an array of 33024 bytes is more than the 32767")
    assert f'#error "m: {large.avr_misfit}"' in large.files["m.c"]


def test_the_name_prefixes_all_that_is_public():
    files = textbook_c(mixed_kinds(), "door").files
    assert sorted(files) == ["door.c", "door.h"]
    names = re.findall(r"^#define (\w+)|^\} (\w+);|^int16_t (\w+)\(", files["door.h"], re.MULTILINE)
    assert {"".join(some).lower()[:5] for some in names} == {"door_"}
    assert len(names) == 8
