"""Numbers as C text: suffixes, wrapping, empty arrays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.lower.c.c99 import LINE, array, broken, cast, literal_suffix, unsigned, wrap, wrap_words


def test_unsigned_types_are_those_of_stdint():
    assert [unsigned(bits) for bits in (8, 16, 32)] == ["uint8_t", "uint16_t", "uint32_t"]


def test_a_number_of_more_than_32_bits_says_so():
    assert [literal_suffix(bits) for bits in (1, 32, 33, 64)] == ["U", "U", "ULL", "ULL"]


@given(st.lists(st.integers(0, 2**32 - 1)))
def test_wrapped_numbers_read_back_in_lines_of_limited_length(values):
    lines = wrap(values)
    assert all(len(line) <= LINE and line == line.strip() for line in lines)
    words = " ".join(lines).split()
    assert all(word.endswith("U,") for word in words)
    assert [int(word[:-2]) for word in words] == values


def test_lines_are_filled_up():
    # 1U, takes three columns and a blank
    lines = wrap([1] * 50)
    assert [len(line) for line in lines] == [91, 91, 15]


def test_no_numbers_give_no_lines():
    assert wrap([]) == []


def test_signed_numbers_have_no_suffix_and_the_least_int32_has_a_name():
    assert wrap([-1, 0, 5], signed=True) == ["-1, 0, 5,"]
    assert wrap([-(2**31), -(2**31) + 1], signed=True) == ["INT32_MIN, -2147483647,"]


def test_numpy_numbers_print_as_plain_ones():
    np = pytest.importorskip("numpy")
    assert wrap(np.array([1, 2], dtype=np.uint8)) == ["1U, 2U,"]


def test_a_word_longer_than_a_line_gets_one_of_its_own():
    long = "x" * (LINE + 1)
    assert wrap_words(["a", long, "b", "c"]) == ["a", long, "b c"]


def test_a_line_may_be_exactly_full():
    assert wrap_words(["a" * (LINE - 2), "b"]) == [f"{'a' * (LINE - 2)} b"]
    assert wrap_words(["a" * (LINE - 1), "b"]) == ["a" * (LINE - 1), "b"]


def test_an_array_knows_its_type_length_and_bytes():
    text = array("start", 16, [0, 300], "First.")
    assert (text.type, text.name, text.length, text.n_bytes) == ("uint16_t", "start", 2, 4)
    assert (text.lines, text.comment) == (("0U, 300U,",), "First.")


def test_an_array_of_signed_numbers():
    text = array("cuts", 32, [-7], "Cuts.", signed=True)
    assert (text.type, text.lines, text.n_bytes) == ("int32_t", ("-7,",), 4)


def test_an_empty_array_becomes_one_zero_since_c_has_none():
    assert array("cuts", 16, [], "", signed=True).lines == ("0,",)
    assert array("x", 8, [], "").length == 1


def test_a_long_statement_is_broken_before_its_plus_signs():
    summands = [f"x{'1' * 24}[{k}]" for k in range(5)]
    lines = broken(f"    sum = {' + '.join(summands)};")
    assert [line[:10] for line in lines] == ["    sum = ", "        + ", "        + "]
    assert all(len(line) <= LINE for line in lines)
    assert " ".join(line.strip() for line in lines) == f"sum = {' + '.join(summands)};"


def test_a_short_statement_stays_on_its_line():
    assert broken("sum = a + b;") == ["sum = a + b;"]


def test_what_has_operators_is_cast_in_parentheses():
    assert cast("part0", "m_cost_t") == "(m_cost_t)part0"
    assert cast("part0 >> 8", "m_cost_t") == "(m_cost_t)(part0 >> 8)"
