"""The text of a Rust crate."""

import re
import tomllib

import numpy as np
import pytest

from bncc.discretize.feature import Feature
from bncc.emit.options import EmitOptions
from bncc.emit.rust import (
    FILES,
    crate_name,
    emit_crate,
    float_literal,
    member_names,
    text_literal,
)
from bncc.emit.vectors import drawn_vectors
from bncc.errors import OptionError
from bncc.fixed_point import QFormat
from bncc.structure.graph import forest
from tests import models as hand
from tests.other_languages import BUILT, built

ENTRIES = frozenset({"checked", "scores", "trusted"})


def files_of(kind, entries=ENTRIES, **options):
    return emit_crate(built(kind), EmitOptions("gait", entries, package="rust", **options)).files


@pytest.mark.parametrize("kind", BUILT)
def test_every_file_is_whole(kind):
    """No tab, no two empty lines, ASCII only, and a manifest that TOML reads."""
    files = files_of(kind, vectors=drawn_vectors(built(kind), 4), is_bounded=True)
    assert tuple(files) == FILES
    for path, text in files.items():
        assert text.isascii()
        assert text.endswith("\n"), path
        assert not text.endswith("\n\n"), path
        assert "\n\n\n" not in text, path
        assert "\t" not in text
    assert tomllib.loads(files["Cargo.toml"])["package"]["name"] == "gait"


def test_what_is_not_asked_for_is_not_there():
    text = "".join(files_of("states", frozenset()).values())
    for word in ("predict_raw", "predict_trusted", "fn scores", "Error::Range", "fn bin"):
        assert word not in text
    assert "unsafe_code" in text


def test_the_license_and_the_command_are_printed():
    files = files_of("array", spdx="MIT", command=("bncc", "emit-c"))
    assert tomllib.loads(files["Cargo.toml"])["package"]["license"] == "MIT"
    assert files["src/lib.rs"].startswith("// SPDX-License-Identifier: MIT\n")
    assert "//   command     bncc emit-c\n" in files["src/lib.rs"]
    with pytest.raises(OptionError, match="is not an SPDX license expression"):
        files_of("array", spdx="*/")


def test_the_number_of_vectors_bounds_the_steps():
    model = hand.tan_float()
    vectors = drawn_vectors(model, 3)
    options = EmitOptions("m", vectors=vectors, is_bounded=True)
    text = emit_crate(model, options).files["tests/vectors.rs"]
    assert "const N_VECTORS: usize = 3;" in text
    (steps,) = re.findall(r"STEPS: \[\(usize, State, u8\); (\d+)\]", text)
    assert 0 < int(steps) <= 48


@pytest.mark.parametrize(("name", "crate"), [("Gait", "gait"), ("a__b_", "a_b"), ("x86", "x86")])
def test_a_crate_is_named_in_snake_case(name, crate):
    assert crate_name(name) == crate


@pytest.mark.parametrize("name", ["fn", "Self", "core", "test", "impl"])
def test_a_reserved_name_is_refused(name):
    with pytest.raises(OptionError, match=f"'{name}' is a reserved name in package 'rust'"):
        crate_name(name)


@pytest.mark.parametrize("entry", ["missing", "stream"])
def test_an_entry_point_of_c_alone_is_refused(entry):
    with pytest.raises(OptionError, match=f"package 'rust' has no entry point '{entry}'; choose"):
        files_of("states", frozenset({entry}))


def test_members_are_no_words_of_rust():
    names = ("fn", "Type", "x y", "fn_", "register")
    found = member_names(Feature(name, "int8", 1) for name in names)
    assert found == ("fn_", "type_", "x_y", "fn_2", "register_")


def test_texts_are_escaped():
    assert text_literal('a"\\\n\u00e9\x00') == '"a\\"\\\\\\u{a}\\u{e9}\\u{0}"'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"),
        (1e10, "1e10"),
        (2.0, "2.0"),
        (float(np.float32(1e-45)), "1e-45"),
        (np.nan, "f32::NAN"),
        (-np.nan, "-f32::NAN"),
        (-np.inf, "-f32::INFINITY"),
        (np.inf, "f32::INFINITY"),
    ],
)
def test_a_float_is_printed_by_the_fewest_digits(value, text):
    assert float_literal(value) == text


def test_a_reading_without_thresholds_has_a_state_without_a_comparison():
    """Missing readings have another one, if there is one."""
    features = (
        Feature("constant", "int16", 1),
        Feature("counted", "int16", 2, missing_state=1),
        Feature("one", "category", 1, categories=("a",)),
    )
    model = hand.model_of(
        features, forest([None] * 3), QFormat(2, 0), [0, 1], [[[1, 0]], [[1, 0], [0, 2]], [[0, 1]]]
    )
    found = emit_crate(model, EmitOptions("m", frozenset({"raw"}))).files["src/tables.rs"]
    assert "    s[1] = if x.counted == i16::MIN { 1 } else { 0 };\n    s\n" in found
    constant = hand.model_of(features[:1], forest([None]), QFormat(2, 0), [0, 1], [[[1, 0]]])
    found = emit_crate(constant, EmitOptions("m", frozenset({"raw"}))).files["src/tables.rs"]
    assert "pub fn states(_: &Readings)" in found
