"""The raw entry point: storage of thresholds and codes, and the form that finds each state."""

import numpy as np
import pytest

from bncc.discretize.feature import Feature
from bncc.discretize.float_order import float_key
from bncc.lower import raw
from bncc.lower.discretizers.choice import in_lines, searched, ways
from bncc.lower.discretizers.rates import rates_of

INT16 = Feature("a", "int16", 3, thresholds=(-5, 7), missing_state=1)
INT16_TOO = Feature("b", "int16", 2, thresholds=(0,))
INT32 = Feature("c", "int32", 2, thresholds=(-(2**31),))
FLOAT = Feature("d", "float32", 3, thresholds=(-1.5, 0.1), missing_state=2)
CATEGORY = Feature("e", "category", 3, categories=("x", "y"), missing_state=2)
STATE = Feature("f", "state", 4, missing_state=3)


def plan_raw(features, state_bits, chosen=None):
    """Plan linear searches, or the chosen forms."""
    return raw.plan_raw(
        features, state_bits, chosen or searched(features, "linear", rates_of(None)), "m"
    )


def arrays(plan):
    return {array.name: (array.type, list(array.lines)) for array in plan.arrays}


def test_features_of_one_type_are_an_array_with_the_number_of_each_one_s_thresholds():
    plan = plan_raw((INT16, INT16_TOO), 8)
    assert plan.is_array
    assert plan.kinds == ("int16",)
    assert arrays(plan) == {
        "cuts_int16": ("int16_t", ["/* a */", "-5, 7,", "/* b */", "0,"]),
        "n_cuts": ("uint8_t", ["2U, 1U,"]),
        "missing_state": ("uint8_t", ["1U, 0U,"]),
    }


def test_features_of_several_types_are_a_struct_and_need_no_such_arrays():
    plan = plan_raw((INT16, INT32, FLOAT, CATEGORY, STATE, INT16_TOO), 8)
    assert not plan.is_array
    assert plan.kinds == ("code8", "float32", "int16", "int32")
    assert [(f.field, f.c_type, f.kind, f.first, f.last, f.missing_state) for f in plan.fields] == [
        ("a", "int16_t", "int16", 0, 2, 1),
        ("c", "int32_t", "int32", 0, 1, 0),
        ("d", "float", "float32", 0, 2, 2),
        ("e", "uint8_t", "code8", 0, 2, 2),
        ("f", "uint8_t", "code8", 0, 4, 3),
        ("b", "int16_t", "int16", 2, 3, 0),
    ]
    assert list(arrays(plan)) == ["cuts_int16", "cuts_int32", "cuts_float32"]
    assert arrays(plan)["cuts_int32"] == ("int32_t", ["/* c */", "INT32_MIN,"])


def test_float_thresholds_are_keys_under_the_sensor_s_own_units():
    plan = plan_raw((FLOAT,), 8)
    assert arrays(plan)["cuts_float32"] == (
        "int32_t",
        ["/* d: -1.5 0.1 */", f"{float_key(-1.5)}, {float_key(0.1)},"],
    )


def test_all_float_thresholds_are_named_in_their_own_unit_on_short_lines():
    cuts = tuple(float(np.float32(k + 0.123456)) for k in range(100, 120))
    plan = plan_raw((Feature("a long name of a column", "float32", 21, thresholds=cuts),), 8)
    heading = " ".join(line for line in arrays(plan)["cuts_float32"][1] if "." in line)
    assert "100.12346 " in heading
    assert "119.12346 */" in heading
    assert len([word for word in heading.split() if "." in word]) == len(cuts)
    assert all(len(line) < 96 for line in arrays(plan)["cuts_float32"][1])


def test_members_say_what_is_missing():
    comments = [f.comment for f in plan_raw((INT16, INT32, FLOAT, CATEGORY, STATE), 8).fields]
    assert comments == [
        "a; INT16_MIN when missing",
        "c; INT32_MIN when missing",
        "d; NaN when missing",
        "category 0 .. 1; any other code: missing or unseen",
        "state 0 .. 3; any other code: missing or unseen",
    ]


def test_a_category_without_labels_has_no_range_of_codes():
    """Its column had missing cells alone in training; 0 .. -1 would be no range."""
    known = Feature("k", "category", 1, categories=("x",))
    comments = [f.comment for f in plan_raw((Feature("n", "category", 1), known), 8).fields]
    assert comments == [
        "category without labels; any code: missing or unseen",
        "category 0; any other code: missing or unseen",
    ]


