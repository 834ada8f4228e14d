"""The kernels of cuts as C: the text of one function."""

import numpy as np
import pytest

from bncc.lower.kernels.cut_loop.layout import cut_loop
from bncc.lower.kernels.cut_loop.text import cut_loop_text
from bncc.lower.kernels.cuts.layout import cuts
from bncc.lower.kernels.cuts.text import StateReach, cuts_text, index_lines
from bncc.lower.kernels.shared.cut_places import FeatureCuts
from tests.unit.lower.by_hand import program, table

MAPS = {0: (0, 0, 1, 1), 1: (0, 1, 1, 1)}
OF_TWO = table([0, 1], [[0, 3], [1, 0], [2, 0], [0, 1]], maps=MAPS)


@pytest.mark.parametrize(
    ("levels", "wanted"),
    [
        ([2, 2], ["at = m_above(0U, x[0], 1U);", "at = m_above(at, x[1], 1U);"]),
        (
            [4],
            [
                "at = m_above(0U, x[0], 1U);",
                "at = m_further(at, x[0], 2U);",
                "at = m_further(at, x[0], 3U);",
            ],
        ),
        (
            [2, 3],
            [
                "at = m_above(0U, x[0], 1U);",
                "before = at;",
                "at = m_above(before, x[1], 1U);",
                "at += before;",
                "at = m_further(at, x[1], 2U);",
            ],
        ),
        (
            [2, 4],
            [
                "at = m_above(0U, x[0], 1U);",
                "before = at;",
                "at = m_above(before, x[1], 1U);",
                "at = at + m_above(before, x[1], 2U);",
                "at = m_further(at, x[1], 3U);",
            ],
        ),
    ],
)
def test_a_number_of_levels_multiplies_by_additions(levels, wanted):
    read = tuple(FeatureCuts(f, tuple(range(1, n))) for f, n in enumerate(levels))
    assert list(index_lines(read, StateReach("m"))) == wanted


def test_a_row_is_found_and_added():
    text = cuts_text(program([4, 4], [0, 0], [OF_TWO] * 2), next(iter(cuts(two()))), "m", 8)
    assert text.context["steps"][0] == [
        "/* x0, x1 */",
        "m_in_turn();",
        "at = m_above(0U, x[0], 2U);",
        "at = m_above(at, x[1], 1U);",
        "row = &m_table0[at];",
        "sum0 = m_rom_uint32(&row[0]);",
    ]
    first = text.arrays[0]
    assert (first.type, first.length, first.comment) == ("uint32_t", 4, "x0, x1")
    assert first.lines[0] == "/* 0-1,0 */ 0x00030000U,"
    assert text.decides


def two():
    return program([4, 4], [0, 0], [OF_TWO] * 2)


def test_words_are_widened_whole_and_odd_lanes_taken_off():
    """The prior of odd lanes is in the sum of even ones too, because it is subtracted with them."""
    tables = [table([0], [[7] * 10, [0] * 10], maps={0: (0, 1)})] * 2
    some = program([2], [3] * 10, tables)
    steps = cuts_text(some, next(iter(cuts(some))), "m", 8).context["steps"]
    flushes = [step for step in steps if "Widen" in step[0]]
    first = flushes[0]
    prior = sum(3 << (6 * lane) for lane in range(5))
    assert first[1:] == [
        f"sum0 = 0x{(prior + (prior << 3)) % 2**32:X}U + part3_0;",
        f"sum1 = 0x{prior:X}U + ((part3_0 >> 3) & 0x1F1C71C7U);",
    ]
    assert steps[-1] == ["/* Leave one class per lane. */", "sum0 -= sum1 << 3;"]


def test_a_list_of_cuts_is_printed_table_by_table():
    some = program([4, 4], [0, 0], [OF_TWO])
    text = cut_loop_text(some, next(iter(cut_loop(some))), "m", 8)
    listed = text.arrays[-1]
    assert listed.name == "cuts"
    assert listed.comment == "Per table: for each cut the feature and the smallest state above it."
    assert listed.lines == ("/* x0, x1 */", "0U, 2U, 1U, 1U,")
    assert text.context["is_doubled"]


def test_places_of_two_bytes_need_no_widening():
    costs = np.random.default_rng(0).integers(0, 8, (128, 26)).tolist()
    same = table(list(range(7)), costs, maps=dict.fromkeys(range(7), (0, 1, 1)))
    some = program([3] * 7, [0] * 26, [same] * 4)
    kernel = next(kernel for kernel in cuts(some) if kernel.lanes.dictionary)
    lines = [line for step in cuts_text(some, kernel, "m", 8).context["steps"] for line in step]
    assert "row = &m_distinct[m_rom_uint16(&m_table0[at])];" in lines


def repeated(n_distinct, n_tables=12):
    """Return a program in which tables of 16 rows share so many."""
    rng = np.random.default_rng(5)
    few = rng.integers(0, 8, (n_distinct, 26))
    maps = dict.fromkeys(range(4), (0, 1, 1))
    tables = [
        table(list(range(4)), few[rng.integers(0, n_distinct, 16)].tolist(), 8, maps=maps)
        for _ in range(n_tables)
    ]
    return program([3] * 4, [0] * 26, tables)


def test_equal_rows_are_stored_once_and_found_by_their_place():
    some = repeated(6)
    kernel = next(kernel for kernel in cut_loop(some) if kernel.dictionary)
    distinct, places, _ = cut_loop_text(some, kernel, "m", 8).arrays
    assert (distinct.name, places.name) == ("words", "places")
    assert distinct.comment == "Distinct rows of all tables."
    assert distinct.length == kernel.dictionary.rows.size
    assert (places.type, places.length) == ("uint8_t", 12 * 16)
    assert kernel.summary.endswith("in a loop, equal rows once")
    assert kernel.additions == kernel.sums.additions
    assert (kernel.largest_sum, kernel.sum_bits) == (kernel.sums.largest_sum, kernel.sums.sum_bits)


def test_places_of_one_byte_are_widened():
    some = repeated(6)
    kernel = next(kernel for kernel in cuts(some) if kernel.lanes.dictionary)
    assert kernel.lanes.dictionary.place_bits == 8
    lines = [line for step in cuts_text(some, kernel, "m", 8).context["steps"] for line in step]
    assert "row = &m_distinct[m_wide(m_rom_uint8(&m_table0[at]))];" in lines


def test_tables_of_other_lengths_say_how_long_they_are():
    few = np.eye(26, dtype=np.int64)[:4] * 7
    tables = [
        table([0], few[[0, 1]].tolist(), 8, maps={0: (0, 1, 1)}),
        table([0, 1], few[[0, 1, 2, 3, 2, 1]].tolist(), 8, maps={0: (0, 1, 2), 1: (0, 1, 1)}),
    ] * 6
    some = program([3, 3], [0] * 26, tables)
    listed = {}
    for kernel in cut_loop(some):
        listed[kernel.dictionary is not None] = cut_loop_text(some, kernel, "m", 8).arrays[-1]
    assert "number of words of its rows" in listed[False].comment
    assert "number of its rows" in listed[True].comment
