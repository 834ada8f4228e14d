"""Limits that the C compares readings with: lists in the order of the cuts."""

from dataclasses import replace

import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import OptionError
from bncc.lower.estimate import constant_bytes, functions_counted
from bncc.lower.kernels.families import FOR_CUTS
from bncc.program.pipeline import program_of
from tests.agreement.test_cuts import model_of_sensors
from tests.agreement.test_direct_readings import model_of
from tests.models import tan_float


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


def test_so_does_code_of_constant_time():
    assert direct_of(model_of("int16"), optimize="size", constant_time=True) is None


def test_readings_of_several_kinds_become_keys_first():
    """Their order is that of the readings, and only those that are used have one."""
    model = model_of_sensors()
    direct = direct_of(model, kernel="cut-packed", compare="readings")
    used = {f for table in program_of(model).tables for f in table.features}
    assert len(direct.keys) == len(used)
    assert direct.input == f"const {direct.key_type} x[{len(used)}]"


@pytest.mark.parametrize("compare", ["readings", "states"])
@pytest.mark.parametrize("kernel", sorted(FOR_CUTS))
def test_what_is_compared_can_be_asked_for(kernel, compare):
    found = direct_of(model_of("int16"), kernel=kernel, compare=compare)
    assert (found is not None) == (compare == "readings")
    anyone = emit_c(model_of("int16"), EmitOptions("m", compare=compare))
    assert (anyone.layout.direct is not None) == (compare == "readings")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "plain"}, "the kernel plain does not compare readings with cuts"),
        ({"constant_time": True}, "--constant-time compares states with cuts"),
    ],
)
def test_what_cannot_be_compared_is_refused(options, message):
    with pytest.raises(OptionError, match=message):
        direct_of(model_of("int16"), compare="readings", **options)


@pytest.mark.parametrize("kernel", [None, "cuts"])
def test_readings_of_a_network_are_not_compared(kernel):
    who = "no kernel can" if kernel is None else "the kernel cuts cannot"
    with pytest.raises(OptionError, match=f"{who} compare the readings of this model with cuts;"):
        direct_of(tan_float(), compare="readings", kernel=kernel)


def test_states_that_are_priced_alone_need_no_comparison_of_readings():
    assert direct_of(model_of("int16"), optimize="size", priced=("predict",)) is None


def test_codes_compare_high_bytes_alone_where_thresholds_allow():
    model = model_of("int16")
    features = tuple(
        replace(each, thresholds=cuts)
        for each, cuts in zip(
            model.features, ((-257, -1, 255, 511), (767,), (-1, 255, 1023)), strict=True
        )
    )
    text = emit_c(
        replace(model, features=features), EmitOptions("m", kernel="cuts", compare="readings")
    ).files["m.c"]
    assert "up_to_int8(at, m_high_byte(x[0]), -1)" in text
    assert "up_to_int16(" not in text


def test_what_finds_states_is_there_for_who_wants_them():
    text = emit_c(model_of("int16"), EmitOptions("m", optimize="size")).files["m.c"]
    assert "void m_states(const m_raw_t *x," in text
    assert "int16_t m_predict(const uint8_t x[M_N_FEATURES])" in text


def test_the_estimate_is_of_a_program_that_takes_readings():
    direct = emit_c(model_of("int16"), EmitOptions("m", optimize="size"))
    layout = direct.layout
    lists = sum(each.n_bytes for each in layout.direct.arrays)
    assert constant_bytes(layout) == layout.table_bytes + lists + layout.labels.n_bytes + 5
    other = emit_c(model_of("int16"), EmitOptions("m", compare="states"))
    assert direct.estimate.ram < other.estimate.ram
    counted = [functions_counted(each.layout) for each in (direct, other)]
    assert counted == ["predict_raw and labels", "all functions"]
