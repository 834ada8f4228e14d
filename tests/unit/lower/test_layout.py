"""Types and expressions of the emitted C, each chosen by its range of values."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.discretize.feature import Feature
from bncc.emit.template_names import template_names
from bncc.fixed_point import QFormat
from bncc.lower.discretizers.choice import searched
from bncc.lower.discretizers.rates import rates_of
from bncc.lower.input_check import input_check
from bncc.lower.kernels.plain.layout import plain
from bncc.lower.layout import lay_out
from bncc.lower.request import EntryPoints
from bncc.program.pipeline import optimize, program_of
from bncc.structure.graph import Structure, forest
from tests import models as hand
from tests.agreement.large import two_cost_arrays
from tests.unit.lower.by_hand import program, table

EVERYTHING = EntryPoints(raw=True, scores=True, trusted=True)


def layout_of(some, entries=EVERYTHING):
    check = input_check(some.n_states, optimize="balanced", rom_bytes=0)
    discretizers = searched(some.features, "linear", rates_of(None))
    return lay_out(some, plain(some), entries, "m", check, discretizers)


def layout_of_model(model, entries=EVERYTHING):
    return layout_of(optimize(program_of(model))[0], entries)


def lines(layout, name):
    return next(list(array.lines) for array in layout.arrays if array.name == name)


def names(layout):
    return [array.name for array in layout.arrays]


def two_by(n_states, n_features=1):
    """Return a program of equal features, two classes and constant tables."""
    rows = [[0, 1]] * n_states
    return program([n_states] * n_features, [0, 0], [table([i], rows) for i in range(n_features)])


@pytest.mark.parametrize(("n_states", "bits"), [(255, 8), (256, 16)])
def test_states_have_one_byte_up_to_255_of_them(n_states, bits):
    layout = layout_of(two_by(n_states))
    assert layout.state_bits == bits
    assert template_names(layout)["state_type"] == f"uint{bits}_t"
    assert template_names(layout)["state_pgm"] == {8: "byte", 16: "word"}[bits]


@pytest.mark.parametrize(("n_features", "counter"), [(255, "uint8_t"), (256, "uint16_t")])
def test_counters_can_leave_their_loop(n_features, counter):
    context = template_names(layout_of(two_by(2, n_features)))
    assert context["feature_type"] == counter
    assert context["table_type"] == counter


def test_tables_are_printed_row_by_row_under_what_they_stand_for():
    assert lines(layout_of_model(hand.tan_float()), "costs") == [
        "/* x0, x1 */",
        "/* 0,0 */ 0U, 11U,",
        "/* 0,1 */ 0U, 73U,",
        "/* 0,2 */ 3U, 0U,",
        "/* 1,0 */ 5U, 0U,",
        "/* 1,1 */ 44U, 0U,",
        "/* 1,2 */ 0U, 23U,",
        "/* x2 given x1: x1, x2 */",
        "/* 0,0 */ 0U, 1U,",
        "/* 0,1 */ 0U, 1U,",
        "/* 1,0 */ 0U, 1U,",
        "/* 1,1 */ 0U, 1U,",
        "/* 2,0 */ 0U, 1U,",
        "/* 2,1 */ 1U, 0U,",
    ]


def test_a_row_of_many_classes_continues_indented():
    some = program([1], [0] * 60, [table([0], [[250] * 60])])
    printed = lines(layout_of(some), "costs")
    assert printed[0] == "/* x0 */"
    assert printed[1].startswith("/* 0 */ 250U, 250U,")
    assert all(line.startswith("    250U,") for line in printed[2:])
    assert " ".join(printed).count("250U,") == 60
    assert max(map(len, printed)) <= 96


def test_a_naive_model_reads_feature_t_in_table_t():
    layout = layout_of_model(hand.naive_integer())
    (term,) = layout.text.context["terms"]
    assert (term.state, term.multiples, term.is_partial) == ("x[t]", "", False)
    assert "feature" not in names(layout)


def test_a_tan_looks_up_which_feature_and_which_parent_a_table_reads():
    layout = layout_of(program_of(hand.tan_float()))
    own, parent = layout.text.context["terms"]
    assert own.state == "x[m_rom_uint8(&m_feature[t])]"
    assert parent.state == "x[m_rom_uint8(&m_parent[t])]"
    assert parent.multiples == "m_rom_uint8(&m_parent_multiples[t])"
    assert (parent.name, parent.place) == ("parent", "place")
    assert (parent.n_tables, parent.is_partial) == (2, True)
    assert lines(layout, "feature") == ["1U, 2U, 0U,"]
    assert lines(layout, "parent") == ["0U, 1U,"]


def test_a_term_of_every_table_is_not_partial():
    structure = Structure(((), (0,)), (False, True))
    model = hand.model_of(
        [hand.feature("a", 2), hand.feature("b", 2)],
        structure,
        QFormat(4, 0),
        [1, 0],
        [[[3, 3], [1, 1]], [[1, 2], [3, 4], [5, 6], [7, 0]]],
    )
    _, parent = layout_of_model(model).text.context["terms"]
    assert not parent.is_partial


def test_further_parents_have_numbered_names():
    layout = layout_of_model(hand.general_network())
    assert [(term.name, term.place) for term in layout.text.context["terms"][1:]] == [
        ("parent", "place"),
        ("parent2", "place2"),
        ("parent3", "place3"),
    ]
    assert [name for name in names(layout) if "parent" in name] == [
        "parent",
        "parent_multiples",
        "parent2",
        "parent2_multiples",
        "parent3",
        "parent3_multiples",
    ]


@pytest.mark.parametrize(("n_features", "bits"), [(256, 8), (257, 16)])
def test_more_than_256_features_are_numbered_in_16_bits(n_features, bits):
    tables = [table([i], [[0, 1]]) for i in reversed(range(n_features))]
    layout = layout_of(program([1] * n_features, [0, 0], tables))
    assert layout.text.context["terms"][0].state == f"x[m_rom_uint{bits}(&m_feature[t])]"


def test_an_index_into_the_multiples_holds_their_number_and_a_state():
    strides = program([200, 100], [0, 1], [table([0, 1], [[0, 1]] * 20000)])
    assert len(plain(strides).multiples) == 300
    assert template_names(layout_of(strides))["place_type"] == "uint16_t"
    assert template_names(layout_of(two_by(200)))["place_type"] == "uint8_t"
    assert template_names(layout_of(two_by(256)))["place_type"] == "uint16_t"


def test_types_follow_the_widths_of_the_kernel():
    some = program([2], [0, 300], [table([0], [[0, 70000], [1, 0]])])
    context = template_names(layout_of(some))
    assert context["cost_type"] == "uint32_t"
    assert context["entry_type"] == "uint32_t"
    assert context["prior_type"] == "uint16_t"
    assert (context["has_prior"], context["first_table"]) == (True, 1)
    assert context["largest_sum"] == 70300


def test_a_sum_of_two_rows_needs_no_prior():
    context = template_names(layout_of_model(hand.tan_float()))
    assert (context["has_prior"], context["first_table"], context["prior_type"]) == (False, 2, "")


@pytest.mark.parametrize(
    ("largest", "cast"), [(255, ""), (65535, ""), (65536, "(m_cost_t)"), (2**20, "(m_cost_t)")]
)
def test_sums_of_32_bits_do_not_start_in_the_16_bits_of_an_int(largest, cast):
    assert template_names(layout_of_model(hand.summing_to(largest)))["first_cast"] == cast


def test_the_unit_of_a_negative_fraction_has_a_positive_exponent():
    assert template_names(layout_of_model(hand.saturated()))["unit_exponent"] == 1
    assert template_names(layout_of_model(hand.tan_float()))["unit_exponent"] == -3


def test_bytes_are_those_of_all_arrays_and_labels():
    layout = layout_of_model(hand.naive_integer())
    assert layout.table_bytes == 3 * 3 + 2 * 3
    # start, multiples, thresholds, their numbers, missing states, labels and their starts
    assert layout.other_bytes == 4 + 3 + 6 + 2 + 2 + (3 * 3 + 1) + 4


def test_the_prior_counts_as_a_table():
    some = program([2], [0, 300], [table([0], [[0, 1], [1, 0]], entry_bits=8)], cost_bits=16)
    assert layout_of(some).table_bytes == 2 * 2 + 4


@pytest.mark.parametrize(("n_states", "fits"), [(8191, True), (8192, False)])
def test_avr_refuses_a_table_of_32768_bytes(n_states, fits):
    rows = np.tile([0, 1, 2, 3], (n_states, 1)).tolist()
    some = program([n_states], [0, 1, 0, 0], [table([0], rows, entry_bits=8)], cost_bits=8)
    layout = layout_of(some)
    assert layout.rom_bytes < 65000
    assert (template_names(layout)["avr_error"] == "") == fits


def test_avr_refuses_an_array_of_32768_bytes_that_holds_no_costs():
    thresholds = tuple(range(128))
    some = two_by(129, n_features=64)
    features = [Feature(f"x{i}", "int32", 129, thresholds=thresholds) for i in range(64)]
    some = replace(some, features=tuple(features))
    some = replace(some, tables=tuple(replace(table, entry_bits=8) for table in some.tables))
    assert "an array of 32768 bytes is more" in template_names(layout_of(some))["avr_error"]
    without = layout_of(some, EntryPoints(False, False, False))
    assert template_names(without)["avr_error"] == ""


def test_many_small_arrays_are_too_large_for_avr_together():
    tables = [table([i], [[0, 1]], entry_bits=8) for i in range(13000)]
    some = program([1] * 13000, [0, 1], tables, cost_bits=16)
    layout = layout_of(some)
    assert all(array.n_bytes <= 32767 for array in layout.arrays)
    assert f"{layout.rom_bytes} bytes" in template_names(layout)["avr_error"]


def test_the_bytes_of_tables_are_the_same_in_one_array_and_in_several():
    layout = layout_of_model(two_cost_arrays())
    assert names(layout)[:2] == ["costs1", "costs2"]
    assert layout.table_bytes == 8 * 14 * 14 * 26 + 14 * 26 + 26
    assert layout.table_bytes + layout.other_bytes == layout.rom_bytes
    assert layout.text.context["costs"].starts.tolist() == [
        5096 * t for t in (0, 1, 2, 3, 4, 5, 0, 1, 2)
    ]
    assert lines(layout, "start") == [
        "0U, 5096U, 10192U, 15288U, 20384U, 25480U, 0U, 5096U, 10192U,"
    ]


def test_each_type_in_flash_has_one_reader():
    readers = template_names(layout_of_model(hand.tan_float()))["readers"]
    assert readers == [
        {"type": "int32_t", "pgm": "dword"},
        {"type": "uint16_t", "pgm": "word"},
        {"type": "uint8_t", "pgm": "byte"},
    ]


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("naive_integer", "INT16_MIN"),
        ("int32_thresholds", "INT32_MIN"),
        ("tan_float", "NaN"),
        ("ties", "a number out of range"),
        ("category_with_missing", ""),
    ],
)
def test_the_header_says_which_reading_is_missing(name, missing):
    assert template_names(layout_of_model(hand.NAMED[name]()))["raw_missing"] == missing


def test_without_raw_there_are_no_thresholds():
    layout = layout_of_model(hand.naive_integer(), EntryPoints(False, False, False))
    assert layout.raw is None
    assert "cuts_int16" not in names(layout)
    assert template_names(layout)["raw_missing"] == ""
    assert template_names(layout)["cut_type"] == ""
    assert template_names(layout)["count_type"] == ""


def test_thresholds_are_counted_in_the_fastest_type_of_enough_bits():
    thresholds = tuple(range(40000))
    features = [
        Feature("a", "int32", 40001, thresholds=thresholds),
        Feature("b", "int32", 40001, thresholds=thresholds),
        Feature("c", "int16", 1),
    ]
    rows = [[0, 1]] * 40001
    model = hand.model_of(
        features, forest([None] * 3), QFormat(1, 0), [0, 1], [rows, rows, [[0, 0]]]
    )
    context = template_names(layout_of_model(model))
    assert (context["cut_type"], context["count_type"]) == ("uint32_t", "uint_fast32_t")


def test_names_from_data_are_made_safe():
    printed = " ".join(lines(layout_of_model(hand.hostile_names()), "costs"))
    assert "/* '/ int main */" in printed
    assert "/* (blank) */" in printed
    labelled = replace(hand.ties(), classes=('"', "b", "c"))
    assert layout_of_model(labelled).labels.lines[0] == r'"\042\000"'
