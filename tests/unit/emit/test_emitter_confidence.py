"""The C of a confidence agrees with Python row by row, alone and behind a front end."""

from dataclasses import replace

import pytest

from bncc.device.sample_agreement import verify_samples
from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.errors import ModelError, OptionError
from bncc.lower.confidence import plan_confidence
from bncc.model.confidence import Confidence
from bncc.model.filter import Filter
from bncc.model.model import Model
from bncc.on_device import decision_sources, hostile_samples, verify
from bncc.train.decision_rules import DecisionRules
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model
from tests import models as hand
from tests.dwelling import dataset
from tests.front_ends import front_end
from tests.unit.emit.test_emitter_samples import trained

RATED = EmitOptions("m", entries=frozenset({"confidence"}))
FEW = Confidence((0, 2, 5), (50, 70, 99), 2)
LEVELS = (FEW, Confidence((0,), (80,)), Confidence((0, 3, 10**6), (1, 2, 3), 10**6))
SETTINGS = {
    "naive": TrainSettings(structure="naive", parameters="ml", discretize="quantile"),
    "tables": TrainSettings(structure="tables", structure_options={"tables": "8"}),
    "trees": TrainSettings(structure="tables", structure_options={"tables": "3", "leaves": "6"}),
}


def changed(emission: Emission, old: str, new: str) -> Emission:
    """Return an emission with another statement in its C."""
    before, title, text = emission.files["m.c"].partition("/* Confidence of decisions */")
    assert text.count(old) == 1
    text = before + title + text.replace(old, new)
    return replace(emission, files={**emission.files, "m.c": text})


def rated(kind: str = "naive") -> Model:
    """Return a small trained model with a calibrated confidence."""
    settings = SETTINGS[kind]
    result = train_model(dataset(), settings)
    return DecisionRules(max_error=0.35).applied(result, dataset(), settings).model


@pytest.mark.parametrize("kind", SETTINGS)
def test_the_c_of_trained_models_agrees(kind: str) -> None:
    model = rated(kind)
    assert model.confidence is not None
    assert len(model.confidence.margins) > 1
    found = verify(model, emission=emit_c(model, RATED), n_random=500, sanitize=True)
    assert found.agree, found.first_mismatch
    assert found.strength.endswith("1,700 confidences and decisions")


@pytest.mark.parametrize("confidence", LEVELS, ids=["few", "one", "unreached"])
@pytest.mark.parametrize("name", ["sum_of_tables", "one_state_feature", "ties"])
def test_the_c_of_other_models_agrees(name: str, confidence: Confidence) -> None:
    model = replace(hand.NAMED[name](), confidence=confidence)
    assert verify(model, emission=emit_c(model, RATED), sanitize=True).agree


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(margin >= 5U)", "(margin > 5U)"),
        ("percent = 70U", "percent = 71U"),
        ("(second - least)", "(second)"),
        ("(s[c] < second)", "(s[c] > second)"),
        ("(s[c] < s[best])", "(s[c] <= s[best])"),
        ("(m_margin(s) < M_LEAST_MARGIN)", "(m_margin(s) <= M_LEAST_MARGIN)"),
    ],
    ids=["level", "percentage", "least", "second", "tie", "limit"],
)
def test_a_wrong_statement_is_found(old: str, new: str) -> None:
    # Without a limit, a tie is decided on.
    model = replace(rated(), confidence=replace(FEW, least_margin=2 if "MARGIN" in old else 0))
    found = verify(model, emission=changed(emit_c(model, RATED), old, new))
    assert not found.agree
    assert str(found.first_mismatch).startswith("sure_class or confidence of confidence or 0")


def test_levels_that_no_margin_reaches_are_left_out() -> None:
    plan = plan_confidence(LEVELS[2], 3)
    assert plan.levels == ((3, 2), (0, 1))
    assert (plan.others, plan.lowest, plan.least_margin) == (((3, 2),), 1, None)
    assert plan_confidence(FEW, 4).least_margin == 2


def test_scores_are_emitted_with_it_and_it_is_not_without() -> None:
    model = replace(hand.naive_integer(), confidence=FEW)
    header = emit_c(model, RATED).files["m.h"]
    assert "int16_t m_scores(" in header
    assert "#define M_LEAST_MARGIN 2U" in header
    assert "m_sure_class" not in emit_c(model, EmitOptions("m")).files["m.h"]


def test_what_has_no_confidence_is_refused() -> None:
    with pytest.raises(ModelError, match="the model has no confidence; train it with --confidence"):
        emit_c(hand.naive_integer(), RATED)
    model = replace(hand.naive_integer(), confidence=FEW)
    with pytest.raises(OptionError, match="'confidence' compares margins by branches"):
        emit_c(model, replace(RATED, constant_time=True))


@pytest.mark.parametrize("entries", [("confidence",), ("confidence", "filter")], ids=len)
@pytest.mark.parametrize("shared", [False, True], ids=["straight", "shared"])
def test_push_rates_windows(entries: tuple[str, ...], *, shared: bool) -> None:
    signals, features = ("x,y,z", None) if shared else ("x,y", "sum,range")
    tested = front_end("int16", 16, 8 if shared else 16, features, signals)
    plain = replace(trained(tested, 30, structure="naive", parameters="ml"), front_end=tested)
    model = replace(plain, confidence=Confidence((0, 5, 20), (40, 80, 99), 10), filter=Filter(100))
    emission = emit_c(model, replace(RATED, entries=frozenset(entries)))
    parts = hostile_samples(model)
    found = verify_samples(model, decision_sources(tested, emission), "host", parts, sanitize=True)
    assert found.agree, found.first_mismatch
    unsure = "return M_UNSURE;\n    }"
    for old, new in (("percent = 40U", "percent = 41U"), (unsure, "return 0;\n    }")):
        wrong = decision_sources(tested, changed(emission, old, new))
        mismatch = verify_samples(model, wrong, "host", parts).first_mismatch
        assert "confidence 4" in str(mismatch)
    text = " ".join(emission.files["m.h"].replace("*", " ").split())
    assert "s->confidence" in text
    alone = emit_c(model, replace(RATED, entries=frozenset(entries) - {"confidence"}))
    sizes = [
        int(
            " ".join(each.files["m.h"].replace("*", " ").split())
            .split("A m_stream_t needs ")[1]
            .split()[0]
        )
        for each in (emission, alone)
    ]
    assert sizes[0] == sizes[1] + 2