def test_codes_alone_are_an_array_with_the_number_of_known_ones():
    plan = plan_raw((CATEGORY, STATE), 8)
    assert arrays(plan) == {
        "known": ("uint8_t", ["2U, 4U,"]),
        "missing_state": ("uint8_t", ["2U, 3U,"]),
    }


@pytest.mark.parametrize(("known", "kind"), [(255, "code8"), (256, "code16")])
def test_codes_change_width_so_that_one_number_is_always_out_of_range(known, kind):
    plan = plan_raw((Feature("a", "state", known),), 16)
    assert plan.kinds == (kind,)
    assert arrays(plan)["known"] == (f"uint{kind[4:]}_t", [f"{known}U,"])
    assert arrays(plan)["missing_state"][0] == "uint16_t"


def test_codes_of_two_widths_are_a_struct():
    plan = plan_raw((Feature("a", "state", 255), Feature("b", "state", 256)), 16)
    assert not plan.is_array
    assert plan.kinds == ("code16", "code8")
    assert plan.arrays == ()


def test_a_kind_without_any_threshold_keeps_an_array_of_one_zero():
    plan = plan_raw((Feature("a", "float32", 1), Feature("b", "float32", 1)), 8)
    assert arrays(plan)["cuts_float32"] == ("int32_t", ["0,"])
    assert arrays(plan)["n_cuts"] == ("uint8_t", ["0U, 0U,"])


def test_a_feature_without_thresholds_gets_no_heading():
    plan = plan_raw((Feature("a", "int16", 1), INT16_TOO), 8)
    assert arrays(plan)["cuts_int16"][1] == ["/* b */", "0,"]


@pytest.mark.parametrize(("n_cuts", "bits"), [(65535, 16), (65536, 32)])
def test_indices_of_thresholds_change_width_at_their_edge(n_cuts, bits):
    first = Feature("a", "int32", n_cuts, thresholds=tuple(range(n_cuts - 1)))
    plan = plan_raw((first, INT32), 16)
    assert plan.cut_bits == bits
    assert plan_raw((first, INT32, INT16), 16).cut_bits == bits


@pytest.mark.parametrize(("n_cuts", "bits"), [(255, 8), (256, 16), (32767, 16), (32768, 32)])
def test_counts_of_thresholds_change_width_at_their_edge(n_cuts, bits):
    """Twice 32767 is the most that 16 bits hold."""
    most = Feature("a", "int32", n_cuts + 1, thresholds=tuple(range(n_cuts)))
    plan = plan_raw((INT32, most), 16)
    assert plan.count_bits == bits
    assert arrays(plan)["n_cuts"][0] == f"uint{bits}_t"


def chosen(features, *methods):
    """Return a plan of some ways in lines."""
    rates = rates_of(None)
    every = {i: ways(f, "binary", rates) for i, f in enumerate(features) if f.is_numeric}
    picked = {i: next(w for w in every[i] if w.method == methods[i]) for i in every}
    return in_lines(features, "binary", rates, picked)


def test_a_feature_with_a_function_of_its_own_has_no_thresholds_in_arrays():
    some = (INT16, INT16_TOO, CATEGORY)
    plan = plan_raw(some, 8, chosen(some, "bytes", "binary", None))
    assert [(f.field, f.own, f.first, f.last) for f in plan.fields] == [
        ("a", "a", 0, 0),
        ("b", "", 0, 1),
        ("e", "", 0, 2),
    ]
    assert plan.kinds == ("code8", "int16")
    assert (plan.search, plan.is_loop) == ("binary", False)
    assert arrays(plan) == {
        "cuts_int16": ("int16_t", ["/* b */", "0,"]),
        "states_a": ("uint8_t", ["1U, " * 11 + "1U,"]),
    }


def test_features_with_functions_of_their_own_need_nothing_shared():
    some = (INT16, INT16_TOO)
    plan = plan_raw(some, 8, chosen(some, "tree", "tree"))
    assert (plan.kinds, plan.arrays, plan.is_array) == ((), (), True)
    assert [function.suffix for function in plan.functions] == ["a", "b"]


@pytest.mark.parametrize(
    ("features", "methods", "needed"),
    [
        ((INT16,), ("tree",), False),
        ((FLOAT,), ("tree",), True),
        ((FLOAT,), ("binary",), True),
        ((Feature("a", "float32", 1),), ("tree",), False),
    ],
)
def test_the_bits_of_floats_are_read_only_where_they_are_compared(features, methods, needed):
    assert plan_raw(features, 8, chosen(features, *methods)).needs_float_bits is needed
