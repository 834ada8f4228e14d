"""Readings of no known class: ranges, novelty, what is known, and the file."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from bncc.data.dataset import Column, Table
from bncc.discretize.feature import Feature
from bncc.errors import ModelError, ModelFileError
from bncc.model.archive import pack, unpack, with_sums
from bncc.model.card import decision_rows, model_facts, unknown_facts, unknown_words
from bncc.model.confidence import Confidence
from bncc.model.file import DOCUMENT, from_bytes, to_bytes
from bncc.model.filter import Filter
from bncc.model.model import check_model
from bncc.model.unknown import (
    ERR_UNKNOWN,
    MAX_NOVELTY,
    UNKNOWN,
    Unknown,
    UnknownEffect,
    effect_of,
    required,
)
from bncc.model.used import used_inputs, with_used_inputs
from tests import models as hand

FEATURES = (
    Feature("a", "int16", 2, (0,), (), 0),
    Feature("b", "float32", 2, (0.5,), (), 0),
    Feature("c", "uint8", 2, (7,), (), 0),
)
RULE = Unknown(
    {"a": ((-5, 5), (10, 20)), "b": ((0.0, 1.0), None), "c": ((0, 9), (3, 3))}, weight=10, limit=3
)


def test_readings_outside_the_range_of_their_class_count():
    R = np.array([[-5, 0.0, 9], [-6, 1.5, 10], [9, -3.0, 4], [20, np.inf, 3]])
    first, second = (np.full(4, c) for c in (0, 1))
    assert RULE.outside(FEATURES, R, first).tolist() == [0, 3, 2, 2]
    # Nothing is outside where the class had no reading of b.
    assert RULE.outside(FEATURES, R, second).tolist() == [2, 2, 2, 0]


def test_a_missing_reading_is_not_outside():
    R = np.array([[-(2**15), np.nan, 255], [-(2**15) + 1, -np.inf, 0]])
    assert RULE.outside(FEATURES, R, np.zeros(2, int)).tolist() == [1, 2]


def test_the_margin_makes_up_for_readings_outside():
    R = np.array([[6, 0.0, 0]] * 4)
    scores = np.array([[0, 7], [0, 6], [0, 0], [9, 0]])
    assert RULE.novelty(FEATURES, R, scores.argmin(axis=1), np.array([7, 6, 0, 9])).tolist() == [
        3, 4, 10, 11,
    ]  # fmt: skip
    assert RULE.known_class(FEATURES, R, scores).tolist() == [0, *(ERR_UNKNOWN,) * 3]
    without = replace(RULE, limit=-7)
    inside = np.zeros((2, 3))
    assert without.known_class(FEATURES, inside, np.array([[0, 7], [0, 6]])).tolist() == [0, -8]


def test_rows_of_a_table_are_as_in_c():
    gaps = np.array([False, True])
    table = Table(
        (
            Column("c", "integer", np.array([300, 0]), ~gaps & gaps),
            Column("a", "integer", np.array([4, 1]), gaps),
            Column("b", "float", np.array([0.1, 0.5]), gaps),
        )
    )
    scores = np.array([[0, 5], [0, 5]])
    # 300 saturates at 255, outside of 0 .. 9.
    assert RULE.knows(FEATURES, table, scores).tolist() == [False, True]


def test_false_alarms_and_detected_rows():
    known = np.array([True, False, True, False, True, False])
    y = np.array([0, 1, 1, -1, -1, 0])
    groups = np.array([0, 0, 1, 1, 1, 2])
    assert effect_of(known, y) == UnknownEffect(4, 2, None, 2, 1)
    found = effect_of(known, y, groups)
    assert found.worst_group == 1.0
    assert found.words == (
        "50.0 % false alarms (2 of 4 rows), 100.0 % in the worst group, "
        "1 rows of other classes detected, 1 missed"
    )
    assert effect_of(known[:3], y[:3], groups[:3]).worst_group == 0.5
    assert effect_of(known[3:5], y[3:5], groups[3:5]) == UnknownEffect(0, 0, None, 2, 1)


def of(model):
    """Return a rule for a model with one range for all numeric inputs and classes."""
    ends = {"float32": (0.0, 2.5)}
    ranges = {
        each.name: (ends.get(each.kind, (0, 2)),) * (model.n_classes - 1) + (None,)
        for each in model.inputs
        if each.is_numeric
    }
    return Unknown(ranges, 5, -2)


@pytest.mark.parametrize(
    "changes",
    [
        {"ranges": {"z": ((0, 1),) * 3}},
        {"ranges": {"a": ((0, 1),) * 2}},
        {"ranges": {"a": ((2, 1),) * 3}},
        {"ranges": {"a": ((0, 2**31),) * 3}},
        {"ranges": {"a": ((0.0, 1),) * 3}},
        {"ranges": {"a": ((True, 1),) * 3}},
        {"weight": 0},
        {"weight": MAX_NOVELTY},
        {"limit": MAX_NOVELTY + 1},
        {"limit": -MAX_NOVELTY - 1},
    ],
)
def test_an_invalid_rule_is_refused(changes):
    model = hand.naive_integer()
    rule = of(model)
    names = dict(zip("az", (model.inputs[0].name, "z"), strict=True))
    if "ranges" in changes:
        changes = {"ranges": {names[key]: value for key, value in changes["ranges"].items()}}
    check_model(replace(model, unknown=rule))
    with pytest.raises(ModelError, match="for unknown readings"):
        check_model(replace(model, unknown=replace(rule, **changes)))


@pytest.mark.parametrize("end", [-0.0, float("inf"), 0.1, 1])
def test_a_range_of_floats_has_values_of_the_type(end):
    model = hand.tan_float()
    rule = of(model)
    name = next(each.name for each in model.inputs if each.kind == "float32")
    wrong = replace(rule, ranges={name: ((min(end, 0.0), end),) * model.n_classes})
    with pytest.raises(ModelError, match="for unknown readings"):
        check_model(replace(model, unknown=wrong))


def test_a_model_may_have_none():
    with pytest.raises(ModelError, match=r"knows no unknown readings; train it with --unknown"):
        required(None)
    assert required(RULE) is RULE


@pytest.mark.parametrize(
    "others", [{}, {"filter": Filter(3), "confidence": Confidence((0,), (9,))}]
)
@pytest.mark.parametrize(
    "name", ["tan_float", "naive_integer", "sum_of_tables", "differences_of_words"]
)
def test_it_comes_back_from_a_file(name, others):
    plain = replace({**hand.NAMED, **hand.DIFFERENCES}[name](), **others)
    model = replace(plain, unknown=of(plain))
    found = from_bytes(to_bytes(model), "m")
    assert found.unknown == model.unknown
    assert to_bytes(found) == to_bytes(model)
    document = json.loads(unpack(to_bytes(model))[DOCUMENT])
    alone = json.loads(unpack(to_bytes(plain))[DOCUMENT])
    record = document.pop("unknown")
    assert (document.pop("format"), record["weight"], record["limit"]) == (10, 5, -2)
    assert record["ranges"].keys() == model.unknown.ranges.keys()
    assert document.pop("all_known_format") == alone.pop("format")
    assert document == alone


RECORD = {"ranges": {}, "weight": 1, "limit": 0}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"unknown": None}, "the record of ranges, weight, limit is malformed"),
        ({"unknown": RECORD | {"ranges": []}}, "the ranges for unknown readings is malformed"),
        ({"unknown": RECORD | {"ranges": {"a": [1]}}}, "a list of list or NoneType is malformed"),
        ({"unknown": RECORD | {"ranges": {"a": [[1]]}}}, "a range for unknown readings"),
        ({"unknown": RECORD | {"ranges": {"a": [["1", 2]]}}}, "a list of int or float"),
        ({"unknown": RECORD | {"ranges": {"?": [[1, 2]]}}}, "not those of a numeric input"),
        ({"unknown": RECORD | {"weight": 1.0}}, "a number is malformed"),
        ({"all_known_format": 10}, "the format of its model without a rule"),
        ({"all_known_format": True}, "a number is malformed"),
    ],
)
def test_an_unsound_record_is_refused(changes, message):
    model = hand.naive_integer()
    entries = unpack(to_bytes(replace(model, unknown=of(model))))
    document = {**json.loads(entries[DOCUMENT]), **changes}
    text = json.dumps(document, sort_keys=True, separators=(",", ":")) + "\n"
    entries[DOCUMENT] = text.encode()
    del entries["SHA256SUMS"]
    with pytest.raises(ModelFileError, match=message):
        from_bytes(pack(with_sums(entries)), "m")


def test_the_facts_of_a_rule():
    model = hand.naive_integer()
    assert (unknown_facts(model), decision_rows(model)) == (None, [])
    rule, effect = of(model), UnknownEffect(100, 5, 0.1)
    record = {"held_out": asdict(effect), "test": None}
    whole = replace(model, unknown=rule, training={UNKNOWN: record})
    assert unknown_facts(whole) == {**asdict(rule), **record}
    assert model_facts(whole)[UNKNOWN] == unknown_facts(whole)
    assert UnknownEffect(0, 0, None, 4, 3).words == "3 rows of other classes detected, 1 missed"
    n = len(rule.ranges)
    assert unknown_words(whole) == [
        f"ranges of {n} inputs by class; a reading outside counts 5, a novelty above -2 is unknown",
        "held-out rows: 5.0 % false alarms (5 of 100 rows), 10.0 % in the worst group",
    ]
    assert [row[0] for row in decision_rows(whole)] == ["unknown", ""]


@pytest.mark.parametrize(
    "changes",
    [{"n": 1.0}, {"n": 4}, {"false_alarms": -1}, {"detected": 1}, {"worst_group": 2}, {"more": 1}],
)
def test_a_record_that_is_no_effect_is_not_shown(changes):
    model = hand.naive_integer()
    record = {"held_out": asdict(UnknownEffect(100, 5)) | changes}
    found = unknown_facts(replace(model, unknown=of(model), training={UNKNOWN: record}))
    assert found["held_out"] is None


def test_inputs_that_are_compared_remain():
    model = hand.DIFFERENCES["differences_in_a_struct"]()
    assert set(used_inputs(model)) <= set(range(len(model.inputs)))
    smaller = with_used_inputs(replace(model, unknown=of(model)))
    assert {each.name for each in smaller.inputs} >= {*of(model).ranges}
    check_model(smaller)
