"""Calls of the rules for decisions in a self-test."""

from dataclasses import replace

import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.selftest_rules import MOST_LIMITS, rule_vectors
from bncc.emit.vectors import drawn_vectors
from bncc.model.filter import Filter
from bncc.model.rules import RULES, with_stand_ins
from bncc.model.unknown import Unknown
from tests import models as hand
from tests.unknown import RULED, ruled

CALLS = {
    "confidence": ("m_confidence(s)", "m_sure_class(s)"),
    "filter": ("m_filter_next(f, s)", "m_filter_begin(&f)"),
    "unknown": ("m_known_class(readings, s)", "m_outside(readings, c)"),
}


def emitted(model, *rules):
    return emit_c(with_stand_ins(model, rules), EmitOptions("m", frozenset(rules)))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("key", ["ruled", "ruled_tables"])
def test_each_rule_is_called(key, rule):
    files = emitted(RULED[key](), rule).files
    assert "It calls every entry point and triggers every error." in files["m_selftest.c"]
    for name, calls in CALLS.items():
        assert all((call in files["m_selftest.c"]) == (name == rule) for call in calls)
    assert "M_RULES_CRC" in files["m_vectors.h"]


def test_without_rules_there_is_nothing():
    emission = emitted(RULED["ruled"]())
    model = RULED["ruled"]()
    assert rule_vectors(model, drawn_vectors(model), emission.layout) is None
    assert "rules" not in emission.files["m_selftest.c"]


def test_other_rules_have_other_results():
    """Each limit alone changes the CRC."""
    model = with_stand_ins(RULED["ruled"](), RULES)
    levels = model.confidence
    others = [
        replace(model, filter=Filter(model.filter.switch // 2000)),
        replace(model, confidence=replace(levels, least_margin=levels.margins[-2])),
        replace(model, confidence=replace(levels, percent=(1, *levels.percent[1:]))),
        replace(model, unknown=replace(model.unknown, limit=model.unknown.limit + 1)),
        replace(model, unknown=Unknown({}, 1, 0)),
    ]
    inputs = drawn_vectors(model)
    crcs = {
        rule_vectors(each, inputs, emitted(each, *RULES).layout).crc for each in (model, *others)
    }
    assert len(crcs) == 1 + len(others)


def test_margins_are_next_to_limits_and_in_range():
    layout = emitted(RULED["ruled"](), *RULES).layout
    model = with_stand_ins(RULED["ruled"](), RULES)
    found = rule_vectors(model, drawn_vectors(model), layout)
    margins = [int(word[:-2]) for line in found.margins for word in line.split()]
    assert margins == sorted(set(margins))
    assert len(margins) == found.n_margins
    assert margins[-1] == layout.largest_sum
    for margin, _ in layout.confidence.others:
        assert {margin - 1, margin} <= set(margins)


def test_a_byte_counts_the_margins_of_many_readings():
    kinds = ("int16",) * 150
    model = replace(ruled("naive", *kinds), unknown=None)
    layout = emitted(model, *RULES).layout
    assert len(layout.unknown.least_margins) > 2 * MOST_LIMITS
    full = with_stand_ins(model, RULES)
    assert rule_vectors(full, drawn_vectors(full), layout).n_margins < 256


def test_a_model_of_states_has_a_filter_and_a_confidence():
    files = emitted(hand.ties(), "filter", "confidence").files
    assert "m_rules_wrong" in files["m_selftest.c"]
    assert "report(m_sure_class(score));" in files["README.md"]
    assert "read_states(state);\n    (void)m_scores(state, score);" in files["README.md"]
