"""The bit-slice kernel as C: the text of one function."""

import pytest

from bncc.lower.kernels.bit_slice.layout import bit_slice
from bncc.lower.kernels.bit_slice.text import bit_slice_text
from bncc.lower.kernels.shared.row_address import n_looked_up
from tests.unit.lower.by_hand import program, table


def printed(some, layout=-1, state_bits=16, n_addresses=0):
    """
    Return one of a program's layouts as text; the last has one plane to a word.

    Rows are found by products unless a test requests another way.
    """
    layouts = [kernel for kernel in bit_slice(some) if n_looked_up(kernel.starts) == n_addresses]
    return bit_slice_text(some, layouts[layout], "m", state_bits)


def naive(costs, prior):
    """Return a program with one feature per table."""
    tables = [table([t], rows) for t, rows in enumerate(costs)]
    return program([len(t.costs) for t in tables], prior, tables)


BITS = [[1, 0, 1, 1], [0, 1, 0, 1]]
FEW = [[3, 0, 1, 2], [0, 1, 2, 0]]


def test_rows_of_one_word_are_read_where_they_are_added():
    text = printed(naive([BITS] * 4, [0] * 4))
    first, *others = text.arrays
    assert (first.type, first.name, first.length, first.comment) == ("uint8_t", "table0", 2, "x0")
    assert first.lines == ("/* 0 */ 0x0DU,", "/* 1 */ 0x0AU,")
    assert [array.name for array in others] == ["table1", "table2", "table3"]
    assert text.table_bytes == 8
    assert text.decides
    assert text.context["blocks"] == [
        ["/* x0 */", "sum0 = m_rom_uint8(&m_table0[x[0]]);"],
        [
            "/* x1; x2 */",
            "sum1 = m_add2(&sum0, m_rom_uint8(&m_table1[x[1]]), m_rom_uint8(&m_table2[x[2]]));",
        ],
        [
            "/* x3 */",
            "held0 = m_rom_uint8(&m_table3[x[3]]);",
            "held1 = m_add1(&sum0, held0);",
            "sum2 = m_add1(&sum1, held1);",
        ],
    ]
    assert text.context["variables"] == ["held0", "held1", "sum0", "sum1", "sum2"]
    assert text.context["addends"] == {1, 2}
    assert text.context["row_pointers"] == []
    assert text.context["n_levels"] == 3
    assert text.context["all_classes"] == "0x0FU"
    assert text.context["halvings"] == [(2, "0x3U"), (1, "0x1U")]


def test_rows_of_several_words_are_pointed_to():
    text = printed(naive([FEW] * 3, [0] * 4))
    assert text.context["row_pointers"] == ["row", "other"]
    first, second = text.context["blocks"]
    assert first == [
        "/* x0 */",
        "row = &m_table0[(uint_fast16_t)x[0] << 1];",
        "sum0 = m_rom_uint8(&row[0]);",
        "sum1 = m_rom_uint8(&row[1]);",
    ]
    assert second[:5] == [
        "/* x1; x2 */",
        "row = &m_table1[(uint_fast16_t)x[1] << 1];",
        "other = &m_table2[(uint_fast16_t)x[2] << 1];",
        "held1 = m_add2(&sum0, m_rom_uint8(&row[0]), m_rom_uint8(&other[0]));",
        "sum2 = m_add2(&sum1, m_rom_uint8(&row[1]), m_rom_uint8(&other[1]));",
    ]
    assert text.arrays[0].lines == ("/* 0 */ 0x05U, 0x09U,", "/* 1 */ 0x02U, 0x04U,")


def test_a_single_row_of_several_words_needs_one_pointer():
    text = printed(naive([BITS, BITS, BITS, FEW], [0] * 4))
    assert text.context["row_pointers"] == ["row"]


def test_a_pair_whose_words_are_added_one_by_one_keeps_both_pointers():
    """The prior has set the level of the second words, but not that of the first ones."""
    text = printed(naive([FEW] * 2, [2, 0, 0, 0]))
    assert text.context["row_pointers"] == ["row", "other"]
    assert text.context["blocks"][1][:6] == [
        "/* x0; x1 */",
        "row = &m_table0[(uint_fast16_t)x[0] << 1];",
        "other = &m_table1[(uint_fast16_t)x[1] << 1];",
        "sum0 = m_rom_uint8(&row[0]);",
        "held0 = m_rom_uint8(&other[0]);",
        "sum2 = m_add2(&sum1, m_rom_uint8(&row[1]), m_rom_uint8(&other[1]));",
    ]


def test_a_later_word_of_the_second_table_is_read_from_its_own_row():
    """Nothing has set the level of the second words: each is added in a step of its own."""
    rows = [[6, 5, 0], [7, 5, 4]]
    text = printed(naive([rows] * 2, [1, 0, 1]), 0)
    assert text.context["half_bits"] == 4
    assert text.context["blocks"][1][3:6] == [
        "sum1 = m_add2(&sum0, m_rom_uint8(&row[0]), m_rom_uint8(&other[0]));",
        "sum2 = m_rom_uint8(&row[1]);",
        "held2 = m_rom_uint8(&other[1]);",
    ]


