"""The lanes kernel as C: the text of one function."""

import numpy as np
import pytest

from bncc.lower.kernels.lanes.layout import lanes
from bncc.lower.kernels.lanes.text import lanes_text
from tests.unit.lower.by_hand import program, table


def printed(some, n_words, word_bits=32):
    kernel = next(kernel for kernel in lanes(some, word_bits) if kernel.n_words == n_words)
    return lanes_text(some, kernel, "m", 8)


def naive(costs, prior):
    """Return a program with one feature per table."""
    tables = [table([t], rows) for t, rows in enumerate(costs)]
    return program([len(t.costs) for t in tables], prior, tables)


def test_classes_share_words_and_rows_are_added():
    some = naive([[[1, 2, 3, 4], [5, 6, 7, 8]], [[9, 0, 1, 0], [0, 3, 0, 2]]], [0, 0, 0, 0])
    text = printed(some, 2)
    first, second = text.arrays
    assert (first.type, first.name, first.length) == ("int32_t", "table0", 4)
    assert first.lines == (
        "/* 0 */ 0x00020001L, 0x00040003L,",
        "/* 1 */ 0x00060005L, 0x00080007L,",
    )
    assert second.n_bytes == 16
    assert text.table_bytes == 32
    assert text.decides
    assert text.context["steps"] == [
        [
            "/* x0 */",
            "row = &m_table0[m_wide(x[0]) << 1];",
            "sum0 = m_rom_int32(&row[0]);",
            "sum1 = m_rom_int32(&row[1]);",
        ],
        [
            "/* x1 */",
            "row = &m_table1[m_wide(x[1]) << 1];",
            "sum0 += m_rom_int32(&row[0]);",
            "sum1 += m_rom_int32(&row[1]);",
        ],
    ]
    assert text.context["results"] == ["(uint32_t)sum0", "(uint32_t)sum1"]
    assert text.context["class_costs"] == [
        "sum[0] & 0xFFFFU",
        "sum[0] >> 16",
        "sum[1] & 0xFFFFU",
        "sum[1] >> 16",
    ]


def test_lanes_are_widened_with_masks_and_shifts():
    some = naive([[[3, 3, 3, 1], [2, 1, 0, 3]]] * 20, [0, 7, 0, 0])
    kernel = next(iter(lanes(some)))
    # Eight bits hold 67, so narrower lanes have to be requested explicitly.
    assert kernel.schedule.levels[0].lane_bits == 8
    text = printed(naive([[[1, 1, 0, 1, 1, 1, 1, 1], [0] * 8]] * 16, [2] * 8), 1)
    (flush,) = [step for step in text.context["steps"] if "Widen" in step[0]][-1:]
    assert flush == [
        "/* Widen the lanes before one could overflow. */",
        "sum0 += (int32_t)(uint32_t)((uint32_t)part4_0 & 0xF0F0F0FU);",
        "sum1 += (int32_t)(uint32_t)(((uint32_t)part4_0 >> 4) & 0xF0F0F0FU);",
    ]
    flushes = [step for step in text.context["steps"] if "Widen" in step[0]]
    half = "(int32_t)(uint32_t)((uint32_t)part4_0 & 0xF0F0F0FU)"
    assert flushes[0][1] == f"sum0 = (int32_t)0x2020202L + {half};"
    assert text.context["sums"] == [("int32_t", ["part4_0"]), ("int32_t", ["sum0", "sum1"])]


def test_two_lanes_are_parted_without_a_needless_mask():
    rows = [[[255, 255], [0, 1]]] * 300
    text = printed(naive(rows, [0, 0]), 1, word_bits=32)
    flush = next(step for step in text.context["steps"] if "Widen" in step[0])
    assert flush[1:] == [
        "sum0 = (int32_t)(uint32_t)((uint32_t)part16_0 & 0xFFFFU);",
        "sum1 = (int32_t)(uint32_t)((uint32_t)part16_0 >> 16);",
    ]


def test_a_word_of_one_class_moves_up_as_it_is():
    rows = [[[255, 255, 255], [0, 1, 2]]] * 300
    text = printed(naive(rows, [0, 0, 0]), 2)
    flush = next(step for step in text.context["steps"] if "Widen" in step[0])
    assert flush[-1] == "sum2 = part16_1;"


