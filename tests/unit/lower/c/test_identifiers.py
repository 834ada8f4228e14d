"""Names from data can neither leave their comment or string nor clash with C."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.discretize.feature import Feature
from bncc.emit.card import category_constants, feature_constants
from bncc.errors import OptionError
from bncc.lower.c.identifiers import (
    HEADERS,
    MAX_NAME,
    RESERVED,
    c_characters,
    c_comment,
    c_string,
    check_name,
    constant_names,
    field_names,
    model_name,
    titled,
)

IDENTIFIER = re.compile(r"[a-z][a-z0-9_]*")
HOSTILE = [
    "*/",
    "/*",
    "??/",
    "a\nb",
    "\\",
    '"',
    "\0",
    "\ud800",
    "\u2028",
    "%s",
    "register",
    "",
    " ",
]


def unescape(literal):
    """Return the bytes of a C literal whose only escapes are three octal digits."""
    pieces = re.findall(r"\\([0-7]{3})|([^\\])", literal)
    assert "".join(rf"\{octal}" if octal else plain for octal, plain in pieces) == literal
    return bytes(int(octal, 8) if octal else ord(plain) for octal, plain in pieces)


@pytest.mark.parametrize("name", ["m", "iris", "Model_2", "a" * MAX_NAME, "int8"])
def test_names_that_can_prefix_symbols_are_kept(name):
    assert check_name(name) == name


@pytest.mark.parametrize("name", ["", "2m", "_m", "a-b", "a b", "a.b", "m\n", "m\u00e9", "*/"])
def test_what_is_no_identifier_is_refused(name):
    with pytest.raises(OptionError, match="cannot prefix C symbols; use letters, digits"):
        check_name(name)


@pytest.mark.parametrize("name", ["int", "INT", "class", "Template", "linux", "main", "constexpr"])
def test_words_of_c_and_cpp_are_refused_in_any_case(name):
    with pytest.raises(OptionError, match="is a reserved word of C or C"):
        check_name(name)


@pytest.mark.parametrize("name", ["math", "String", "stdint", "arduino"])
def test_a_header_that_would_hide_another_is_refused(name):
    with pytest.raises(OptionError, match=f"'{name}.h' would hide a header of that name"):
        check_name(name)
    assert model_name(name) == f"{name.lower()}_model"


def test_a_name_of_32_characters_is_refused():
    with pytest.raises(OptionError, match="longer than 31 characters"):
        check_name("a" * (MAX_NAME + 1))


@given(st.text() | st.sampled_from(sorted(RESERVED | HEADERS) + HOSTILE))
def test_any_text_becomes_a_name_that_is_accepted(text):
    name = model_name(text)
    assert check_name(name) == name
    assert IDENTIFIER.fullmatch(name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("iris", "iris"),
        ("My Data-set.v2", "my_data_set_v2"),
        ("2024 sensors", "f_2024_sensors"),
        ("\u00e9\u4e2d", "model"),
        ("", "model"),
        ("register", "register_model"),
        ("_x_", "x"),
        ("a" * 30 + " b", "a" * 30),
    ],
)
def test_how_a_file_s_stem_becomes_a_name(text, name):
    assert model_name(text) == name


@pytest.mark.parametrize(
    ("columns", "fields"),
    [
        (["Light", "light", "LIGHT!"], ("light", "light_2", "light_3")),
        (["a", "a 2", "a"], ("a", "a_2", "a_3")),
        (["\u4e2d", "", "*/"], ("field", "field_2", "field_3")),
        (["register", "class", "int", "errno"], ("register_", "class_", "int_", "errno_")),
        (["register", "register_"], ("register_", "register__2")),
        (["uint8_t", "my_t"], ("uint8_t_", "my_t_")),
        (["3rd", "PORTB"], ("f_3rd", "portb")),
        (["x" * 80, "x" * 90], ("x" * 60, "x" * 60 + "_2")),
    ],
)
def test_how_columns_become_members(columns, fields):
    assert field_names(columns) == fields


@given(st.lists(st.text() | st.sampled_from(sorted(RESERVED) + HOSTILE), max_size=30))
def test_members_are_distinct_identifiers_and_no_reserved_words(columns):
    fields = field_names(columns)
    assert len(set(fields)) == len(columns) == len(fields)
    for field in fields:
        assert IDENTIFIER.fullmatch(field)
        assert field not in RESERVED
        assert not field.endswith("_t")


@given(st.text() | st.lists(st.sampled_from([*HOSTILE, "?", "*", "/", "x"])).map("".join))
def test_a_comment_stays_open_on_one_ascii_line(text):
    safe = c_comment(text)
    assert 0 < len(safe) <= 60
    assert all(" " <= letter <= "~" for letter in safe)
    for mark in ("*", "\\", "??"):
        assert mark not in safe


@pytest.mark.parametrize(
    ("text", "comment"),
    [
        ("air pressure [hPa]", "air pressure [hPa]"),
        ("flow l/s", "flow l/s"),
        ("*/ int main", "'/ int main"),
        ("what??/", "what?/"),
        ("gr\u00fcn", "gr?n"),
        ("", "(blank)"),
        (" \t", " ?"),
        ("  ", "(blank)"),
        ("y" * 60, "y" * 60),
        ("y" * 61, "y" * 57 + "..."),
    ],
)
def test_how_names_read_in_comments(text, comment):
    assert c_comment(text) == comment


@given(st.text() | st.sampled_from(HOSTILE))
def test_a_string_reads_back_as_the_text_in_utf8(text):
    literal = c_string(text)
    assert literal[0] == literal[-1] == '"'
    joined = literal[1:-1].replace('" "', "")
    assert '"' not in joined
    assert "??" not in literal
    assert unescape(joined) == text.encode("utf-8", errors="replace")


def test_a_literal_ends_behind_an_escape_that_another_character_would_follow():
    assert c_string("\x017") == r'"\001" "7"'
    assert c_string("gr\u00fcn") == r'"gr\303\274" "n"'
    assert c_string("\r\n") == r'"\015\012"'
    assert unescape(r"\0017") == b"\x017"


@given(st.text() | st.sampled_from([*HOSTILE, "'"]))
def test_character_constants_read_back_as_the_text_in_utf8(text):
    words = c_characters(text)
    for word in words:
        assert re.fullmatch(r"'([^'\\\n]|\\[0-7]{3})',", word)
    assert b"".join(unescape(word[1:-2]) for word in words) == text.encode("utf-8", "replace")


def test_labels_become_distinct_ends_of_macros() -> None:
    """Any labels become names, and no name is a reserved one."""
    found = constant_names(["Move-Forward", "move forward", "", "3", "name stack"], {"NAME_STACK"})
    assert found == ("MOVE_FORWARD", "MOVE_FORWARD_2", "UNNAMED", "3", "NAME_STACK_2")


def test_many_labels_without_letters_are_numbered_in_time():
    """65,000 clashes cost as many steps, not their square."""
    found = constant_names(["\u4e2d"] * 65000)
    assert found[:2] == ("UNNAMED", "UNNAMED_2")
    assert found[-1] == "UNNAMED_65000"
    assert len(set(found)) == 65000


@given(
    st.lists(st.sampled_from(["a", "A", "a 2", "", "x" * 70, "x" * 71, "y"]), max_size=30),
    st.integers(6, 30),
)
def test_ends_of_macros_are_distinct_and_short_enough(labels, longest):
    found = constant_names(labels, {"A"}, longest)
    assert len({"A", *found}) == len(labels) + 1
    assert all(0 < len(end) <= max(longest, len("UNNAMED_10")) for end in found)


def test_categories_have_constants_that_name_feature_and_label():
    """A long name leaves room for its labels, and all are distinct in 63 characters."""
    color = Feature("color", "category", 3, categories=("red", "*/", "Red"))
    ground = Feature("g" * 80, "category", 2, categories=("dry", "wet"))
    name = "m" * 31
    ends = category_constants((color, ground, Feature("x", "int16", 1)), name)
    assert ends[:3] == [("COLOR_RED", 0), ("COLOR_UNNAMED", 1), ("COLOR_RED_2", 2)]
    assert [(end[-4:], code) for end, code in ends[3:]] == [("_DRY", 0), ("_WET", 1)]
    assert all(len(f"{name}_CATEGORY_{end}") <= 63 for end, _ in ends)


@pytest.mark.parametrize(
    ("name", "unit", "text"),
    [
        ("t", "", "t"),
        ("t", "\u00b0C", "t in degC"),
        ("t [m]", "m", "t [m]"),
        ("t [m]", "cm", "t [m] in cm"),
        ("flow", "m\u00b3/h", "flow in m^3/h"),
        ("t", "*/", "t in '/"),
    ],
)
def test_a_unit_follows_a_name_that_does_not_have_it(name, unit, text):
    assert titled(name, unit) == text


def test_constants_that_an_int_of_16_bits_does_not_hold_are_left_out():
    """AVR compilers take no others; and without categories there are none of their codes."""
    many = (Feature("x", "state", 32768), Feature("y", "state", 32767))
    index, counts = feature_constants(many, "m")
    assert index.values == [("X", 0), ("Y", 1)]
    assert counts.values == [("Y", 32767)]
