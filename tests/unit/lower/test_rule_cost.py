"""Estimated bytes and time of rules for decisions, counters and adaptations."""

from dataclasses import replace

import pytest

from bncc.device.measure import bench_inputs
from bncc.device.meter import METERED, Meter
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.lower.estimate import entry_times, functions_counted
from bncc.lower.rule_cost import (
    code_of_extras,
    code_terms,
    extras_in,
    work_of_extras,
)
from bncc.model.filter import Filter
from bncc.model.rules import EXTRAS, own_entries, with_stand_ins
from bncc.on_device import sources_of
from bncc.pricing import measured, options_of
from bncc.resources import Budget
from tests.adapting import ADAPTING
from tests.counters import COUNTED
from tests.dwelling import trained, with_transitions
from tests.unknown import RULED

TARGETS = (None, "cortex-m0", "rv32", "avr")


def layout_of(key, *rules, **options):
    model = with_stand_ins(RULED[key](), EXTRAS)
    return emit_c(model, EmitOptions("m", frozenset(rules), **options)).layout


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("level", ["-O2", "-Os"])
@pytest.mark.parametrize("key", ["ruled", "ruled_tables", "ruled_never"])
def test_each_rule_takes_code_and_time(key, level, target):
    full = layout_of(key, *EXTRAS)
    times = work_of_extras(full, target, level)
    assert set(extras_in(full)) == EXTRAS.keys() == times.keys()
    assert all(time >= 1 for time in times.values())
    for rule in EXTRAS:
        alone = code_of_extras(layout_of(key, rule), target, level)
        assert 0 < alone < code_of_extras(full, target, level)


def test_code_without_rules_is_estimated_as_before():
    layout = layout_of("ruled")
    assert extras_in(layout) == ()
    assert not any(code_terms(layout, ()))
    assert work_of_extras(layout, None, "-O2") == {}


def test_readings_that_are_compared_one_by_one_take_code_each():
    of_struct, of_array = (
        code_terms(layout_of(key, "unknown"), ("unknown",)) for key in ("ruled_tables", "ruled")
    )
    assert of_struct[6] == 4
    assert of_array[6] == 0


@pytest.mark.parametrize("key", ["ruled", "ruled_trees"])
def test_an_estimate_counts_the_rules_and_their_ranges(key):
    """Scores are further code behind comparisons of readings."""
    model = with_stand_ins(RULED[key](), EXTRAS)
    without, within = (
        emit_c(model, options_of(model, Budget("cortex-m0", extras=frozenset(rules)), "size"))
        for rules in ((), EXTRAS)
    )
    arrays = sum(each.n_bytes for each in within.layout.unknown.arrays)
    code = code_of_extras(within.layout, "cortex-m0", "-Os")
    assert within.estimate.flash >= without.estimate.flash + arrays + code
    words = functions_counted(within.layout)
    if key == "ruled_trees":
        assert words == "predict_raw, scores, confidence, filter, unknown, counters, adapt"
    else:
        assert words == "all functions"


def test_the_time_of_a_rule_is_estimated():
    layout = layout_of("ruled", *EXTRAS)
    times = entry_times(layout, "cortex-m0")
    assert {*EXTRAS} <= times.keys()
    model = with_stand_ins(RULED["ruled"](), EXTRAS)
    found = emit_c(model, options_of(model, Budget("avr", extras=frozenset(EXTRAS)), "size"))
    assert found.resources.slowest is not None
    for name in ("filter", "counters", "adapt"):
        span = found.resources.spans[name]
        assert span.min == span.max


@pytest.mark.cc
@pytest.mark.parametrize(
    ("target", "compiler"), [("cortex-m0", "arm-none-eabi-gcc"), ("avr", "avr-gcc")]
)
@pytest.mark.parametrize("has_transitions", [False, True])
def test_estimates_of_a_lag_are_near_what_is_measured(
    require_bench, target, compiler, *, has_transitions
):
    bench = require_bench(target, compiler)
    model = with_transitions(trained("naive", 9), 40)
    rule = model.filter if has_transitions else Filter(40)
    code, time, estimates = [], [], []
    for lag in (0, 8):
        lagged = replace(model, filter=replace(rule, lag=lag))
        options = EmitOptions("m", frozenset({"filter"}), target=target, optimize="size")
        emission = emit_c(lagged, options)
        with Meter(sources_of(lagged, emission), bench, "-Os") as meter:
            code.append(meter.footprint(("scores", "filter")).flash)
            time.append(meter.costs(bench_inputs(lagged), ("filter",))["filter"].max)
        estimates.append(
            (
                code_of_extras(emission.layout, target, "-Os"),
                work_of_extras(emission.layout, target, "-Os")["filter"],
            )
        )
    assert estimates[1][0] - estimates[0][0] == pytest.approx(code[1] - code[0], rel=0.25)
    assert estimates[1][1] == pytest.approx(time[1], rel=0.35)


@pytest.mark.cc
@pytest.mark.parametrize("target", ["cortex-m0", "avr"])
@pytest.mark.parametrize("key", ["counted", "counted_unknown", "adapting", "adapting_filtered"])
def test_estimates_of_counters_and_adaptations_are_near_what_is_measured(
    require_bench, target, key
):
    """The meter refuses figures of a program whose results differ from the model's."""
    bench = require_bench(target)
    model = {**COUNTED, **ADAPTING}[key]()
    (name,) = set(own_entries(model)) & {"counters", "adapt"}
    entries = own_entries(model)
    emission = emit_c(
        model, EmitOptions("m", frozenset(entries), target=target, optimize="size", priced=entries)
    )
    others = [METERED[each] for each in entries if each != name]
    with Meter(sources_of(model, emission), bench, "-Os") as meter:
        code = meter.footprint(("scores", *others, METERED[name])).flash
        code -= meter.footprint(("scores", *others)).flash
    found = measured(model, emission, bench, EmitOptions("m", optimize="size"))
    layout = emission.layout
    estimate = code_of_extras(layout, target, "-Os")
    estimate -= code_of_extras(replace(layout, **{EXTRAS[name].field: None}), target, "-Os")
    assert estimate == pytest.approx(code, rel=0.25)
    time = work_of_extras(layout, target, "-Os")[name]
    assert time == pytest.approx(found.spans[name].max, rel=0.35)
