"""Rates that turn estimated instructions into cycles, and choices by them."""

from dataclasses import replace

import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.lower.cycle_rates import OTHERS, in_cycles, rate_of, span_in_cycles
from bncc.lower.fitted_rates import RATES
from bncc.resources import Budget, Resources, Span
from bncc.targets.timing import CORES, CountedCore
from tests.models import NAMED, tan_float

M0 = CountedCore("cortex-m0")


def test_every_core_has_a_rate_for_every_kernel() -> None:
    assert set(RATES) == set(CORES)
    for core, rates in RATES.items():
        assert OTHERS in rates
        for family in rates:
            mean, most = rate_of(CountedCore(core), family)
            assert 1 <= mean <= most
    assert rate_of(M0, "unheard of") == rate_of(M0, OTHERS)


def test_wait_states_are_half_in_the_middle_and_all_at_most() -> None:
    mean, most, waits = RATES["cortex-m0"]["cuts"]
    assert rate_of(replace(M0, states=2), "cuts") == pytest.approx((mean + waits, most + 2 * waits))
    bare = rate_of(CountedCore("cortex-m0", 2, has_prefetch=False), "cuts")
    assert bare == pytest.approx((mean + 2 * waits, max(mean, most) + 2 * waits))


def test_spans_stay_in_order() -> None:
    for family in (*RATES["cortex-m4"], "unheard of"):
        span = span_in_cycles(Span(101, 101.0, 101), family, CountedCore("cortex-m4", 3))
        assert span.min <= span.mean <= span.max
    assert in_cycles(100, "cuts", None) == 100
    assert in_cycles(100, "cuts", M0) == 100 * RATES["cortex-m0"]["cuts"].mean


def test_an_estimate_has_cycles_besides_instructions() -> None:
    options = EmitOptions("m", target="cortex-m0", optimize="speed")
    plain = emit_c(tan_float(), options).resources
    assert (plain.cycles, plain.core, plain.unit) == (None, None, "instructions")
    found = emit_c(tan_float(), replace(options, core=M0)).resources
    assert found.core == M0
    assert found.unit == "cycles"
    assert found.instructions is not None
    assert found.cycles is not None
    assert found.spans == found.cycles
    for entry, span in found.cycles.items():
        assert span.mean > found.instructions[entry].mean
    again = Resources.from_json(found.to_json())
    assert (again.core, again.cycles) == (M0, found.cycles)


def test_layouts_are_compared_in_cycles() -> None:
    """By rates of a core on which loads cost more, another kernel is the fastest."""
    model = NAMED["naive_integer"]()
    options = EmitOptions("m", target="cortex-m0", optimize="speed")
    by_count = emit_c(model, options).choice
    by_cycles = emit_c(model, replace(options, core=M0)).choice
    assert by_count.reason.startswith("fewest instructions of")
    assert by_cycles.reason.startswith("fewest cycles of")
    rates = {each.kernel.family: rate_of(M0, each.kernel.family)[0] for each in by_count.candidates}
    best = min(round(each.instructions * rates[each.kernel.family]) for each in by_count.candidates)
    assert by_cycles.chosen.instructions == best
    assert [each.instructions for each in by_cycles.candidates] == sorted(
        each.instructions for each in by_cycles.candidates
    )


def test_a_budget_with_a_core_limits_cycles() -> None:
    span = Span(90, 95.0, 100)
    slow = Span(150, 155.0, 160)
    found = Resources(
        "cortex-m0", 500, 0, 40, {"predict": span}, {"predict": slow}, ("predict",),
        "speed", "-O2", "measured", core=M0,
    )  # fmt: skip
    assert (found.slowest, found.typical, found.unit) == (160, 155.0, "cycles")
    assert Budget("cortex-m0", core=M0).unit == Budget("avr").unit == "cycles"
    assert Budget("cortex-m0").unit == Budget(None).unit == Budget("host").unit == "instructions"
    assert Budget("cortex-m0", instructions=160, core=M0).admits(found)
    assert not Budget("cortex-m0", instructions=159, core=M0).admits(found)
    # Cycles that are asked for and unknown fit in no limit.
    assert not Budget("cortex-m0", instructions=10**9, core=M0).admits(replace(found, cycles={}))
