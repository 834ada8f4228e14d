"""The measured cost of a decision with missing features."""

import pytest

from bncc.device.cross import find_toolchain
from bncc.device.measure import missing_cost
from bncc.device.on_target import bench_inputs
from bncc.emit.emitter import EmitOptions
from bncc.targets import find_target
from tests.models import sum_of_tables, tan_float

pytestmark = [pytest.mark.cc, pytest.mark.firmware]


def cost_of(model):
    (bench,) = find_toolchain(find_target("avr"))
    inputs = bench_inputs(model, n_rows=20)
    return missing_cost(model, bench, inputs, opt_level="-O2", options=EmitOptions("m"))


def test_a_decision_with_gaps_is_counted(require_tool):
    require_tool("avr-gcc")
    cost = cost_of(tan_float())
    assert 0 < cost.min < cost.mean < cost.max
    assert len(cost.classes) == 20


def test_what_cannot_be_summed_out_has_no_cost(require_tool):
    require_tool("avr-gcc")
    assert cost_of(sum_of_tables()) is None
