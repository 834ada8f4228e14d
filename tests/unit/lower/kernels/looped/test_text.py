"""The looped kernel as C: the addition of a row, and the content of the lanes."""

from dataclasses import replace

import pytest

from bncc.lower.kernels.looped.layout import looped
from bncc.lower.kernels.looped.text import looped_text
from bncc.lower.kernels.shared.packing import Packing
from bncc.program.pipeline import program_of
from tests.agreement.large import two_cost_arrays
from tests.unit.lower.by_hand import program, table


def printed(some, packing, n_parts=None):
    """Return the text of the first kernel with a packing and so many parts of a word."""
    kernel = next(k for k in looped(some) if k.packing == packing and n_parts in (None, k.n_parts))
    return looped_text(some, kernel, "m", 8)


def naive(costs, prior):
    """Return a program with one feature per table."""
    tables = [table([t], rows) for t, rows in enumerate(costs)]
    return program([len(t.costs) for t in tables], prior, tables)


def test_parts_of_a_word_are_moved_down_and_masked():
    text = printed(naive([[[15, 3, 2], [0, 1, 4]]] * 9, [0, 5, 6]), Packing(4, 16))
    assert text.context["row_lines"] == [
        "word = m_rom_uint16(&row[0]);",
        "part0 += word & 0x0F0FU;",
        "part1 += (word >> 4) & 0x000FU;",
    ]
    assert text.context["results"] == ["part0 & 0xFFU", "5U + part1", "6U + (part0 >> 8)"]
    assert text.context["part_type"] == "uint32_t"
    words, known = text.arrays
    assert words.lines[:3] == ("/* x0 */", "/* 0 */ 0x023FU,", "/* 1 */ 0x0410U,")
    assert words.comment == (
        "Costs of 4 bits, 4 per word, the first in the lowest bits: one table per heading, "
        "one row per joint state."
    )
    assert known.lines == ("0U, 2U, 4U, 6U, 8U, 10U, 12U, 14U, 16U,",)
    assert known.comment == "Per table: its first word."
    assert text.table_bytes == 36


def test_lanes_are_emptied_into_their_classes():
    text = printed(naive([[[15] * 5]] * 40, [0] * 5), Packing(4, 32), 2)
    assert (text.context["run"], text.context["n_runs"]) == (17, 3)
    assert text.context["results"] == [
        "cost[0] + (part0 & 0xFFU)",
        "cost[1] + (part1 & 0xFFU)",
        "cost[2] + ((part0 >> 8) & 0xFFU)",
        "cost[3] + (part1 >> 8)",
        "cost[4] + (part0 >> 16)",
    ]
    assert text.context["row_lines"][2] == "part1 += (word >> 4) & 0x00000F0FU;"


def test_single_costs_are_read_and_added_at_once():
    some = replace(naive([[[200, 3]], [[1, 100]]], [0, 0]), cost_bits=8)
    text = printed(some, Packing(8, 8))
    assert text.context["row_lines"] == [
        "part0 += m_rom_uint8(&row[0]);",
        "part1 += m_rom_uint8(&row[1]);",
    ]
    assert text.context["results"] == ["part0", "part1"]
    assert text.context["part_type"] == "uint_fast16_t"
    words, _, multiples = text.arrays
    assert words.lines[1] == "/* 0 */ 200U, 3U,"
    assert words.comment.startswith("Costs: one table")
    assert multiples.lines == ("0U,",)


def test_the_uppermost_cost_of_a_word_needs_no_mask():
    text = printed(naive([[[15, 3]]] * 2, [0, 0]), Packing(4, 8))
    assert text.context["row_lines"][1:] == ["part0 += word & 0x0FU;", "part1 += word >> 4;"]
    assert text.arrays[0].comment.startswith("Costs of 4 bits, 2 per byte,")
    assert text.context["part_type"] == "uint32_t"  # the program's sums have 32 bits


def test_other_features_are_named_in_what_is_known_of_a_table():
    tables = [table([1], [[0, 1]] * 3), table([1, 0], [[1, 0]] * 6)]
    text = printed(program([2, 3], [0, 0], tables), Packing(1, 8))
    known, multiples = text.arrays[1:]
    assert known.comment == (
        "Per table: its first word, its fastest-varying feature, each other feature "
        "and the index of its multiples."
    )
    assert known.lines == ("0U, 1U, 1U, 0U, 3U, 0U, 1U, 3U,",)
    assert multiples.name == "multiples"
    assert (text.context["n_columns"], text.context["n_others"]) == (4, 1)
    assert text.context["at_type"] == "uint_fast16_t"


def test_words_in_several_arrays_begin_anew_in_each():
    some = program_of(two_cost_arrays())
    text = printed(some, Packing(8, 8))
    costs = text.context["costs"]
    assert costs.is_split
    assert [a.name for a in costs.arrays] == ["words1", "words2"]
    known = [
        int(number) for number in "".join(text.arrays[2].lines).replace("U", "").split(",")[:-1]
    ]
    starts = known[:: text.context["n_columns"]]
    assert starts == costs.starts.tolist()
    assert starts.count(0) == 2


@pytest.mark.parametrize(("n_states", "at_type"), [(65535, "uint_fast16_t"), (65536, "uint32_t")])
def test_the_place_of_a_word_has_room_for_the_last(n_states, at_type):
    some = program([n_states], [0, 0], [table([0], [[0, 1]] * n_states)])
    assert printed(some, Packing(1, 8)).context["at_type"] == at_type
