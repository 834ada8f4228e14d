"""The confidence of decisions: margins, levels, what is accepted, and the file."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from bncc.errors import ModelError, ModelFileError
from bncc.model.archive import pack, unpack, with_sums
from bncc.model.card import confidence_facts, confidence_words, decision_rows, model_facts
from bncc.model.confidence import (
    CONFIDENCE,
    MAX_LEVELS,
    MAX_MARGIN,
    UNSURE,
    Confidence,
    ConfidenceEffect,
    decided,
    effect_of,
    error_bound,
    margins_of,
    required,
)
from bncc.model.file import DOCUMENT, from_bytes, to_bytes
from bncc.model.filter import Filter
from bncc.model.model import check_model
from tests import models as hand

THREE = Confidence((0, 4, 9), (50, 70, 95), 4)


def test_the_margin_is_the_second_least_score_less_the_least():
    scores = np.array([[0, 5, 3], [7, 7, 9], [4, 0, 0], [2, 9, 1]])
    assert margins_of(scores).tolist() == [3, 0, 0, 1]
    assert margins_of(scores[:0]).tolist() == []


def test_levels_begin_at_their_margins():
    margins = np.array([0, 3, 4, 8, 9, 10**9])
    assert THREE.percent_of(margins).tolist() == [50, 50, 70, 70, 95, 95]
    assert THREE.accepts(margins).tolist() == [False, False, True, True, True, True]


def test_rejected_decisions_are_no_class():
    scores = np.array([[0, 3, 5], [5, 4, 0], [9, 0, 9]])
    assert decided(scores, THREE).tolist() == [UNSURE, 2, 1]
    assert decided(scores, replace(THREE, least_margin=0)).tolist() == [0, 2, 1]


def test_the_bound_on_an_error_rate():
    # Exact for no error: (1 - p)**n = risk
    assert error_bound(0, 100) == pytest.approx(1 - 0.05 ** (1 / 100))
    assert error_bound(0, 100, 0.001) == pytest.approx(1 - 0.001 ** (1 / 100))
    assert error_bound(5, 5) == 1.0
    assert error_bound(3, 100) > error_bound(2, 100) > 0.02


def test_the_effect_of_a_confidence():
    margins = np.array([0, 0, 4, 4, 9, 9, 9, 9])
    right = np.array([True, False, True, False, True, True, True, True])
    found = effect_of(THREE, margins, right)
    assert found is not None
    assert (found.n, found.error, found.accepted) == (8, 0.25, 6)
    assert found.error_accepted == pytest.approx(1 / 6)
    assert found.error_bound == error_bound(1, 6)
    # |1 - 1.0| + |1 - 1.4| + |4 - 3.8| over 8 rows
    assert found.calibration_error == pytest.approx(0.6 / 8)
    assert effect_of(THREE, margins[:0], right[:0]) is None
    none = effect_of(replace(THREE, least_margin=10), margins, right)
    assert none is not None
    assert (none.accepted, none.error_accepted, none.error_bound) == (0, None, None)
    assert none.words == "0.0 % accepted; calibration error 7.5 points"
    every = effect_of(replace(THREE, least_margin=0), margins, right)
    assert every is not None
    assert every.words == "calibration error 7.5 points"
    assert found.words.startswith("75.0 % accepted with error 16.67 % (at most ")


@pytest.mark.parametrize(
    "confidence",
    [
        Confidence((), ()),
        Confidence((0, 1), (50,)),
        Confidence((1,), (50,)),
        Confidence((0, 3, 3), (50, 60, 70)),
        Confidence((0, 3), (60, 50)),
        Confidence((0,), (101,)),
        Confidence((0,), (-1,)),
        Confidence((0,), (50,), -1),
        Confidence((0,), (50,), MAX_MARGIN + 1),
        Confidence((0, MAX_MARGIN + 1), (50, 60)),
        Confidence(tuple(range(MAX_LEVELS + 1)), tuple(range(MAX_LEVELS + 1))),
    ],
)
def test_an_invalid_confidence_is_refused(confidence):
    with pytest.raises(ModelError, match="the confidence of the model is invalid"):
        check_model(replace(hand.ties(), confidence=confidence))


def test_a_model_may_have_none():
    with pytest.raises(ModelError, match="the model has no confidence; train it with --confidence"):
        required(None)
    assert required(THREE) is THREE


@pytest.mark.parametrize("over_time", [None, Filter(3)])
@pytest.mark.parametrize("name", ["tan_float", "sum_of_tables", "general_network"])
def test_it_comes_back_from_a_file(name, over_time):
    plain = replace(hand.NAMED[name](), filter=over_time)
    model = replace(plain, confidence=THREE)
    found = from_bytes(to_bytes(model), "m")
    assert (found.confidence, found.filter) == (THREE, over_time)
    assert to_bytes(found) == to_bytes(model)
    document = json.loads(unpack(to_bytes(model))[DOCUMENT])
    alone = json.loads(unpack(to_bytes(plain))[DOCUMENT])
    record = {"margins": [0, 4, 9], "percent": [50, 70, 95], "least_margin": 4}
    assert (document.pop("format"), document.pop("confidence")) == (9, record)
    assert document.pop("unrated_format") == alone.pop("format")
    assert document == alone


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"confidence": None}, "the record of margins, percent, least_margin is malformed"),
        ({"confidence": {"margins": [0]}}, "the record of margins"),
        (
            {"confidence": {"margins": [True], "percent": [1], "least_margin": 0}},
            "a list of int is malformed",
        ),
        (
            {"confidence": {"margins": [0], "percent": [1], "least_margin": 0.5}},
            "a number is malformed",
        ),
        (
            {"confidence": {"margins": [0], "percent": [101], "least_margin": 0}},
            "the confidence of the model is invalid",
        ),
        ({"unrated_format": 9}, "the format of its model without a confidence is malformed"),
        ({"unrated_format": "1"}, "a number is malformed"),
        ({"format": 1}, "is malformed"),
    ],
)
def test_an_unsound_record_is_refused(changes, message):
    entries = unpack(to_bytes(replace(hand.ties(), confidence=THREE)))
    document = {**json.loads(entries[DOCUMENT]), **changes}
    text = json.dumps(document, sort_keys=True, separators=(",", ":")) + "\n"
    entries[DOCUMENT] = text.encode()
    del entries["SHA256SUMS"]
    with pytest.raises(ModelFileError, match=message):
        from_bytes(pack(with_sums(entries)), "m")


EFFECT = ConfidenceEffect(100, 0.1, 80, 0.02, 0.06, 0.013)


def test_the_facts_of_a_confidence():
    assert confidence_facts(hand.ties()) is None
    assert decision_rows(hand.ties()) == []
    record = {"held_out": asdict(EFFECT), "test": None}
    model = replace(hand.ties(), confidence=THREE, training={CONFIDENCE: record})
    assert confidence_facts(model) == {**asdict(THREE), **record}
    assert model_facts(model)[CONFIDENCE] == confidence_facts(model)
    assert confidence_words(model) == [
        "50 to 95 % in 3 levels; decisions of a margin below 4 are rejected",
        "held-out rows: 80.0 % accepted with error 2.00 % (at most 6.00 % at 95 % confidence), "
        "10.00 % of all; calibration error 1.3 points (100 rows)",
    ]
    assert [row[0] for row in decision_rows(replace(model, filter=Filter(3)))] == [
        "filter", "confidence", "",
    ]  # fmt: skip
    one = replace(model, confidence=Confidence((0,), (80,)), training={})
    assert confidence_words(one) == ["80 % for every margin; none is rejected"]
    every = replace(model, confidence=replace(THREE, least_margin=0), training={})
    assert confidence_words(every) == ["50 to 95 % in 3 levels; none is rejected"]


@pytest.mark.parametrize(
    "change",
    [{"n": 0}, {"accepted": 101}, {"accepted": True}, {"error": None}, {"error": 2.0},
     {"error_bound": "0.1"}, {"calibration_error": None}, {"more": 1}],
)  # fmt: skip
def test_an_unsound_training_record_is_left_out(change):
    for record in (None, {"held_out": {**asdict(EFFECT), **change}}):
        model = replace(hand.ties(), confidence=THREE, training={CONFIDENCE: record})
        assert confidence_facts(model) == {**asdict(THREE), "held_out": None, "test": None}