@pytest.mark.parametrize(
    ("prior", "most", "start"),
    [
        ([0, 0], 1 << 14, "INT32_MIN + "),
        ([9, 1], 1 << 14, "INT32_MIN + (int32_t)0x10009L + "),
        ([3, 1 << 15], 1 << 13, "(int32_t)0x3L + "),
        ([0, 1 << 15], 1 << 13, ""),
    ],
)
def test_a_sum_that_reaches_the_sign_bit_is_biased(prior, most, start):
    text = printed(naive([[[0, most], [1, 0]], [[0, most], [2, 0]]], prior), 1)
    assert text.context["steps"][0][2] == f"sum0 = {start}m_rom_int32(&row[0]);"
    assert text.context["results"] == ["(uint32_t)sum0 ^ 0x80000000U"]


def test_many_words_are_unsigned():
    rng = np.random.default_rng(0)
    text = printed(naive(rng.integers(1, 256, (3, 2, 26)), [1] * 26), 13)
    assert text.context["word_type"] == text.context["result_type"] == "uint32_t"
    assert not text.context["is_signed"]
    assert text.context["results"][0] == "sum0"
    assert text.context["steps"][0][2] == "sum0 = 0x10001U + m_rom_uint32(&row[0]);"


def test_bytes_are_read_one_after_the_other_and_widened():
    some = naive([[[9, 9, 9], [4, 5, 6]]] * 30, [1, 0, 2])
    text = printed(some, 3, word_bits=8)
    first, *_ = text.arrays
    assert (first.type, first.length, first.n_bytes) == ("uint8_t", 6, 6)
    assert first.lines == ("/* 0 */ 0x09U, 0x09U, 0x09U,", "/* 1 */ 0x04U, 0x05U, 0x06U,")
    steps = text.context["steps"]
    assert steps[0][3:] == [f"part8_{c} = m_add_next8(0U, &row);" for c in range(3)]
    assert steps[1][3:] == [f"part8_{c} = m_add_next8(part8_{c}, &row);" for c in range(3)]
    flushes = [step[1:] for step in steps if "Widen" in step[0]]
    assert flushes == [
        [
            "sum0 = (uint16_t)(0x1U + (uint16_t)part8_0);",
            "sum1 = part8_1;",
            "sum2 = (uint16_t)(0x2U + (uint16_t)part8_2);",
        ],
        [f"sum{c} = (uint16_t)(sum{c} + part8_{c});" for c in range(3)],
    ]
    assert text.context["sums"] == [
        ("uint8_t", ["part8_0", "part8_1", "part8_2"]),
        ("uint16_t", ["sum0", "sum1", "sum2"]),
    ]
    assert text.context["walked_bits"] == [8]
    assert text.context["result_type"] == "uint16_t"
    assert text.context["class_costs"] == ["sum[0]", "sum[1]", "sum[2]"]


def test_states_in_their_order_are_walked_past_those_that_no_table_reads():
    rows = [[1, 2, 3]] * 4
    tables = [table([f], rows) for f in (1, 2, 5)]
    some = program([4] * 7, [0, 0, 0], tables)
    text = printed(some, 3, word_bits=8)
    assert text.context["walks_x"]
    assert [step[1:-3] for step in text.context["steps"]] == [
        [
            "next = &next[1];",
            "state = m_next_state(&next);",
            "row = &m_table0[m_wide(m_rom_uint8(&m_times3[state]))];",
        ],
        ["state = m_next_state(&next);", "row = &m_table1[m_wide(m_rom_uint8(&m_times3[state]))];"],
        [
            "next = &next[2];",
            "state = m_next_state(&next);",
            "row = &m_table2[m_wide(m_rom_uint8(&m_times3[state]))];",
        ],
    ]


def test_states_that_are_read_again_or_wide_are_not_walked():
    rows = [[1, 2, 3]] * 4
    twice = program([4] * 3, [0, 0, 0], [table([1], rows), table([1], rows)])
    backwards = program([4] * 3, [0, 0, 0], [table([2], rows), table([1], rows)])
    pair = program([4] * 3, [0, 0, 0], [table([0, 1], rows * 4)])
    wide = program([4] * 3, [0, 0, 0], [table([1], rows)])
    many = program([4] * 3, [0] * 26, [table([1], [[9] * 26] * 4)])  # a register for each sum
    for some, state_bits in ((twice, 8), (backwards, 8), (pair, 8), (wide, 16), (many, 8)):
        *_, kernel = lanes(some, 8)
        text = lanes_text(some, kernel, "m", state_bits)
        assert not text.context["walks_x"]
        first, *_, last = (*text.context["steps"], text.context["steps"][-1])
        assert "x[1]" in "".join((*first[1:], *last[1:]))


