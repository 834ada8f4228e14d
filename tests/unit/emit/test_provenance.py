"""Provenance in headers: data, recall, and a command that survives a comment."""

import shlex
from dataclasses import replace

import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.options import MODEL_FILE, emit_command, printed_file, words_of
from bncc.emit.provenance import MOST_CLASSES, command_lines, data_line, recall_line
from tests import models as hand

DIGEST = "0123456789abcdef" * 4
DATA = {"sha256": DIGEST, "of": "file", "rows": 5456, "columns": 25}


def trained(**record):
    """Return a model of three classes with a training record."""
    return replace(hand.naive_integer(), training=record)


@pytest.mark.parametrize("path", ["robot.bncc", "/data/eve/a b/robot.bncc", "../my robot.bncc"])
def test_a_base_name_is_printed(path):
    assert printed_file(path) == path.rpartition("/")[2]


@pytest.mark.parametrize("path", ["a*b", "a\nb", "a\\b", "räume.bncc", "a??b", "-x", " ", "x" * 99])
def test_a_name_that_no_comment_holds_is_replaced(path):
    assert printed_file(path) == MODEL_FILE


def test_a_command_breaks_between_words_only():
    words = emit_command(
        "m", [("--spdx", "MIT OR Apache-2.0"), *[("--with", "scores")] * 9], "/a/b c"
    )
    lines = command_lines(words, 40)
    assert len(lines) > 4
    assert all(len(line) <= 40 for line in lines)
    assert tuple(shlex.split(" ".join(lines))) == words
    assert words[:7] == ("bncc", "emit-c", "b c", "-o", "m", "--name", "m")


def test_a_word_longer_than_a_line_is_kept_whole():
    assert command_lines(["a", "b" * 50, "c"], 40) == ["a", "b" * 50, "c"]


def test_options_that_differ_from_the_defaults_are_words():
    assert words_of(EmitOptions("gait")) == []
    options = EmitOptions(
        "gait", frozenset({"trusted", "scores"}), "packed", "size", "rv32", 2048, 64,
        constant_time=True, spdx="MIT", range_margin=5.0, package="cmake",
    )  # fmt: skip
    assert shlex.join(emit_command("gait", words_of(options))) == (
        "bncc emit-c gait.bncc -o gait --name gait --constant-time --kernel packed "
        "--max-flash 2048 --max-ram 64 --optimize size --package cmake --range-margin 5.0 "
        "--spdx MIT --target rv32 --with scores --with trusted"
    )


def test_the_header_has_all_of_it():
    model = trained(data=DATA, recall=[1.0, 0.5, None], confusion_of="validation")
    command = emit_command("m", [("--with", "scores")])
    text = emit_c(model, EmitOptions("m", command=command)).files["m.h"]
    assert " *   recall      on validation rows: c0: 100.0 %, c1: 50.0 %\n" in text
    joined = text.replace("\n *               ", " ")
    assert f" *   data        5,456 rows of 25 columns; sha256 of their file {DIGEST}\n" in joined
    assert " *   command     bncc emit-c m.bncc -o m --name m --with scores\n */" in text


def test_recall_after_a_search_is_that_of_its_first_fold():
    record = {"recall": [1.0, 0.5, None], "confusion_of": "validation"}
    said = recall_line(trained(**record, validation_folds=5))
    assert said == "on validation rows of the first fold: c0: 100.0 %, c1: 50.0 %"
    assert recall_line(trained(**record, validation_folds=1)).startswith("on validation rows: ")


def test_a_header_without_a_record_has_none_of_it():
    text = emit_c(hand.naive_integer(), EmitOptions("m")).files["m.h"]
    for title in ("recall", "data", "command"):
        assert f" *   {title:12}" not in text


def test_rows_from_memory_have_the_digest_of_their_values():
    assert data_line({"data": {**DATA, "of": "values"}}) == (
        f"5,456 rows of 25 columns; sha256 of their values {DIGEST}"
    )


@pytest.mark.parametrize(
    "data",
    [
        None, 3, {}, {**DATA, "rows": True}, {**DATA, "rows": -1}, {**DATA, "columns": "*/"},
        {**DATA, "sha256": None}, {**DATA, "sha256": "*/"}, {**DATA, "sha256": DIGEST.upper()},
        {**DATA, "sha256": f"{DIGEST}\n"},
    ],
)  # fmt: skip
def test_a_forged_record_of_data_is_left_out(data):
    assert data_line({"data": data}) is None


@pytest.mark.parametrize(
    ("recall", "part"),
    [
        (None, "test"), ([1.0], "test"), ([1.0, 2.0, 0.0], "test"), ([1.0, -1, 0.0], "test"),
        ([1.0, "*/", 0.0], "test"), ([True, 0.5, 0.5], "test"), ([1.0, 0.5, 0.5], "*/"),
        ([1.0, 0.5, 0.5], None), ([1.0, 0.5, 0.5], []), ([None, None, None], "test"),
    ],
)  # fmt: skip
def test_a_forged_record_of_recall_is_left_out(recall, part):
    assert recall_line(trained(recall=recall, confusion_of=part)) is None


def test_many_classes_have_their_worst_recall():
    n = MOST_CLASSES + 1
    model = replace(
        hand.naive_integer(),
        classes=tuple(f"c{i}" for i in range(n)),
        training={"recall": [1.0] * (n - 1) + [0.25], "confusion_of": "train"},
    )
    assert recall_line(model) == "on training rows: at least 25.0 % of each of 25 classes"
    assert recall_line(trained(recall=[1, 0, 1], confusion_of="cross-validation")) == (
        "by cross-validation: c0: 100.0 %, c1: 0.0 %, c2: 100.0 %"
    )
