"""Scores from readings: those of the states of the readings, in C as in Python."""

from dataclasses import replace

import pytest

from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.lower.estimate import functions_counted
from bncc.lower.request import Request
from bncc.model.model import Model
from bncc.on_device import verify
from tests import models as hand
from tests.adapting import adapting

pytestmark = pytest.mark.cc

RAW = EmitOptions("m", entries=frozenset({"scores-raw"}))
MODELS = {
    **{
        name: hand.NAMED[name]
        for name in ("naive_integer", "tan_float", "hostile_names", "wide_states", "sum_of_tables")
    },
    "front": hand.FRONTS["products_behind_a_front"],
    "gate": hand.GATES["products_with_a_gate"],
    "tables": lambda: adapting("tables"),
    "trees": lambda: adapting("trees"),
}


def changed(emission: Emission, old: str, new: str) -> Emission:
    """Return an emission whose scores from readings are others."""
    before, title, text = emission.files["m.c"].partition("int16_t m_scores_raw(")
    assert old in text
    return replace(
        emission, files={**emission.files, "m.c": before + title + text.replace(old, new, 1)}
    )


@pytest.mark.parametrize("name", MODELS)
def test_scores_and_classes_are_those_of_the_states(name: str) -> None:
    model = MODELS[name]()
    emission = emit_c(model, RAW)
    header = emission.files["m.h"]
    assert header.count("int16_t m_scores_raw(const m_raw_t *x,") == 1
    assert header.count("int16_t m_scores(") == header.count("int16_t m_predict_raw(") == 1
    found = verify(model, emission=emission, n_random=300, sanitize=True)
    assert found.agree, found.first_mismatch


@pytest.mark.parametrize("name", ["naive_integer", "tan_float"])
def test_constant_time_code_agrees(name: str) -> None:
    model = MODELS[name]()
    emission = emit_c(model, replace(RAW, constant_time=True))
    assert verify(model, emission=emission, n_random=100).agree


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return m_scores(state, s);", "s[0] = 0U; return m_predict(state);"),
        ("return m_scores(state, s);", "(void)m_scores(state, s); return 0;"),
        ("m_states(x, state);", "m_states(x, state); state[0] = 0U;"),
    ],
)
def test_a_wrong_statement_is_found(old: str, new: str) -> None:
    model = hand.naive_integer()
    found = verify(model, emission=changed(emit_c(model, RAW), old, new))
    assert not found.agree
    assert str(found.first_mismatch).startswith("scores_raw of readings ")


def test_no_other_c_has_them() -> None:
    model = hand.naive_integer()
    for entries in (frozenset[str](), frozenset({"scores", "raw"})):
        assert "scores_raw" not in emit_c(model, EmitOptions("m", entries=entries)).files["m.h"]
    assert Request(model, RAW).entries.scores


def priced(model: Model, *entries: str, **options: object) -> Emission:
    """Return an emission with a price of some entry points."""
    with_them = frozenset({"scores-raw", "scores"})
    return emit_c(model, EmitOptions("m", with_them, priced=entries, **options))  # type: ignore[arg-type]


def test_their_price_is_that_of_states_and_scores() -> None:
    for make in (hand.naive_integer, lambda: adapting("tables")):
        model = make()
        spans = {
            entry: priced(model, entry).resources.spans[entry].max
            for entry in ("scores", "scores-raw")
        }
        assert spans["scores-raw"] > spans["scores"]
    both = priced(hand.naive_integer(), "predict-raw", "scores-raw").resources
    assert both.flash == priced(hand.naive_integer(), "scores-raw").resources.flash
    assert both.spans["scores-raw"].max > both.spans["predict-raw"].max


def test_states_are_counted_where_readings_are_compared() -> None:
    model = adapting("tables")
    options = EmitOptions("m", kernel="cuts", compare="readings")
    alone = emit_c(model, options)
    both = emit_c(model, replace(options, entries=frozenset({"scores-raw"})))
    assert alone.layout.direct is not None
    assert both.layout.direct is not None
    assert both.estimate.flash > alone.estimate.flash + 100
    assert functions_counted(both.layout) == "predict_raw, scores, scores_raw"
    assert verify(model, emission=both, n_random=100).agree
