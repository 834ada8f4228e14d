"""Readings and keys that loops and straight-line code compare, for every mix of types."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.discretize.feature import Feature
from bncc.emit.emitter import EmitOptions, emit_c, emit_candidate
from bncc.errors import OptionError
from bncc.lower.cost_model import candidate
from bncc.lower.cut_conditions import cut_condition
from bncc.lower.direct import can_read, plan_direct
from bncc.lower.kernels.families import FAMILIES, FOR_CUTS
from bncc.lower.reading_cost import reading_terms
from bncc.lower.reading_keys import ComparedIntegers, compared_integers
from bncc.program.pipeline import program_of
from tests.agreement.test_mixed_readings import (
    MIXES,
    doubled_model_of,
    emissions,
    floats_of,
    halved,
    model_of,
    number,
)
from tests.models import naive_integer

BYTES = (
    Feature("full", "uint8", 4, (0, 100, 255)),
    Feature("half", "uint8", 2, (7,)),
    number("int16", 0),
)
STATES = (Feature("a", "state", 5, (), (), 4), Feature("b", "state", 4, (), (), 3))
MORE = {"bytes": BYTES, "states": STATES}


@pytest.mark.parametrize("make", [model_of, doubled_model_of])
@pytest.mark.parametrize("family", sorted(FOR_CUTS))
@pytest.mark.parametrize("mix", [*MIXES, *MORE])
def test_no_state_is_formed_of_any_mix(mix, family, make):
    model = make({**MIXES, **MORE}[mix], 4)
    for emission in emissions(model, family, entries=frozenset({"raw"})):
        assert emission.layout.direct is not None
        text = emission.files["m.c"]
        body = text.split("int16_t m_predict_raw(")[1].split("\n}")[0]
        assert "state" not in body
        assert ("key[" in body) == bool(emission.layout.direct.keys)


def test_loops_over_one_cut_per_table_list_no_strides():
    model = doubled_model_of(MIXES["two"], 4)
    program = program_of(model)
    said = []
    for kernel in FAMILIES["cut-loop"](program):
        chosen = replace(candidate(program, kernel, None), compare="readings")
        text = emit_candidate(model, chosen, EmitOptions("m")).files["m.c"]
        said.append("and the row stride" in text)
        assert said[-1] != kernel.is_doubled
    assert False in said


@pytest.mark.parametrize(
    ("limits", "is_signed", "bits"),
    [
        ([-128, 127], True, 8),
        ([0, 128], True, 16),
        ([-129], True, 16),
        ([32768], True, 32),
        ([-(2**31), 2**31 - 1], True, 32),
        ([0, 255], False, 8),
        ([256], False, 16),
    ],
)
def test_limits_take_the_least_width_that_holds_all(limits, is_signed, bits):
    assert ComparedIntegers((0,), True, 32, is_signed).limit_bits(limits) == bits


SMALL = (Feature("byte", "uint8", 3, (7, 100)), Feature("short", "int16", 3, (-5, 60)))


def test_keys_are_wider_than_limits_that_are_small():
    """Lanes list limits of a byte where other loops list them in the width of a key."""
    model = model_of(SMALL, 4)
    lanes, loop = (
        [each.layout for each in emissions(model, family)] for family in ("cut-lanes", "cut-loop")
    )
    assert {each.direct.key_type for each in (*lanes, *loop)} == {"int16_t"}
    assert {each.direct.limit_type for each in lanes} == {"int8_t"}
    assert {each.direct.limit_type for each in loop} == {"int16_t"}
    for layout in lanes:
        terms = reading_terms(layout.program, layout.kernel, "readings")
        lists = sum(each.n_bytes for each in layout.direct.arrays)
        assert terms.rom_bytes == layout.kernel.shared_bytes + lists
        assert terms.key_bytes == 4


@pytest.mark.parametrize("mix", ["halves", "half floats"])
def test_limits_of_keys_are_halves_where_those_decide(mix):
    model = model_of(MIXES[mix], 4)
    for family in ("cut-lanes", "cut-loop", "cut-packed"):
        for layout in (each.layout for each in emissions(model, family)):
            assert (layout.direct.key_type, layout.direct.limit_type) == ("uint32_t", "uint16_t")
            terms = reading_terms(layout.program, layout.kernel, "readings")
            assert terms.key_bytes == 4 * len(MIXES[mix])
    for layout in (each.layout for each in emissions(model, "cut-lanes")):
        lists = sum(each.n_bytes for each in layout.direct.arrays)
        terms = reading_terms(layout.program, layout.kernel, "readings")
        assert terms.rom_bytes == layout.kernel.shared_bytes + lists


def test_limits_that_a_function_compares_are_whole():
    program = program_of(doubled_model_of(MIXES["halves"], 4))
    kernels = list(FAMILIES["cut-loop"](program))
    halved = [compared_integers(program, "readings", kernel).is_halved for kernel in kernels]
    assert halved == [not kernel.is_doubled for kernel in kernels]
    assert False in halved


def test_one_limit_that_is_no_half_keeps_all_whole():
    first, *others = MIXES["half floats"]
    cuts = (*first.thresholds[:-1], float(np.float32(1e38)))
    model = model_of((replace(first, thresholds=cuts), *others), 4)
    assert {each.layout.direct.limit_type for each in emissions(model, "cut-lanes")} == {"int32_t"}


def test_cuts_that_no_reading_reaches_are_constant():
    assert cut_condition(Feature("u", "uint8", 2, (255,)), 1, "x", "m").constant is False
    assert cut_condition(Feature("i", "int16", 3, (1,)), 2, "x", "m").constant is False
    assert cut_condition(Feature("s", "state", 3), 3, "x", "m").constant is False


def test_other_kernels_compare_no_readings():
    program = program_of(naive_integer())
    kernel = next(iter(FAMILIES["plain"](program)))
    assert not can_read(program)
    of_cuts = program_of(model_of(MIXES["two"], 3))
    with pytest.raises(TypeError, match="compares no readings"):
        plan_direct(of_cuts, kernel, None, "m", "readings")
    with pytest.raises(TypeError, match="compares no readings"):
        reading_terms(of_cuts, kernel)


@pytest.mark.parametrize(
    ("feature", "n_features", "n_used", "is_looped"),
    [
        (number("float32", 0), 4, 4, True),
        (number("float32", 0), 3, 3, False),  # too few
        (number("float32", 0), 8, 4, True),
        (number("float32", 0), 9, 4, False),  # most are not used
        (number("int16", 0), 5, 5, None),  # not converted
        (halved(0), 5, 5, True),
    ],
)
@pytest.mark.parametrize("family", ["cut-lanes", "cut-loop", "cut-packed"])
def test_one_loop_forms_the_keys_of_floats_if_most_are_used(
    family, feature, n_features, n_used, is_looped
):
    every = floats_of(feature, n_features)
    model = replace(doubled_model_of(every[:n_used], 4), features=every)
    compare = "readings" if is_looped is None else "keys"
    for emission in emissions(model, family, compare):
        body = emission.files["m.c"].split("int16_t m_predict_raw(")[1].split("\n}")[0]
        assert body.count("key[i] = ") == ("for (" in body) == bool(is_looped)
        n_keys = 0 if is_looped is None else n_features if is_looped else n_used
        layout = emission.layout
        terms = reading_terms(layout.program, layout.kernel, compare)
        assert len(layout.direct.keys) == n_keys
        assert terms.key_bytes == 4 * n_keys


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"compare": "keys"}, "only boosted tables over floats have them; leave out --compare"),
        ({"compare": "keys", "kernel": "cut-loop"}, "kernel cut-loop cannot compare keys of the r"),
        (
            {"compare": "keys", "kernel": "cuts"},
            "the kernel cuts does not compare keys with cuts; choose --kernel from cut-loop, "
            "cut-packed, cut-lanes, branches, or leave out --compare",
        ),
        (
            {"compare": "readings", "kernel": "planes"},
            "planes does not compare readings with cuts; choose --kernel from cuts, cut-loop, "
            "cut-packed, cut-lanes, branches, or leave",
        ),
        ({"compare": "readings", "constant_time": True}, "--constant-time compares states"),
        ({"compare": "readings", "entries": frozenset({"stream"})}, "feature-by-feature input"),
    ],
)
def test_what_cannot_be_compared_says_why(options, reason):
    model = model_of(MIXES["two"], 3)
    with pytest.raises(OptionError, match=reason):
        emit_c(model, EmitOptions("m", **{"entries": frozenset({"raw"}), **options}))
