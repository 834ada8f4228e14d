"""Limits that the C compares readings with: lists in the order of the cuts."""

import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.lower.estimate import constant_bytes, functions_counted
from tests.agreement.test_cuts import model_of_sensors
from tests.agreement.test_direct_readings import model_of


def direct_of(model, **options):
    return emit_c(model, EmitOptions("m", **options)).layout.direct


def test_each_cut_has_a_reading_and_a_limit():
    readings, limits = direct_of(model_of("int16"), optimize="size").arrays
    assert (readings.type, readings.name, readings.length) == ("uint8_t", "readings", 13)
    assert readings.lines[:2] == ("/* x0, x1 */", "0x02U, 0x03U, 0x04U,")
    assert (limits.type, limits.name, limits.n_bytes) == ("int16_t", "limits", 26)
    assert limits.lines[:2] == ("/* x0, x1 */", "-32768, 0, 5,")


def test_floats_are_compared_as_integers_that_order_like_them():
    direct = direct_of(model_of("float32"), optimize="size")
    assert direct.limit_type == "int32_t"
    assert direct.arrays[1].lines[1] == "-2139095040, 0, 71362,"
    assert "with the order of the floats" in direct.arrays[1].comment


@pytest.mark.parametrize("options", [{"optimize": "speed"}, {"optimize": "size", "kernel": "cuts"}])
def test_other_kernels_find_states_first(options):
    assert direct_of(model_of("int16"), **options) is None


def test_so_do_readings_of_several_kinds_and_constant_time():
    assert direct_of(model_of_sensors(), optimize="size") is None
    assert direct_of(model_of("int16"), optimize="size", constant_time=True) is None


def test_what_finds_states_is_there_for_who_wants_them():
    text = emit_c(model_of("int16"), EmitOptions("m", optimize="size")).files["m.c"]
    assert "void m_states(const m_raw_t *x," in text
    assert "int16_t m_predict(const uint8_t x[M_N_FEATURES])" in text


def test_the_estimate_is_of_a_program_that_takes_readings():
    direct = emit_c(model_of("int16"), EmitOptions("m", optimize="size"))
    layout = direct.layout
    lists = sum(each.n_bytes for each in layout.direct.arrays)
    assert constant_bytes(layout) == layout.table_bytes + lists + layout.labels.n_bytes + 5
    other = emit_c(model_of("int16"), EmitOptions("m"))
    assert direct.estimate.ram < other.estimate.ram
    counted = [functions_counted(each.layout) for each in (direct, other)]
    assert counted == ["predict_raw alone", "all functions"]
