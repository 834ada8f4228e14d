"""Lanes in words of 64 bits as C: words apart, costs compared where they are."""

import numpy as np
import pytest

from bncc.lower.kernels.lanes.layout import lanes
from bncc.lower.kernels.lanes.text import lanes_text
from tests.unit.lower.by_hand import program, table
from tests.unit.lower.kernels.lanes.test_text import naive, printed


def test_words_of_64_bits_hand_out_costs_of_32():
    """Every constant of more than 32 bits has a suffix, and costs are compared in 32."""
    some = naive([[[3, 3, 3, 3, 3, 3], [2, 1, 0, 3, 1, 2]]] * 30, [0, 0, 0, 0, 1, 0])
    text = printed(some, 1, word_bits=64)
    first, *_ = text.arrays
    assert (first.type, first.length, first.n_bytes) == ("int64_t", 2, 16)
    assert first.lines == (
        "/* 0 */ 0x000C0300C0300C03LL,",
        "/* 1 */ 0x00080100C0000402LL,",
    )
    assert text.context["steps"][0][1:] == [
        "at = m_wide(x[0]);",
        "sum0 = (int64_t)0x10000000000LL + m_rom_int64(&m_table0[at]);",
    ]
    assert text.context["result_type"] == "uint64_t"
    assert text.context["least_type"] == "uint32_t"
    assert text.context["results"] == ["(uint64_t)sum0"]
    assert text.context["class_costs"][0] == "(uint32_t)(sum[0] & 0x3FFU)"
    assert text.context["class_costs"][4] == "(uint32_t)((sum[0] >> 40) & 0x3FFU)"
    assert text.context["class_costs"][5] == "(uint32_t)(sum[0] >> 50)"


def test_rows_of_64_bits_are_stored_word_by_word():
    some = naive([[[300] * 4, [0, 1, 2, 3]]] * 300, [0] * 4)
    text = printed(some, 2, word_bits=64)
    first, *_ = text.arrays
    assert first.lines == (
        "/* 0 */ 0x0000012C0000012CLL,",
        "/* 1 */ 0x0000000100000000LL,",
        "/* x0 */",
        "/* 0 */ 0x0000012C0000012CLL,",
        "/* 1 */ 0x0000000300000002LL,",
    )
    assert text.context["steps"][1][1:] == [
        "at = m_wide(x[1]);",
        "sum0 += m_rom_int64(&m_table1[at]);",
        "sum1 += m_rom_int64(&m_table1[at + 2]);",
    ]


def test_words_that_lie_apart_are_found_from_an_address_that_is_looked_up():
    rng = np.random.default_rng(0)
    some = program([3, 4], [0] * 4, [table([0, 1], rng.integers(256, 60_000, (12, 4)))])
    kernel = next(k for k in lanes(some, 64) if k.n_words == 2 and k.starts[0] is not None)
    text = lanes_text(some, kernel, "m", 8)
    assert text.context["steps"][0][1:] == [
        "row = m_rom_row(&m_rows0[x[0]]);",
        "at = m_wide(x[1]);",
        "sum0 = m_rom_int64(&row[at]);",
        "sum1 = m_rom_int64(&row[at + 12]);",
    ]
    assert text.context["has_row"]
    assert text.arrays[-1].lines == ("&m_table0[0], &m_table0[4], &m_table0[8],",)


@pytest.mark.parametrize(
    ("word_bits", "n_classes", "found"),
    [
        (64, 3, [(2, 0, 1), (1, 0, None), (0, 0, None)]),
        # Classes that a split has spread over words are still compared in their order.
        (32, 8, None),
        (64, 10, [(9, 1, 4), *((c, c % 2, 4 if c == 8 else None) for c in range(8, -1, -1))]),
    ],
)
def test_the_last_class_is_compared_first(word_bits, n_classes, found):
    """Ties go to the smallest index, in any word."""
    text = printed(naive([[[1] * n_classes] * 2] * 80, [0] * n_classes), 1, word_bits)
    turns = text.context.get("comparisons")
    assert text.context["moves_up"] == (found is not None)
    assert found == (turns and [(t.class_index, t.word, t.shift) for t in turns])


def test_lanes_of_64_bits_are_widened_with_masks_that_say_so():
    text = printed(naive([[[1] * 10, [0] * 10]] * 80, [0] * 10), 1, word_bits=64)
    flush = next(step for step in text.context["steps"] if "Widen" in step[0])
    assert flush[1:] == [
        "sum0 = (int64_t)(uint64_t)((uint64_t)part6_0 & 0x3F03F03F03F03FULL);",
        "sum1 = (int64_t)(uint64_t)(((uint64_t)part6_0 >> 6) & 0x3FF03F03F03F03FULL);",
    ]
