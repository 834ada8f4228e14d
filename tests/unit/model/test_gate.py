"""A gate in a model: the first tables decide by their margin, in every description alike."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.errors import ModelError, ModelFileError
from bncc.model.archive import pack, unpack, with_sums
from bncc.model.card import gate_facts, gate_words, model_facts, structure_words
from bncc.model.explanation import contributions, decided_at_gate, runner_up
from bncc.model.file import DOCUMENT, encode, from_bytes, model_digest, to_bytes
from bncc.model.gate import GATE, Gate, margins, summed
from bncc.model.model import check_model
from bncc.model.reference import costs, predict, scores
from tests import models as hand

PLAIN = hand.sum_of_tables()
MODEL = hand.gated(PLAIN, 2, 5)
RECORD = {GATE: {"answers": 0.75, "differing": 0.0025}}


def by_hand(model, X):
    """Add up one row at a time, in plain Python."""
    found = []
    for x in X:
        total = [int(cost) for cost in model.prior]
        for t, (lookup, table) in enumerate(zip(model.lookups, model.tables, strict=True)):
            row = table[int(lookup.rows(x[None])[0])]
            total = [cost + int(more) for cost, more in zip(total, row, strict=True)]
            least, second = sorted(total)[:2]
            if model.gate and t + 1 == model.gate.tables and second - least >= model.gate.margin:
                break
        found.append(total)
    return np.array(found)


@pytest.mark.parametrize("margin", [1, 2, 5, 9, 100])
@pytest.mark.parametrize("tables", [1, 2])
def test_the_first_tables_count_alone_where_their_margin_is_large(tables, margin):
    model = hand.gated(PLAIN, tables, margin)
    check_model(model)
    X = hand.all_states(model)
    wanted = by_hand(model, X)
    assert np.array_equal(costs(model, X), wanted)
    assert np.array_equal(scores(model, X), wanted - wanted.min(axis=1, keepdims=True))
    assert np.array_equal(predict(model, X), wanted.argmin(axis=1))
    early = decided_at_gate(model, X)
    assert early.any() == (margin <= (5 if tables == 1 else 9))
    assert margin == 1 or not early.all()


def test_a_margin_of_exactly_that_size_decides():
    prior = np.array([0, 4, 4])
    terms = [np.zeros((1, 3), np.int64), np.array([[9, 0, 0]])]
    assert summed(prior, terms, 1, Gate(1, 4)).tolist() == [[0, 4, 4]]
    assert summed(prior, terms, 1, Gate(1, 5)).tolist() == [[9, 4, 4]]
    assert summed(prior, terms, 1, None).tolist() == [[9, 4, 4]]
    assert margins(np.array([[3, 3, 9], [1, 7, 2]])).tolist() == [0, 1]


def test_a_margin_beyond_all_sums_never_decides():
    X = hand.all_states(PLAIN)
    assert np.array_equal(costs(hand.gated(PLAIN, 2, 10**6), X), costs(PLAIN, X))


@given(st.integers(1, 40), st.integers(1, 2))
def test_contributions_add_up_to_the_costs_of_the_exit(margin, tables):
    model = hand.gated(PLAIN, tables, margin)
    X = hand.all_states(model)
    total = contributions(model, X).sum(axis=1)
    wanted = costs(model, X) * 2.0**-model.q_format.frac_bits
    assert np.allclose(total, wanted.mean(axis=1, keepdims=True) - wanted)
    behind = contributions(model, X)[decided_at_gate(model, X), 1 + tables :]
    assert not behind.any()
    assert runner_up(model, X[0])[0] == predict(model, X[:1])[0]


def test_a_model_without_a_gate_decides_nowhere_early():
    assert not decided_at_gate(PLAIN, hand.all_states(PLAIN)).any()


def test_a_file_keeps_the_gate_in_a_format_of_its_own():
    document = json.loads(encode(MODEL)[DOCUMENT])
    assert (document["format"], document["gate"]) == (6, {"tables": 2, "margin": 5})
    data = to_bytes(MODEL)
    assert from_bytes(data, "it").gate == MODEL.gate
    assert to_bytes(from_bytes(data, "it")) == data
    digests = {model_digest(each) for each in (PLAIN, MODEL, hand.gated(PLAIN, 2, 6))}
    assert len(digests) == 3


def test_a_file_without_a_gate_has_the_format_that_it_had():
    document = json.loads(encode(PLAIN)[DOCUMENT])
    assert document["format"] == 2
    assert "gate" not in document
    assert from_bytes(to_bytes(PLAIN), "it").gate is None


def changed(change):
    """Return the file of the model with another document."""
    entries = {k: v for k, v in unpack(to_bytes(MODEL)).items() if k != "SHA256SUMS"}
    document = change(json.loads(entries[DOCUMENT]))
    text = json.dumps(document, sort_keys=True, separators=(",", ":")) + "\n"
    return pack(with_sums({**entries, DOCUMENT: text.encode()}))


@pytest.mark.parametrize(
    "gate",
    [
        None,
        [],
        {"tables": 2},
        {"tables": 2, "margin": 5, "more": 1},
        {"tables": True, "margin": 5},
        {"tables": 2, "margin": 5.0},
        {"tables": 0, "margin": 5},
        {"tables": 3, "margin": 5},
        {"tables": 2, "margin": 0},
        {"tables": 2, "margin": 2**32},
    ],
)
def test_a_file_with_another_gate_is_refused(gate):
    assert from_bytes(changed(lambda found: found), "it").gate == MODEL.gate
    with pytest.raises(ModelFileError, match="not a bncc model, or is truncated or corrupt"):
        from_bytes(changed(lambda found: {**found, "gate": gate}), "it")


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_gate_in_another_format_is_refused(number):
    with pytest.raises(ModelFileError, match="malformed"):
        from_bytes(changed(lambda found: {**found, "format": number}), "it")
    without = changed(lambda found: {k: v for k, v in found.items() if k != "gate"})
    with pytest.raises(ModelFileError, match="malformed"):
        from_bytes(without, "it")


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (hand.gated(PLAIN, 0), "behind 0 of its 3 tables"),
        (hand.gated(PLAIN, 3), "behind 3 of its 3 tables"),
        (hand.gated(PLAIN, 1, 0), "margin 0; 1 .. 2\\*\\*32 - 1"),
        (hand.gated(hand.trees_of_sensors(3, 3)), "no sum of tables over cuts"),
        (hand.gated(hand.naive_integer()), "no sum of tables over cuts"),
    ],
)
def test_an_unsound_gate_is_refused(model, words):
    with pytest.raises(ModelError, match=words):
        check_model(model)


def test_facts_and_words_name_the_gate():
    model = replace(MODEL, training=RECORD)
    facts = {"tables": 2, "margin": 5, "answers": 0.75, "differing": 0.0025}
    assert gate_facts(model) == facts == model_facts(model)[GATE]
    assert "the first 2 tables decide 75.0 % of held-out rows, 0.25 %" in gate_words({GATE: facts})
    assert structure_words(model).endswith("a gate of margin 5 behind table 1")
    assert gate_facts(PLAIN) is None
    assert GATE not in model_facts(PLAIN)
    assert gate_words({}) is None


@pytest.mark.parametrize("record", [{}, {GATE: 3}, {GATE: {"answers": 2, "differing": True}}])
def test_a_record_that_is_none_has_no_shares(record):
    facts = gate_facts(replace(MODEL, training=record))
    assert (facts["answers"], facts["differing"]) == (None, None)
    assert gate_words({GATE: facts}) is None
