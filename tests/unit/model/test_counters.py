"""Counters: what is counted, when all are halved, and their part of a model file."""

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bncc.errors import ModelError, ModelFileError
from bncc.model.archive import pack, unpack, with_sums
from bncc.model.card import counter_words, decision_rows, model_facts
from bncc.model.confidence import Confidence
from bncc.model.counters import (
    FULL,
    CounterLayout,
    Counters,
    Counts,
    added,
    check_counters,
    required,
)
from bncc.model.file import from_bytes, to_bytes
from bncc.model.filter import Filter
from bncc.model.model import check_model
from bncc.model.records import DOCUMENT
from bncc.model.unknown import Unknown
from tests import models as hand
from tests.tiers import examples

HELD = Counts((50, 30, 20), (60, 40), None, 70, 25)
COUNTERS = Counters((0, 4), HELD)
SCORES = np.array([[0, 3, 9], [0, 4, 9], [5, 0, 9], [5, 5, 0], [0, 0, 0]])


def test_each_decision_adds_to_its_class_its_bin_and_its_step():
    assert COUNTERS.counted(SCORES).columns == {
        "classes[0]": 3, "classes[1]": 1, "classes[2]": 1, "margins[0]": 2, "margins[1]": 3,
        "stays": 1, "switches": 3,
    }  # fmt: skip
    known = np.array([True, False, True, True, False])
    found = COUNTERS.counted(SCORES, known, np.array([0, 1, 0, 0, 1]))
    assert found == Counts((3, 1, 1), (2, 3), 2, 1, 2)
    assert [*found.columns][5] == "unknown"
    assert found.n == 5
    apart = replace(COUNTERS, expected=replace(HELD, stays=None, switches=None))
    assert apart.counted(SCORES) == Counts((3, 1, 1), (2, 3))
    assert apart.counted(SCORES[:0]).values == [0] * 5