def test_two_bits_share_a_word_and_the_upper_half_is_added_in_the_end():
    text = printed(naive([FEW] * 3, [0, 0, 0, 1]), 0)
    prior, first, second, last = text.context["blocks"]
    assert text.context["half_bits"] == 4
    assert text.arrays[0].lines == ("/* 0 */ 0x95U,", "/* 1 */ 0x42U,")
    assert prior == ["/* The prior. */", "sum0 = 0x08U;"]
    assert (first[0], second[0]) == ("/* x0; x1 */", "/* x2 */")
    assert last[:3] == [
        "/* The upper halves count twice. */",
        "held1 = (uint8_t)(sum0 >> 4);",
        "sum2 = m_add1(&sum1, held1);",
    ]


def test_words_of_32_bits_need_no_casts():
    rows = [[3] * 12, [0] * 12]
    text = printed(naive([rows] * 3, [0] * 12), 0)
    last = text.context["blocks"][-1]
    assert "held1 = sum0 >> 16;" in last
    assert all("(uint32_t)" not in line for block in text.context["blocks"] for line in block)
    assert text.arrays[0].lines[0] == "/* 0 */ 0x0FFF0FFFU,"


def test_the_highest_sum_is_without_carry():
    # Both read one feature, whose rows sum to 1 at most.
    tables = [table([0], [[1, 0, 1], [0, 0, 0]]), table([0], [[0, 0, 0], [1, 1, 0]])]
    text = printed(program([2], [0, 0, 0], tables))
    assert text.context["n_levels"] == 1
    assert text.context["addends"] == set()
    assert text.context["blocks"][1][-1] == (
        "sum0 = (uint8_t)(sum0 ^ m_rom_uint8(&m_table1[x[0]]));"
    )
    wide = [[1] * 20, [0] * 20], [[0] * 20, [1] * 20]
    text = printed(program([2], [0] * 20, [table([0], rows) for rows in wide]))
    assert text.context["blocks"][1][-1] == "sum0 = sum0 ^ m_rom_uint32(&m_table1[x[0]]);"


def test_long_statements_are_wrapped_and_rows_are_addressed_without_multiplying():
    tables = [table([f], BITS * 3) for f in (0,)]
    tables += [table([0, f], BITS * 15) for f in (1, 2)]
    text = printed(program([6, 5, 5], [0] * 4, tables))
    assert text.context["blocks"][1] == [
        "/* x0, x1; x0, x2 */",
        "sum1 = m_add2(&sum0,",
        "    m_rom_uint8(&m_table1[(uint_fast16_t)m_rom_uint8(&m_times5[x[0]]) + x[1]]),",
        "    m_rom_uint8(&m_table2[(uint_fast16_t)m_rom_uint8(&m_times5[x[0]]) + x[2]]));",
    ]
    assert [array.name for array in text.arrays] == ["table0", "table1", "table2", "times5"]
    assert text.arrays[1].comment == "x0, x1"


@pytest.mark.parametrize(("n_states", "wide"), [(2**15 - 1, "uint_fast16_t"), (2**15, "uint32_t")])
def test_offsets_are_as_wide_as_the_table_asks(n_states, wide):
    text = printed(program([n_states], [0, 0], [table([0], [[3, 0]] * n_states)]))
    assert text.context["blocks"][0][1] == f"row = &m_table0[({wide})x[0] << 1];"


def test_a_sum_of_several_states_is_shifted_as_a_whole():
    text = printed(program([4, 4], [0, 0], [table([0, 1], [[3, 0]] * 16)]))
    start = text.context["blocks"][0][1]
    assert start == "row = &m_table0[(((uint_fast16_t)x[0] << 2) + x[1]) << 1];"


def test_states_of_one_byte_are_widened_before_they_are_scaled():
    tables = [table([0], [[1, 0]] * 4), table([0, 1], [[3, 0]] * 20), table([1, 0], [[3, 0]] * 20)]
    text = printed(program([4, 5], [0, 0], tables), state_bits=8)
    first, second = text.context["blocks"]
    assert first[1] == "sum0 = m_rom_uint8(&m_table0[m_wide(x[0])]);"
    assert second[1:3] == [
        "row = &m_table1[(m_wide(m_rom_uint8(&m_times5[x[0]])) + m_wide(x[1])) << 1];",
        "other = &m_table2[((m_wide(x[1]) << 2) + m_wide(x[0])) << 1];",
    ]
    assert text.context["is_widened"]
    assert not printed(program([4, 5], [0, 0], tables)).context["is_widened"]


def test_rows_that_are_looked_up_need_no_product():
    tables = [table([0, 1], BITS * 15), table([1, 2], [[3, 0, 0, 0]] * 25)]
    text = printed(program([6, 5, 5], [0] * 4, tables), n_addresses=2)
    first, second = text.context["blocks"]
    assert first[1] == "sum0 = m_rom_uint8(&m_rom_row(&m_rows0[x[0]])[x[1]]);"
    assert second[1] == "row = &m_rom_row(&m_rows1[x[1]])[(uint_fast16_t)x[2] << 1];"
    assert text.context["row_type"] == "uint8_t"
    assert [array.name for array in text.arrays] == ["table0", "table1", "rows0", "rows1"]
    assert text.arrays[2].type == "uint8_t *const"
    assert text.arrays[2].comment == "First row of each state of x0."
    assert text.arrays[2].lines == (
        "&m_table0[0], &m_table0[5], &m_table0[10], &m_table0[15], &m_table0[20], &m_table0[25],",
    )
    assert text.arrays[3].lines[0].startswith("&m_table1[0], &m_table1[10],")
    assert text.arrays[3].n_bytes == 5 * 4
