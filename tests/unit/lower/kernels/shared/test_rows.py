"""Tables in one array, or in as few as AVR takes: every table whole, every start its own."""

import numpy as np
import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.lower.kernels.plain.layout import plain
from bncc.lower.kernels.plain.text import plain_text
from bncc.lower.kernels.shared.row_address import RowLayout, address_text, row_starts
from bncc.lower.kernels.shared.rows import cost_arrays, table_lines
from tests import models as hand
from tests.agreement.large import large_tables, three_cost_arrays, two_cost_arrays
from tests.unit.lower.by_hand import program, table

PLAIN = EmitOptions("m", kernel="plain")


def split(sizes, entry_bits=8):
    """Return the arrays of tables with one class and these numbers of entries."""
    tables = [table([i], [[0]] * n, entry_bits) for i, n in enumerate(sizes)]
    some = program(sizes, [0], tables)
    return cost_arrays(some, some.tables, entry_bits)


@pytest.mark.parametrize(
    ("sizes", "ends"),
    [
        ([32767], (1,)),
        ([32766, 1], (2,)),
        ([32767, 1], (1, 2)),
        ([1, 32767], (1, 2)),
        ([16384, 16383, 32000], (2, 3)),
        ([16384, 16384, 16384, 1], (1, 2, 4)),
        ([20000, 20000, 20000], (1, 2, 3)),
        ([32767, 32261], (1, 2)),
    ],
)
def test_tables_fill_one_array_after_the_other(sizes, ends):
    assert split(sizes).ends == ends


@pytest.mark.parametrize("sizes", [[32768], [32768, 5], [5, 32768], [32767, 32262]])
def test_what_avr_cannot_hold_either_way_stays_in_one_array(sizes):
    costs = split(sizes)
    assert [array.name for array in costs.arrays] == ["costs"]
    assert costs.starts.tolist() == np.cumsum([0, *sizes[:-1]]).tolist()


def test_the_limit_is_in_bytes():
    assert split([8192, 8191], entry_bits=16).ends == (2,)
    assert split([8192, 8192], entry_bits=16).ends == (1, 2)


@pytest.mark.parametrize("make", [*hand.NAMED.values(), two_cost_arrays, three_cost_arrays])
def test_every_table_is_found_where_its_start_says(make):
    kernel = plain(emit_c(make(), PLAIN).program)
    costs = emit_c(make(), PLAIN).layout.text.context["costs"]
    entries = [
        [int(word[:-2]) for line in array.lines for word in line.split("*/")[-1].split()
         if word.endswith("U,")]
        for array in costs.arrays
    ]  # fmt: skip
    assert [len(numbers) for numbers in entries] == [array.length for array in costs.arrays]
    for t, stored in enumerate(kernel.tables):
        numbers = entries[sum(t >= end for end in costs.ends)]
        start = int(costs.starts[t])
        assert numbers[start : start + stored.costs.size] == stored.costs.ravel().tolist()


def test_several_arrays_say_why_and_which_tables_they_hold():
    first, second, third = split([16384, 16384, 16384, 1]).arrays
    assert first.comment == (
        "Costs: one table per heading, one row per joint state, one entry per class. They are "
        "split into 3 arrays, since AVR compilers allow at most 32767 bytes per array. "
        "This one has table 0."
    )
    assert second.comment == "Costs of table 1."
    assert third.comment == "Costs of tables 2 to 3."
    assert [array.name for array in (first, second, third)] == ["costs1", "costs2", "costs3"]
    assert [array.n_bytes for array in (first, second, third)] == [16384, 16384, 16385]


def test_one_array_is_indexed():
    text = emit_c(hand.tan_float(), PLAIN).files["m.c"]
    assert "static uint16_t m_row(" in text
    assert "    const uint16_t first = m_row(x, 0U);" in text
    assert "m_rom_uint8(&m_costs[first + c])" in text
    assert "    return row;\n}" in text


def test_several_arrays_are_pointed_into():
    text = emit_c(three_cost_arrays(), PLAIN).files["m.c"]
    assert "static const uint16_t *m_row(" in text
    assert "    const uint16_t *const first = m_row(x, 0U);" in text
    assert "    const uint16_t *row = m_row(x, 1U);" in text
    assert "m_rom_uint16(&first[c])" in text
    assert "+ m_rom_uint16(&row[c])" in text
    assert (
        "    if (t < 1U) {\n        return &m_costs1[row];\n    }\n"
        "    if (t < 2U) {\n        return &m_costs2[row];\n    }\n"
        "    return &m_costs3[row];\n}"
    ) in text


def test_what_is_too_large_for_avr_is_refused_there_alone():
    text = emit_c(large_tables(), PLAIN).files["m.c"]
    assert '#if defined(__AVR__)\n#error "m: ' in text
    assert "static uint32_t m_row(" in text


def test_rows_that_states_share_stand_behind_all_of_them():
    shared = table([0, 1], [[0, 1]] * 4, maps={0: (0, 1, 0, 0, 1, 0)})
    some = program([6, 2], [0, 0], [shared])
    assert table_lines(some, shared, [["0U,", "1U,"]] * 4)[1:] == [
        "/* 0+2-3+5,0 */ 0U, 1U,",
        "/* 0+2-3+5,1 */ 0U, 1U,",
        "/* 1+4,0 */ 0U, 1U,",
        "/* 1+4,1 */ 0U, 1U,",
    ]


def test_a_state_map_is_an_array_of_addresses():
    maps = {0: (0, 1, 0)}
    tables = [table([0], [[0, 1]] * 2, maps=maps), table([0, 1], [[0, 1]] * 8, maps=maps)]
    some = program([3, 4], [0, 0], tables)
    rows = RowLayout(tuple(tables), (3, 3), (None, None), "int32_t")
    address = address_text(some, rows, "m")
    assert [(a.name, a.lines) for a in address.arrays] == [
        ("times3", ("0U, 3U, 6U, 9U,",)),
        ("level0", ("0U, 3U, 0U,",)),
        ("level1", ("0U, 12U, 0U,",)),
    ]
    assert address.of[0] == "&m_table0[m_rom_uint8(&m_level0[x[0]])]"
    assert address.row_type == ""


def test_states_with_equal_rows_share_an_address():
    tables = [table([0, 1], [[0, 1]] * 8, maps={0: (0, 1, 0)})]
    some = program([3, 4], [0, 0], tables)
    rows = RowLayout(tuple(tables), (3,), row_starts(some, tables), "int32_t")
    address = address_text(some, rows, "m")
    times, pointers = address.arrays
    assert times.name == "times3"
    assert (pointers.name, pointers.type) == ("rows0", "int32_t *const")
    assert pointers.lines == ("&m_table0[0], &m_table0[12], &m_table0[0],",)
    assert address.of == ("&m_rom_row(&m_rows0[x[0]])[m_rom_uint8(&m_times3[x[1]])]",)
    assert address.row_type == "int32_t"


def test_the_plain_kernel_looks_levels_up_among_the_products():
    some = program([3], [0, 1], [table([0], [[0, 1], [1, 0]], maps={0: (0, 1, 0)})])
    text = plain_text(some, plain(some), "m", 8)
    assert text.context["terms"][0].place == "own_place"
    multiples = next(a for a in text.arrays if a.name == "multiples")
    assert multiples.comment.endswith("States whose rows are equal share one.")
    assert multiples.lines == ("0U, 0U, 2U, 0U,",)
