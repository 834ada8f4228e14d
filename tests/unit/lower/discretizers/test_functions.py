"""The state function of a feature: its statements, and the length of its name."""

import pytest

from bncc.discretize.feature import Feature
from bncc.lower.discretizers.choice import own_ways
from bncc.lower.discretizers.functions import LONGEST_FIELD, state_function
from bncc.lower.discretizers.rates import rates_of


def function_of(feature, method="tree", field="a", number=0):
    """Print the first of the feature's ways of a kind."""
    ways = own_ways(feature, rates_of(None))
    tree = next(way.tree for way in ways if way.method == method)
    return state_function(feature, field, number, "m", method, tree)


def lines(feature, method="tree"):
    return list(function_of(feature, method).lines)


def int16(*thresholds, missing_state=0):
    n_states = max(len(thresholds), missing_state) + 1
    return Feature("a", "int16", n_states, thresholds=thresholds, missing_state=missing_state)


def test_comparisons_are_nested_and_ascend():
    assert lines(int16(-5, 10, 20)) == [
        "if (value <= 10) {",
        "    if (value <= -5) {",
        "        return 0U;",
        "    }",
        "    return 1U;",
        "}",
        "if (value <= 20) {",
        "    return 2U;",
        "}",
        "return 3U;",
    ]


def floats(*thresholds):
    return Feature("a", "float32", len(thresholds) + 1, thresholds=thresholds)


@pytest.mark.parametrize("kind", ["int16", "int32"])
def test_a_missing_reading_is_told_by_its_marker(kind):
    feature = Feature("a", kind, 3, thresholds=(7,), missing_state=2)
    assert lines(feature)[1:3] == [
        f"    if (value == {kind.upper()}_MIN) {{ /* missing */",
        "        return 2U;",
    ]


def test_floats_are_compared_by_their_bits_and_named_in_their_own_unit():
    feature = Feature("a", "float32", 4, thresholds=(-1.5, 0.5), missing_state=3)
    assert [line.strip() for line in lines(feature) if "if" in line] == [
        "if (bits < 0) { /* negative */",
        "if (bits <= -1077936129) { /* negative, above -1.5 */",
        "if (bits <= -8388608) { /* negative, not NaN */",
        "if (bits <= 1056964608) { /* up to 0.5 */",
        "if (bits <= 2139095040) { /* not NaN */",
    ]


def test_the_bits_of_minus_zero_are_no_literal_of_an_int():
    feature = Feature("a", "float32", 2, thresholds=(-(2.0**-149),))
    assert "bits == INT32_MIN" in "".join(lines(feature))


def test_bytes_are_looked_up_between_the_outer_thresholds():
    function = function_of(int16(-3, 0, 2, missing_state=1), "bytes")
    assert list(function.lines) == [
        "if (value <= -3) {",
        "    if (value == INT16_MIN) { /* missing */",
        "        return 1U;",
        "    }",
        "    return 0U;",
        "}",
        "if (value <= 2) {",
        "    return m_rom_uint8(&m_states_a[(uint8_t)((uint16_t)value + 2U)]);",
        "}",
        "return 3U;",
    ]
    assert function.arrays[0].name == "states_a"
    assert function.arrays[0].lines == ("1U, 1U, 1U, 2U, 2U,",)
    assert function.arrays[0].comment == "States of a from -2 on."


@pytest.mark.parametrize(
    ("thresholds", "place"),
    [((-1, 5), "(uint8_t)value"), ((9, 15), "(uint8_t)((uint16_t)value - 10U)")],
)
def test_entries_are_counted_from_the_first(thresholds, place):
    assert f"[{place}]" in "".join(lines(int16(*thresholds), "bytes"))


def test_two_nibbles_share_a_byte_the_first_in_its_low_half():
    function = function_of(int16(0, 2, 5), "nibbles")
    assert list(function.lines) == [
        "if (value <= 0) {",
        "    return 0U;",
        "}",
        "if (value <= 5) {",
        "    const uint8_t place = (uint8_t)((uint16_t)value - 1U);",
        "    const uint8_t pair = m_rom_uint8(&m_states_a[place >> 1]);",
        "",
        "    if ((place & 1U) != 0U) {",
        "        return (uint8_t)(pair >> 4);",
        "    }",
        "    return (uint8_t)(pair & 15U);",
        "}",
        "return 3U;",
    ]
    # states 1 1 2 2 2
    assert function.arrays[0].lines == ("17U, 34U, 2U,",)


def test_a_constant_has_one_statement():
    function = function_of(int16())
    assert function.lines == ("return 0U;",)
    assert function.is_constant
    assert not function_of(int16(1)).is_constant


def test_a_long_field_gives_way_to_its_number():
    """The longest model name, the words around it and the suffix are 63 characters at most."""
    for field, suffix in (("a" * LONGEST_FIELD, "a" * LONGEST_FIELD), ("b" * 60, "17")):
        assert function_of(int16(1), "tree", field, 17).suffix == suffix
    assert len("x" * 31 + "_state_of_") + LONGEST_FIELD == 63


@pytest.mark.parametrize(
    ("feature", "word", "above"),
    [
        (int16(1000, 1100, 1200), "uint_fast16_t", "(uint_fast16_t)((uint_fast16_t)value - 1000U)"),
        (int16(-200, 0, 200), "uint_fast16_t", "(uint_fast16_t)((uint_fast16_t)value + 199U)"),
        (int16(-1, 100, 200), "uint_fast16_t", "(uint_fast16_t)value"),
        (floats(1.1, 1.7, 2.9), "uint32_t", "(uint32_t)bits - 1065353216U"),
    ],
)
def test_a_guide_counts_from_its_first_reading(feature, word, above):
    assert f"const {word} above = {above};" in lines(feature, "guided")


def test_the_highest_byte_of_a_sum_with_a_guide_s_entry_is_the_state():
    function = function_of(int16(0, 16, 32, missing_state=3), "guided")
    assert list(function.lines) == [
        "const uint_fast16_t above = (uint_fast16_t)((uint_fast16_t)value - 1U);",
        "",
        "if (above < 32U) {",
        "    return (uint8_t)((above + m_rom_uint16(&m_guide_a[above >> 4])) >> 8);",
        "}",
        "if (value <= 0) {",
        "    if (value == INT16_MIN) { /* missing */",
        "        return 3U;",
        "    }",
        "    return 0U;",
        "}",
        "return 3U;",
    ]
    (guide,) = function.arrays
    entries = [int(word.rstrip("U,")) for word in " ".join(guide.lines).split()]
    assert [(k + entries[k >> 4]) >> 8 for k in range(32)] == [1] * 16 + [2] * 16
