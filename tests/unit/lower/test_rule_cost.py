"""Estimated bytes and time of the rules for decisions."""

import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.lower.estimate import entry_times, functions_counted
from bncc.lower.rule_cost import code_of_rules, code_terms, rules_in, work_of_rules
from bncc.model.rules import RULES, with_stand_ins
from bncc.pricing import options_of
from bncc.resources import Budget
from tests.unknown import RULED

TARGETS = (None, "cortex-m0", "rv32", "avr")


def layout_of(key, *rules, **options):
    model = with_stand_ins(RULED[key](), RULES)
    return emit_c(model, EmitOptions("m", frozenset(rules), **options)).layout


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("level", ["-O2", "-Os"])
@pytest.mark.parametrize("key", ["ruled", "ruled_tables", "ruled_never"])
def test_each_rule_takes_code_and_time(key, level, target):
    full = layout_of(key, *RULES)
    assert set(rules_in(full)) == RULES.keys() == work_of_rules(full, target).keys()
    assert all(time >= 1 for time in work_of_rules(full, target).values())
    for rule in RULES:
        alone = code_of_rules(layout_of(key, rule), target, level)
        assert 0 < alone < code_of_rules(full, target, level)


def test_code_without_rules_is_estimated_as_before():
    layout = layout_of("ruled")
    assert rules_in(layout) == ()
    assert not any(code_terms(layout, ()))
    assert work_of_rules(layout, None) == {}


def test_readings_that_are_compared_one_by_one_take_code_each():
    of_struct, of_array = (
        code_terms(layout_of(key, "unknown"), ("unknown",)) for key in ("ruled_tables", "ruled")
    )
    assert of_struct[-1] == 4
    assert of_array[-1] == 0


@pytest.mark.parametrize("key", ["ruled", "ruled_trees"])
def test_an_estimate_counts_the_rules_and_their_ranges(key):
    """Scores are further code behind comparisons of readings."""
    model = with_stand_ins(RULED[key](), RULES)
    without, within = (
        emit_c(model, options_of(model, Budget("cortex-m0", extras=frozenset(rules)), "size"))
        for rules in ((), RULES)
    )
    arrays = sum(each.n_bytes for each in within.layout.unknown.arrays)
    code = code_of_rules(within.layout, "cortex-m0", "-Os")
    assert within.estimate.flash >= without.estimate.flash + arrays + code
    words = functions_counted(within.layout)
    if key == "ruled_trees":
        assert words == "predict_raw, scores, confidence, filter, unknown"
    else:
        assert words == "all functions"


def test_the_time_of_a_rule_is_estimated():
    layout = layout_of("ruled", *RULES)
    times = entry_times(layout, "cortex-m0")
    assert {*RULES} <= times.keys()
    model = with_stand_ins(RULED["ruled"](), RULES)
    found = emit_c(model, options_of(model, Budget("avr", extras=frozenset(RULES)), "size"))
    assert found.resources.slowest is not None
    span = found.resources.spans["filter"]
    assert span.min == span.max
