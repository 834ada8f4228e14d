"""State of a stream between two features, and the models that may stream."""

import re

import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import OptionError
from tests import models as hand
from tests.agreement.large import LARGE

STREAM = frozenset({"stream"})


def plan(model, **options):
    return emit_c(model, EmitOptions("m", STREAM, **options)).layout.stream


def test_naive_bayes_holds_sums_and_a_bit_per_feature():
    found = plan(LARGE["many_features"]())
    assert not found.holds_states
    assert [m.name for m in found.members] == ["cost", "left", "fed"]
    n_classes = LARGE["many_features"]().n_classes
    assert found.n_bytes == n_classes * found.members[0].bits // 8 + 2 + 38  # 300 features


def test_a_tree_holds_all_states_as_well():
    model = hand.tan_float()
    found = plan(model)
    assert found.holds_states
    assert found.unfed == 255
    assert {m.name: m.length for m in found.members} == {"cost": model.n_classes, "x": 3, "left": 0}


def test_the_unfed_state_is_no_state_where_states_are_wide():
    assert plan(hand.NAMED["wide_states"]()).unfed in (255, 65535)
    for name, make in {**hand.NAMED, **LARGE}.items():
        assert plan(make()).unfed >= max(make().n_states), name


@pytest.mark.parametrize("optimize", ["size", "balanced", "speed"])
def test_tables_of_one_feature_are_not_fused(optimize):
    """Otherwise states would have to be stored only for speed."""
    assert not plan(hand.naive_integer(), optimize=optimize).holds_states


def test_the_header_tells_the_size_with_and_without_alignment():
    header = emit_c(LARGE["wide_costs"](), EmitOptions("m", STREAM)).files["m.h"]
    told = re.search(r"needs (\d+) bytes, (\d+) with alignment", header)
    assert told
    assert 0 < int(told[2]) - int(told[1]) < 4
    assert "int16_t m_feed_raw(" in header


def test_a_struct_of_readings_is_not_fed():
    header = emit_c(LARGE["mixed_kinds"](), EmitOptions("m", STREAM)).files["m.h"]
    assert "int16_t m_feed_raw(" not in header
    assert "there is no m_feed_raw" in header


@pytest.mark.parametrize("kernel", ["lanes", "packed"])
def test_a_kernel_that_cannot_stream_is_refused_with_the_remedy(kernel):
    with pytest.raises(OptionError, match=f"'{kernel}' cannot .* use --kernel plain"):
        emit_c(hand.tan_float(), EmitOptions("m", STREAM, kernel=kernel))
