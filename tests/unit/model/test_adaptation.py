"""Adaptation to labeled inputs: what is learned, its bounds, and its place in a model file."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bncc.errors import ModelError, ModelFileError
from bncc.model.adaptation import (
    ADAPTATION,
    Adaptation,
    AdaptationEffect,
    LabeledHalf,
    Offsets,
    addressable,
    effect_of,
    in_turn,
    judged,
    labeled_halves,
    number_learned,
    offset_tables,
    required,
    row_bytes,
    rows_of,
)
from bncc.model.archive import pack, unpack, with_sums
from bncc.model.card import adaptation_facts, adaptation_words, decision_rows, model_facts
from bncc.model.file import DOCUMENT, from_bytes, model_digest, to_bytes
from bncc.model.filter import Filter
from bncc.model.model import check_model
from tests import models as hand
from tests.adapting import ADAPTING, adapting
from tests.tiers import examples

PLAIN = Adaptation((), 4, 1)
ROW = np.zeros(1, dtype=np.int64)


def test_a_hand_computed_sequence():
    offsets = Offsets(Adaptation((0, 1), 4, 3), 2, 3)
    rows, scores = np.array([0, 1]), np.array([0, 5, 9])
    # Class 1 is 5 behind class 0: a step of 4 down for it and up for the other, in both tables.
    assert offsets.learn(rows, scores, 1)
    assert offsets.costs(rows, scores).tolist() == [8, -3, 9]
    assert not offsets.learn(rows, scores, 1)
    # One of the two rows is shared with another input.
    assert offsets.costs(np.array([1, 1]), scores).tolist() == [4, 1, 9]
    assert offsets.classes(np.array([[0, 1], [1, 0]]), np.array([scores] * 2)).tolist() == [1, 0]
    # Class 0 is 11 behind class 1, and one step in both tables later 5 ahead of it.
    assert [offsets.learn(rows, scores, 0) for _ in range(2)] == [True, False]
    offsets.forget()
    assert offsets.costs(rows, scores).tolist() == scores.tolist()


def test_ties_go_to_the_smallest_index():
    offsets = Offsets(PLAIN, 1, 3)
    tied = np.array([2, 0, 0])
    assert offsets.classes(ROW, tied) == 1
    # A tie is no lead by 1, even for the class that is decided on; class 2 is the nearest.
    assert offsets.learn(ROW, tied, 1)
    assert offsets.steps[0, 0].tolist() == [0, -1, 1]
    offsets.forget()
    assert offsets.learn(ROW, np.array([0, 0, 0]), 2)
    assert offsets.steps[0, 0].tolist() == [1, 0, -1]


@settings(max_examples=examples(60))
@given(st.data())
def test_offsets_stay_within_their_bound_whatever_is_learned(data):
    bound, n_classes = data.draw(st.integers(1, 7)), data.draw(st.integers(2, 5))
    rule = Adaptation(
        (0, 3), 1 << data.draw(st.integers(0, 6)), data.draw(st.integers(1, 50)), bound
    )
    offsets = Offsets(rule, 3, n_classes)
    for _ in range(data.draw(st.integers(0, 30))):
        rows = np.array(data.draw(st.lists(st.integers(0, 2), min_size=2, max_size=2)))
        scores = np.array(
            data.draw(st.lists(st.integers(0, 40), min_size=n_classes, max_size=n_classes))
        )
        label = data.draw(st.integers(0, n_classes - 1))
        before = offsets.steps.copy()
        costs = offsets.costs(rows, scores)
        lead = min(np.delete(costs, label)) - costs[label]
        assert offsets.learn(rows, scores, label) == (lead < rule.margin)
        assert np.abs(offsets.steps).max() <= bound
        assert np.abs(offsets.steps - before).max() <= 1


def test_one_class_learned_again_and_again_stays_at_the_bound():
    offsets = Offsets(PLAIN, 1, 2)
    far = np.array([0, 10**6])
    assert all(offsets.learn(ROW, far, 1) for _ in range(5000))
    assert offsets.costs(ROW, far).tolist() == [28, 10**6 - 28]


def test_halves_keep_a_row_between_them():
    y = np.array([0] * 6 + [1] * 5 + [0] * 4 + [1] + [0] + [1] + [-1] * 3)
    groups = np.zeros(len(y), dtype=np.int64)
    (half,) = labeled_halves(y, groups)
    assert half.labeled.tolist() == [0, 1, 2, 6, 7, 11, 12, 15, 16]
    assert half.judged.tolist() == [4, 5, 9, 10, 14, 17]
    assert half.learned.tolist() == [0, 6, 1, 7, 2, 15, 11, 12, 16]
    assert half.in_time_order.learned.tolist() == half.labeled.tolist()
    first, second = labeled_halves(np.array([0] * 8), np.repeat([3, 7], 4))
    assert (first.labeled.tolist(), second.judged.tolist()) == ([0, 1], [7])


def test_at_most_twenty_of_a_class_are_learned():
    y = np.repeat([1, 0], [90, 3])
    found = in_turn(np.arange(93), y)
    assert len(found) == 23
    assert found[:4].tolist() == [90, 0, 91, 4]
    assert (found[found < 90].min(), found[found < 90].max()) == (0, 89)


def test_the_effect_on_groups():
    y = np.array([0, 1, 1, 0, 1])
    scores = np.array([[0, 3], [0, 3], [0, 3], [0, 3], [9, 0]])
    rows = np.zeros((5, 1), dtype=np.int64)
    halves = [
        LabeledHalf(np.array([1]), np.array([1]), np.array([2, 3])),
        LabeledHalf(np.array([0]), np.array([0]), np.array([4])),
        LabeledHalf(np.array([0]), np.array([0]), np.array([], dtype=np.int64)),
    ]
    found = judged(Adaptation((), 2, 1), halves, rows, scores, y)
    # Learning row 1 makes class 1 the less one for rows 2 and 3.
    assert [each.before.tolist() for each in found] == [[True, False], [False], []]
    assert [each.after.tolist() for each in found] == [[False, True], [False], []]
    effect = effect_of(number_learned(halves), found)
    assert effect == AdaptationEffect(2, 3, 3, 1 / 3, 1 / 3, 0.0)
    assert effect.words == (
        "error 33.33 -> 33.33 % of 3 rows of 2 groups, after 3 labeled ones; worst group "
        "+0.0 points"
    )
    assert effect_of(1, found[2:]) is None
    assert "of 1 group, after" in replace(effect, n_groups=1).words


def test_rows_are_those_of_the_tables():
    model = adapting("tables")
    assert addressable(model.structure) == tuple(range(8))
    X = np.array([[0, 0], [model.n_states[0] - 1, model.n_states[1] - 1]])
    found = rows_of(model.lookups, (1, 3), X)
    assert found.tolist() == [
        [0, 0], [model.lookups[1].n_rows - 1, model.lookups[3].n_rows - 1]
    ]  # fmt: skip
    assert rows_of(model.lookups, (), X).tolist() == [[0], [0]]
    assert offset_tables(model.structure, (3,)) == (model.structure.tables[3],)
    naive = adapting("naive")
    assert addressable(naive.structure) == offset_tables(naive.structure, ()) == ()
    assert addressable(adapting("trees").structure) == ()
    assert [row_bytes(n) for n in (2, 3, 255)] == [1, 2, 128]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tables": (1, 0)}, "tables of the adaptation"),
        ({"tables": (0, 0)}, "tables of the adaptation"),
        ({"tables": (8,)}, "tables of the adaptation"),
        ({"tables": (-1,)}, "tables of the adaptation"),
        ({"step": 0}, "the step 0"),
        ({"step": 3}, "the step 3"),
        ({"step": 2**25}, "the step 33554432"),
        ({"margin": 0}, "the margin 0"),
        ({"margin": 2**24 + 1}, "the margin"),
        ({"bound": 0}, "the bound 0"),
        ({"bound": 8}, "the bound 8"),
    ],
)
def test_an_invalid_adaptation_is_refused(changes, message):
    model = ADAPTING["adapting_tables"]()
    check_model(model)
    with pytest.raises(ModelError, match=message):
        check_model(replace(model, adaptation=replace(model.adaptation, **changes)))


def test_a_network_and_trees_have_offsets_of_classes_alone():
    for name in ("naive", "trees"):
        model = adapting(name)
        assert model.adaptation.tables == ()
        with pytest.raises(ModelError, match="tables of the adaptation"):
            check_model(replace(model, adaptation=Adaptation((0,), 1, 1)))


def test_a_model_without_one_is_refused():
    assert required(PLAIN) is PLAIN
    with pytest.raises(ModelError, match="train it with --adapt auto"):
        required(None)


@pytest.mark.parametrize("name", ADAPTING)
def test_a_file_keeps_it(name):
    model = replace(ADAPTING[name](), filter=Filter(9))
    again = from_bytes(to_bytes(model), "m.bncc")
    assert (again.adaptation, again.filter) == (model.adaptation, model.filter)
    document = json.loads(unpack(to_bytes(model))[DOCUMENT])
    assert (document["format"], document["unadapted_format"]) == (12, 8)
    other = replace(model, adaptation=replace(model.adaptation, margin=77))
    assert model_digest(other) != model_digest(model)


@pytest.mark.parametrize(
    "change",
    [
        {"adaptation": {"tables": [], "step": 1, "margin": 1}},
        {"adaptation": {"tables": [0.0], "step": 1, "margin": 1, "bound": 7}},
        {"adaptation": {"tables": [], "step": True, "margin": 1, "bound": 7}},
        {"adaptation": {"tables": [], "step": 3, "margin": 1, "bound": 7}},
        {"adaptation": None},
        {"unadapted_format": 12},
        {"unadapted_format": "1"},
    ],
)
def test_a_malformed_record_is_refused(change):
    entries = unpack(to_bytes(replace(hand.naive_integer(), adaptation=PLAIN)))
    document = json.loads(entries[DOCUMENT]) | change
    text = json.dumps(document, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    entries = {key: value for key, value in entries.items() if key != "SHA256SUMS"}
    with pytest.raises(ModelFileError, match="is not a bncc model"):
        from_bytes(pack(with_sums({**entries, DOCUMENT: text})), "m.bncc")


def test_its_facts_are_those_of_the_training():
    model = adapting("tables")
    facts = adaptation_facts(model)
    assert facts == model_facts(model)[ADAPTATION]
    assert facts | asdict(model.adaptation) == facts
    assert facts["held_out"] == model.training[ADAPTATION]["held_out"]
    assert facts["test"] is None
    words = adaptation_words(model)
    assert words[0].startswith("offsets of ")
    assert words[1].startswith("held-out rows: error ")
    assert ["adaptation", words[0]] in decision_rows(model)
    assert "offsets of each class" in adaptation_words(replace(model, adaptation=PLAIN))[0]
    assert adaptation_facts(hand.naive_integer()) is None
    assert adaptation_words(hand.naive_integer()) == []


@pytest.mark.parametrize(
    "record",
    [
        7,
        {"held_out": 7},
        {"held_out": {"n": 5}},
        {"held_out": asdict(AdaptationEffect(1, 1, -1, 0.5, 0.5, 0.0))},
        {"held_out": asdict(AdaptationEffect(1, 1, 1, 1.5, 0.5, 0.0))},
        {"held_out": asdict(AdaptationEffect(1, 1, 1, 0.5, 0.5, 7.0))},
    ],
)
def test_a_record_that_somebody_else_wrote_is_no_effect(record):
    model = replace(hand.naive_integer(), adaptation=PLAIN, training={ADAPTATION: record})
    assert adaptation_facts(model)["held_out"] is None
