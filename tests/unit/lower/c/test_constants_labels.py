"""Labels in flash: their offsets, and the treatment of very long ones."""

import re

import pytest

from bncc.lower.c.constants import MAX_STRING, label_text


def flash(text):
    """Return the bytes of the initializer."""
    if text.lines[0].startswith('"'):
        inner = "".join(line[1:-1].replace('" "', "") for line in text.lines)
    else:
        inner = "".join(re.findall(r"'([^'\\]|\\[0-7]{3})'", " ".join(text.lines)))
    plain = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), inner)
    return plain.encode("latin-1") + (b"\0" if text.lines[0].startswith('"') else b"")


def label(text, index):
    start = int(re.findall(r"\d+", " ".join(text.starts.lines))[index])
    return flash(text)[start:].split(b"\0")[0].decode("utf-8")


@pytest.mark.parametrize(
    "classes",
    [
        ("on", "off"),
        ("", "gr\u00fcn", '"'),
        ("a", "b" * MAX_STRING),
        (*(f"label '{c}' \\" for c in range(255)), "x" * MAX_STRING),
    ],
)
def test_every_label_is_found_and_an_empty_one_behind_them(classes):
    text = label_text(classes)
    assert [label(text, c) for c in range(len(classes) + 1)] == [*classes, ""]
    assert text.n_bytes == len(flash(text))
    assert text.starts.length == len(classes) + 1


@pytest.mark.parametrize(("length", "quoted"), [(MAX_STRING - 3, True), (MAX_STRING - 2, False)])
def test_literals_end_where_compilers_may_refuse_them(length, quoted):
    # both labels end with a character 0
    assert label_text(("a", "b" * length)).lines[0].startswith('"') == quoted


def test_starts_are_as_wide_as_the_last_asks():
    assert label_text(("a" * 253,)).starts.type == "uint8_t"
    assert label_text(("a" * 254,)).starts.type == "uint8_t"
    assert label_text(("a" * 255,)).starts.type == "uint16_t"