def test_sequences_are_counted_one_after_the_other():
    """When all are halved depends on the order."""
    n = FULL - 1
    scores = np.concatenate([np.tile([0, 9, 9], (n, 1)), [[1, 0, 9], [0, 9, 9]]])
    first = COUNTERS.counted(scores)
    # The decision of class 1 fills no counter, the last one that of class 0.
    assert first.classes == (FULL // 2, 0, 0)
    sequences = np.r_[np.ones(n), 0, 0].astype(np.int64)
    assert COUNTERS.counted(scores, None, sequences).classes == (FULL // 2, 0, 0)
    last = np.r_[np.zeros(n), 1, 0].astype(np.int64)
    assert COUNTERS.counted(scores, None, last).classes == (FULL // 2, 1, 0)


def one_by_one(counts: Sequence[int], hits: Sequence[Sequence[int]]) -> list[int]:
    """Return what the C does: add to counters, and halve all if one of them is full."""
    found = list(counts)
    for row in hits:
        for at in row:
            if at >= 0:
                found[at] += 1
        if any(at >= 0 and found[at] == FULL for at in row):
            found = [n // 2 for n in found]
    return found


@settings(max_examples=examples(100))
@given(
    st.lists(st.integers(0, FULL - 1) | st.integers(FULL - 4, FULL - 1), min_size=3, max_size=3),
    st.lists(st.lists(st.integers(-1, 2), min_size=4, max_size=4, unique=False), max_size=30),
)
def test_blocks_of_decisions_add_up_as_single_ones(counts, hits):
    distinct = [[at for at in {*row} if at >= 0] for row in hits]
    rows = np.array([[*row, *(-1,) * (4 - len(row))] for row in distinct]).reshape(-1, 4)
    found = added(np.array(counts), rows.astype(np.int64))
    assert found.tolist() == one_by_one(counts, distinct)
    assert found.max() < FULL


def test_shares_stay_right_when_counters_are_halved():
    rng = np.random.default_rng(0)
    scores = np.where(rng.random((400_000, 1)) < 0.3, [[0, 9, 9]], [[9, 0, 2]])
    found = COUNTERS.counted(scores)
    assert FULL // 2 < max(found.values) < FULL
    assert found.classes[0] / found.n == pytest.approx(0.3, abs=0.01)
    assert found.n == pytest.approx(sum(found.margins), abs=5)
    assert found.switches / (found.stays + found.switches) == pytest.approx(0.42, abs=0.01)


@pytest.mark.parametrize("has_unknown", [False, True])
@pytest.mark.parametrize("is_in_time", [False, True])
def test_a_layout_reads_what_it_names(has_unknown, is_in_time):
    layout = CounterLayout(2, 3, has_unknown=has_unknown, is_in_time=is_in_time)
    counts = layout.counts(range(len(layout.names)))
    assert counts.layout == layout
    assert counts.values == [*range(len(layout.names))]
    assert [*counts.columns] == layout.names


def of(model):
    """Return counters for a model, with unknown readings if it has a rule."""
    n = model.n_classes
    unknown = None if model.unknown is None else 1
    return Counters((0, 7), Counts((2,) * n, (2 * n - 1, 1), unknown, n, n - 1))


@pytest.mark.parametrize(
    "changes",
    [
        {"margins": ()}, {"margins": (1, 2)}, {"margins": (0, 0)}, {"margins": (0, 2**32)},
        {"margins": (0,)}, {"classes": (3, 3)}, {"classes": (4, 3, -1)}, {"bins": (5, 2)},
        {"unknown": 7}, {"unknown": 0}, {"stays": None}, {"switches": 4}, {"classes": (0, 0, 0)},
        {"stays": -1},
    ],
)  # fmt: skip
def test_invalid_counters_are_refused(changes):
    whole = Counters((0, 7), Counts((2, 2, 2), (5, 1), None, 3, 2))
    check_counters(whole, 3, has_unknown=False)
    names = {"bins": "margins"}
    if "margins" in changes:
        wrong = replace(whole, **changes)
    else:
        of_held = {names.get(key, key): value for key, value in changes.items()}
        wrong = replace(whole, expected=replace(whole.expected, **of_held))
    with pytest.raises(ModelError, match="the counters of the model are invalid"):
        check_counters(wrong, 3, has_unknown=False)


def test_unknown_readings_are_counted_if_and_only_if_there_is_a_rule():
    with pytest.raises(ModelError, match="invalid"):
        check_counters(COUNTERS, 3, has_unknown=True)
    counted = replace(COUNTERS, expected=replace(HELD, unknown=3))
    check_counters(counted, 3, has_unknown=True)


def test_a_model_may_have_none():
    with pytest.raises(ModelError, match="has no counters; train it with --counters"):
        required(None)
    assert required(COUNTERS) is COUNTERS


@pytest.mark.parametrize(
    "others",
    [
        {},
        {"filter": Filter(3), "confidence": Confidence((0,), (9,))},
        {"unknown": Unknown({}, 3, 4)},
    ],
)
@pytest.mark.parametrize("name", ["tan_float", "sum_of_tables", "differences_of_words"])
def test_they_come_back_from_a_file(name, others):
    plain = replace({**hand.NAMED, **hand.DIFFERENCES}[name](), **others)
    model = replace(plain, counters=of(plain))
    found = from_bytes(to_bytes(model), "m")
    assert found.counters == model.counters
    assert to_bytes(found) == to_bytes(model)
    document = json.loads(unpack(to_bytes(model))[DOCUMENT])
    alone = json.loads(unpack(to_bytes(plain))[DOCUMENT])
    record = document.pop("counters")
    assert (document.pop("format"), record["margins"]) == (11, [0, 7])
    assert document.pop("uncounted_format") == alone.pop("format")
    assert document == alone


OF_HELD = {
    "classes": [1, 1, 1],
    "margins": [3],
    "unknown": None,
    "stays": None,
    "switches": None,
}
IN_FILE = {"margins": [0], "expected": OF_HELD}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"counters": None}, "the record of margins, expected is malformed"),
        ({"counters": {**IN_FILE, "expected": {}}}, "the record of classes, margins, unknown"),
        ({"counters": {**IN_FILE, "margins": [0.0]}}, "a list of int is malformed"),
        ({"counters": {**IN_FILE, "margins": [1]}}, "the counters of the model are invalid"),
        (
            {"counters": {**IN_FILE, "expected": OF_HELD | {"stays": 1.0}}},
            "a number is malformed",
        ),
        ({"uncounted_format": 11}, "the format of its model without counters"),
        ({"uncounted_format": True}, "a number is malformed"),
    ],
)
def test_an_unsound_record_is_refused(changes, message):
    model = hand.naive_integer()
    entries = unpack(to_bytes(replace(model, counters=of(model))))
    document = {**json.loads(entries[DOCUMENT]), **changes}
    text = json.dumps(document, sort_keys=True, separators=(",", ":")) + "\n"
    entries[DOCUMENT] = text.encode()
    del entries["SHA256SUMS"]
    with pytest.raises(ModelFileError, match=message):
        from_bytes(pack(with_sums(entries)), "m")


def test_the_facts_of_counters():
    model = hand.naive_integer()
    assert "counters" not in model_facts(model)
    assert decision_rows(model) == []
    counters = of(model)
    whole = replace(model, counters=counters)
    check_model(whole)
    facts = model_facts(whole)["counters"]
    assert facts["margins"] == counters.margins
    assert facts["expected"]["classes"] == counters.expected.classes
    n = model.n_classes
    assert counter_words(whole) == [
        f"2 bins of margins; compared with {2 * n} decisions of training",
        f"{n - 1} of {2 * n - 1} such decisions differ from the one before",
    ]
    apart = replace(counters, expected=replace(counters.expected, stays=None, switches=None))
    assert len(counter_words(replace(whole, counters=apart))) == 1
    assert [row[0] for row in decision_rows(whole)] == ["counters", ""]
