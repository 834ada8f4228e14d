"""The C of an adaptation agrees with Python, call by call."""

from dataclasses import replace

import pytest

from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.errors import ModelError, OptionError
from bncc.model.confidence import Confidence
from bncc.model.filter import Filter
from bncc.on_device import verify
from tests import models as hand
from tests.adapting import ADAPTING, adapting, with_rule

RULE = EmitOptions("m", entries=frozenset({"adapt"}))


def changed(emission: Emission, old: str, new: str) -> Emission:
    """Return an emission with another statement in its C."""
    before, title, text = emission.files["m.c"].partition("/* Adaptation to labeled inputs */")
    assert old in text
    text = before + title + text.replace(old, new, 1)
    return replace(emission, files={**emission.files, "m.c": text})


@pytest.mark.parametrize("name", ADAPTING)
def test_the_c_of_models_agrees(name: str) -> None:
    model = ADAPTING[name]()
    found = verify(model, emission=emit_c(model, RULE), n_random=300, sanitize=True)
    assert found.agree, found.first_mismatch
    assert "labels learned, forgotten and decided on" in found.strength


def test_many_rows_and_other_rules_agree() -> None:
    model = with_rule(adapting("tables"), 8, 2, 5)
    options = EmitOptions("m", frozenset({"adapt", "confidence", "filter"}))
    model = replace(model, confidence=Confidence((0,), (80,)), filter=Filter(9))
    emission = emit_c(model, options)
    assert verify(model, emission=emission, n_random=20).agree
    plan = emission.layout.adaptation
    assert plan is not None
    header = emission.files["m.h"]
    assert f"uint8_t offset[{plan.n_bytes}];" in header
    assert f"no sum exceeds {plan.largest_sum}," in " ".join(header.split(" * "))
    assert "adaptation  offsets of the rows of 8 tables" in header
    assert "B of RAM" in header


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("= 0x77U", "= 0x67U"),
        ("(row + 2U)", "(row + 0U)"),
        ("both >> 4", "both & 15U"),
        ("units + units", "units + 0U"),
        ("? 16U : 1U", "? 16U : 0U"),
        ("nearest == c) || ", "nearest == c) && "),
        ("cost < least)) {", "cost <= least)) {"),
        ("own + 3U", "own + 2U"),
        ("<= least) {", "< least) {"),
        ("if (cost < least) {", "if (cost <= least) {"),
        ("at[k], nearest, 1U)", "at[k], nearest, 0U)"),
        ("at[k], c, 0U)", "at[k], c, 1U)"),
    ],
)
def test_a_wrong_statement_is_found(old: str, new: str) -> None:
    model = ADAPTING["adapting_tables"]()
    found = verify(model, emission=changed(emit_c(model, RULE), old, new))
    assert not found.agree
    assert str(found.first_mismatch).startswith("learn or adapted_class of step ")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(t[c] - least)", "(t[c] - 0U)"),
        ("(t[c] - least)", "((t[c] - least) & 63U)"),
        ("t[c] = cost;", "t[c] = s[c];"),
    ],
)
def test_wrong_adapted_scores_are_found(old: str, new: str) -> None:
    """The filter's decisions alone would not show a score that is not less the least one."""
    model = replace(ADAPTING["adapting_tables"](), filter=Filter(9))
    emission = emit_c(model, replace(RULE, entries=frozenset({"adapt", "filter"})))
    assert verify(model, emission=emission, n_random=20, sanitize=True).agree
    assert not verify(model, emission=changed(emission, old, new)).agree


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("adapting_all", "steps < 2U", "steps < 3U"),
        ("adapting_all", "steps > 0U", "steps > 1U"),
        ("adapting_far", "if (c >= M_N_CLASSES) {", "if (c > M_N_CLASSES) {"),
    ],
)
def test_a_bound_that_is_off_by_one_is_found(name: str, old: str, new: str) -> None:
    model = ADAPTING[name]()
    assert not verify(model, emission=changed(emit_c(model, RULE), old, new)).agree


def test_scores_are_emitted_with_it_and_it_is_not_without() -> None:
    model = ADAPTING["adapting_tables"]()
    header = emit_c(model, RULE).files["m.h"]
    for function in ("int16_t m_scores(", "void m_forget(", "uint8_t m_learn("):
        assert header.count(function) == 1
    plain = emit_c(model, EmitOptions("m"))
    assert "m_learn" not in plain.files["m.h"]
    assert "adaptation  offsets of" in plain.files["m.h"]


def test_what_does_not_adapt_is_refused() -> None:
    with pytest.raises(ModelError, match="the model does not adapt"):
        emit_c(hand.naive_integer(), RULE)
    with pytest.raises(OptionError, match="'adapt' compares costs by branches"):
        emit_c(adapting("naive"), replace(RULE, constant_time=True))
