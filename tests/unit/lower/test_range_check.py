"""C for checked readings: limits of every type, as an array or as arguments."""

import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import OptionError
from bncc.lower.estimate import constant_bytes
from tests import models as hand
from tests.agreement.large import mixed_kinds
from tests.agreement.test_direct_readings import model_of
from tests.ranged import ranged

CHECKED = EmitOptions("m", frozenset({"checked"}), range_margin=0.0)


def test_readings_of_one_type_have_their_limits_in_arrays():
    checked = emit_c(ranged(hand.int32_thresholds()), CHECKED).layout.range_check
    assert [(each.name, each.type) for each in checked.arrays] == [
        ("lowest", "int32_t"), ("highest", "int32_t"),
    ]  # fmt: skip
    lows = [int(limits.low) for limits in checked.limits]
    assert len(lows) == checked.arrays[0].length
    assert not checked.arguments


def test_floats_are_compared_as_the_integers_that_order_alike():
    emission = emit_c(ranged(hand.tan_float(), 3), CHECKED)
    checked = emission.layout.range_check
    assert checked.has_floats
    assert checked.arrays[0].type == "int32_t"
    assert "as an integer of the same order" in checked.arrays[0].comment
    assert "INFINITY" in emission.files["m_vectors.h"]
    assert "m_vector_limit_answer(uint16_t k)" in emission.files["m_selftest.c"]


def test_readings_of_several_types_have_their_limits_in_the_call():
    checked = emit_c(ranged(mixed_kinds()), CHECKED).layout.range_check
    assert not checked.arrays
    assert len(checked.arguments) == len(checked.limits)
    codes = [each for each in checked.arguments if "U, " in each]
    kinds = [feature.kind for feature in mixed_kinds().features]
    assert len(codes) == kinds.count("category") + kinds.count("state")


def test_limits_count_where_readings_are_compared_directly():
    model = ranged(model_of("int16"))
    layout, without = (
        emit_c(model, EmitOptions("m", entries, optimize="size")).layout
        for entries in (frozenset({"checked"}), frozenset())
    )
    assert layout.direct is not None
    n_bytes = sum(each.n_bytes for each in layout.range_check.arrays)
    assert constant_bytes(layout) == constant_bytes(without) + n_bytes


def test_constant_time_is_refused():
    with pytest.raises(OptionError, match="returns at the first wrong reading"):
        emit_c(ranged(hand.tan_float()), EmitOptions("m", CHECKED.entries, constant_time=True))