def test_bytes_of_two_classes_are_parted():
    text = printed(naive([[[3, 3, 3], [0, 1, 2]]] * 9, [0, 0, 0]), 2, word_bits=8)
    flushes = [step[1:] for step in text.context["steps"] if "Widen" in step[0]]
    assert flushes[1] == [
        "sum0 = (uint8_t)(sum0 + (uint8_t)(part4_0 & 0xFU));",
        "sum1 = (uint8_t)(sum1 + (uint8_t)(part4_0 >> 4));",
        "sum2 = (uint8_t)(sum2 + part4_1);",
    ]


def test_bytes_go_to_wider_sums_where_each_would_fill_its_own():
    text = printed(naive([[[255, 9], [4, 5]]] * 3, [1, 0]), 2, word_bits=8)
    steps = text.context["steps"]
    assert steps[0][3:] == ["sum0 = m_add_next16(1U, &row);", "sum1 = m_add_next16(0U, &row);"]
    assert steps[2][3:] == ["sum0 = m_add_next16(sum0, &row);", "sum1 = m_add_next16(sum1, &row);"]
    assert text.context["sums"] == [("uint16_t", ["sum0", "sum1"])]
    assert text.context["walked_bits"] == [16]


def test_rows_of_several_features_are_addressed_without_multiplying():
    tan = program(
        [3, 5, 4],
        [0, 0],
        [table([0, 1], [[c, 1] for c in range(15)]), table([1, 2], [[c, 0] for c in range(20)])],
    )
    text = printed(tan, 1)
    starts = [step[1] for step in text.context["steps"]]
    assert starts == [
        "row = &m_table0[m_wide(m_rom_uint8(&m_times5[x[0]])) + m_wide(x[1])];",
        "row = &m_table1[(m_wide(x[1]) << 2) + m_wide(x[2])];",
    ]
    assert [a.name for a in text.arrays] == ["table0", "table1", "times5"]
    assert text.context["is_widened"]


def test_only_states_of_a_byte_that_are_scaled_are_widened():
    some = naive([[[1, 2, 3, 4], [5, 6, 7, 8]]] * 2, [0, 0, 0, 0])
    assert printed(some, 1).context["is_widened"]
    alone = naive([[[9], [5]]] * 2, [0])
    assert not printed(alone, 1, word_bits=8).context["is_widened"]
    kernel = next(kernel for kernel in lanes(some) if kernel.n_words == 2)
    text = lanes_text(some, kernel, "m", 16)
    assert text.context["steps"][0][1] == "row = &m_table0[(uint_fast16_t)x[0] << 1];"
    assert not text.context["is_widened"]


@pytest.mark.parametrize("n_tables", [63, 64])
def test_many_rows_are_loaded_in_their_turn(n_tables):
    text = printed(naive([[[1, 0], [0, 1]]] * n_tables, [0, 0]), 1)
    has_many = n_tables == 64
    assert text.context["is_kept_in_turn"] is has_many
    assert [step[1] == "m_in_turn();" for step in text.context["steps"]] == [has_many] * n_tables


def test_tables_of_a_dictionary_hold_places_of_rows():
    rows = [[[1, 2], [3, 0], [1, 2], [1, 2]], [[3, 0], [1, 2], [0, 5], [3, 0]]]
    some = naive(rows, [0, 0])
    kernel = next(kernel for kernel in lanes(some) if kernel.dictionary and kernel.n_words == 2)
    text = lanes_text(some, kernel, "m", 8)
    distinct, first, second = text.arrays
    assert (distinct.type, distinct.name, distinct.length) == ("int32_t", "distinct", 6)
    assert distinct.lines[:2] == ("0x00000000L, 0x00000005L,", "0x00000001L, 0x00000002L,")
    assert (first.type, first.name, first.length, first.n_bytes) == ("uint8_t", "table0", 4, 4)
    assert second.lines == ("/* 0 */ 4U,", "/* 1 */ 2U,", "/* 2 */ 0U,", "/* 3 */ 4U,")
    assert text.table_bytes == 3 * 8 + 8
    assert text.context["steps"][1] == [
        "/* x1 */",
        "row = &m_distinct[m_wide(m_rom_uint8(&m_table1[x[1]]))];",
        "sum0 += m_rom_int32(&row[0]);",
        "sum1 += m_rom_int32(&row[1]);",
    ]


def test_places_of_two_bytes_need_no_widening():
    rows = np.random.default_rng(0).integers(0, 8, (150, 26))
    some = naive([rows.tolist()] * 4, [0] * 26)
    kernel = next(kernel for kernel in lanes(some) if kernel.dictionary and not kernel.is_by_word)
    assert kernel.dictionary.place_bits == 16
    lines = [line for step in lanes_text(some, kernel, "m", 8).context["steps"] for line in step]
    assert "row = &m_distinct[m_rom_uint16(&m_table0[m_wide(x[0])])];" in lines
