"""The filter over decisions: its recursion, the offline path, and its place in a model file."""

import json
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.errors import ModelError, ModelFileError
from bncc.model import reference
from bncc.model.archive import pack, unpack, with_sums
from bncc.model.card import filter_facts, filter_words, model_facts
from bncc.model.file import DOCUMENT, from_bytes, model_digest, to_bytes
from bncc.model.filter import (
    FILTER,
    MAX_HOLD,
    MAX_LAG,
    MAX_SWITCH,
    NO_DECISION,
    Filter,
    FilterEffect,
    answered,
    decided,
    effect_of,
    filtered,
    filtered_by_price,
    filtered_scores,
    held,
    matrix_of,
    rows_of_sequences,
    switches,
    viterbi,
)
from bncc.model.model import check_model
from tests import models as hand


def one(n: int) -> np.ndarray:
    """Return rows of one sequence."""
    return np.zeros(n, dtype=np.int64)


@st.composite
def streams(draw, largest=20, n_rows=12):
    """Draw scores of a few rows, sequences and a price."""
    n, n_classes = draw(st.integers(0, n_rows)), draw(st.integers(2, 4))
    row = st.lists(st.integers(0, largest), min_size=n_classes, max_size=n_classes)
    scores = draw(st.lists(row, min_size=n, max_size=n))
    sequences = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    table = np.array(scores, dtype=np.int64).reshape(n, n_classes)
    return table, np.array(sequences, dtype=np.int64), draw(st.integers(0, 2 * largest))


def test_a_hand_computed_sequence():
    scores = np.array([[0, 5], [3, 0], [3, 0], [0, 9]])
    found = filtered_scores(scores, one(4), 4)
    # 0 5 | 3 4 -> 0 1 | 3 1 -> 2 0 | 2 9 -> 0 7
    assert found.tolist() == [[0, 5], [0, 1], [2, 0], [0, 7]]
    assert filtered(scores, one(4), 4).tolist() == [0, 0, 1, 0]
    assert filtered(scores, one(4), 0).tolist() == [0, 1, 1, 0]


def test_ties_go_to_the_smallest_index():
    scores = np.array([[2, 2, 0], [0, 1, 4], [1, 0, 0]])
    assert filtered(scores, one(3), 2).tolist() == [2, 0, 0]


@given(streams())
def test_a_price_of_zero_is_the_decision_of_each_row(stream):
    scores, sequences, _ = stream
    assert filtered(scores, sequences, 0).tolist() == scores.argmin(axis=1).tolist()


@given(streams())
def test_sequences_are_filtered_on_their_own(stream):
    scores, sequences, price = stream
    found = filtered(scores, sequences, price)
    for k in np.unique(sequences):
        rows = np.flatnonzero(sequences == k)
        assert found[rows].tolist() == filtered(scores[rows], one(len(rows)), price).tolist()


@given(streams(), st.integers(2, 9))
def test_scaling_scores_and_price_changes_no_decision(stream, factor):
    scores, sequences, price = stream
    scaled = filtered(factor * scores, sequences, factor * price)
    assert scaled.tolist() == filtered(scores, sequences, price).tolist()


@given(streams())
def test_no_score_exceeds_its_bound(stream):
    scores, sequences, price = stream
    found = filtered_scores(scores, sequences, price)
    assert (found.min(axis=1, initial=0) == 0).all()
    assert (found <= scores.max(axis=1, initial=0, keepdims=True) + price).all()


@given(streams())
def test_a_capped_state_decides_alike(stream):
    """The C keeps no more than the price of each class."""
    scores, _, price = stream
    held, found = np.zeros(scores.shape[1], dtype=np.int64), []
    for row in scores:
        new = row + held
        held = np.minimum(new - new.min(), price)
        found.append(int(new.argmin()))
    assert found == filtered(scores, one(len(scores)), price).tolist()


@given(streams(), st.lists(st.integers(0, 40), min_size=1, max_size=3))
def test_several_prices_are_tried_at_once(stream, prices):
    scores, sequences, _ = stream
    for price, found in zip(prices, filtered_by_price(scores, sequences, prices), strict=True):
        assert found.tolist() == filtered(scores, sequences, price).tolist()


@given(streams(largest=6, n_rows=5))
def test_the_filter_is_the_least_path_to_each_class(stream):
    """By enumeration: a path costs its scores, and the price for each switch."""
    scores, _, price = stream
    n, n_classes = scores.shape
    for end in range(1, n + 1):
        least = np.full(n_classes, 10**9)
        for path in product(range(n_classes), repeat=end):
            cost = sum(int(scores[k, c]) for k, c in enumerate(path))
            cost += price * sum(a != b for a, b in pairwise(path))
            least[path[-1]] = min(least[path[-1]], cost)
        assert (least - least.min()).tolist() == filtered_scores(scores, one(n), price)[
            end - 1
        ].tolist()


@given(streams(largest=6, n_rows=5))
def test_the_offline_path_is_the_cheapest(stream):
    scores, sequences, price = stream
    found = viterbi(scores, sequences, price)

    def cost(path, rows):
        of_switches = sum(a != b for a, b in pairwise(path))
        return sum(int(scores[row, c]) for row, c in zip(rows, path, strict=True)) + (
            price * of_switches
        )

    for k in np.unique(sequences):
        rows = np.flatnonzero(sequences == k)
        paths = product(range(scores.shape[1]), repeat=len(rows))
        assert cost(found[rows].tolist(), rows) == min(cost(path, rows) for path in paths)
        assert found[rows[-1]] == filtered(scores, sequences, price)[rows[-1]]


@st.composite
def transitions(draw):
    """Draw scores of a few rows, sequences and a price of each transition."""
    scores, sequences, _ = draw(streams(largest=6, n_rows=5))
    n = scores.shape[1]
    row = st.lists(st.integers(0, 9), min_size=n, max_size=n)
    return scores, sequences, np.array(draw(st.lists(row, min_size=n, max_size=n)))


@given(streams())
def test_one_price_is_a_matrix_of_transitions(stream):
    scores, sequences, price = stream
    by_class = matrix_of(price, scores.shape[1])
    assert (np.diag(by_class) == 0).all()
    assert np.array_equal(
        filtered_scores(scores, sequences, by_class), filtered_scores(scores, sequences, price)
    )
    assert np.array_equal(viterbi(scores, sequences, by_class), viterbi(scores, sequences, price))


@given(transitions())
def test_a_state_capped_at_the_largest_price_decides_alike(stream):
    """The C keeps no more of each class than the largest price of a transition."""
    scores, _, prices = stream
    kept, found = np.zeros(scores.shape[1], dtype=np.int64), []
    for row in scores:
        new = row + (kept[:, None] + prices).min(axis=0)
        assert new.max() <= row.max() + prices.max()
        kept = np.minimum(new - new.min(), prices.max())
        found.append(int(new.argmin()))
    assert found == filtered(scores, one(len(scores)), prices).tolist()


@given(transitions())
def test_transitions_price_each_path(stream):
    """By enumeration; the filter also has a transition before the first row, from any class."""
    scores, _, prices = stream
    n, n_classes = scores.shape

    def cost(path):
        of_steps = sum(int(prices[a, b]) for a, b in pairwise(path))
        return of_steps + sum(int(scores[k, c]) for k, c in enumerate(path))

    found = filtered_scores(scores, one(n), prices)
    for end in range(1, n + 1):
        least = np.full(n_classes, 10**9)
        for path in product(range(n_classes), repeat=end):
            least[path[-1]] = min(least[path[-1]], cost(path) + int(prices[:, path[0]].min()))
        assert (least - least.min()).tolist() == found[end - 1].tolist()
    if n:
        paths = product(range(n_classes), repeat=n)
        assert cost(viterbi(scores, one(n), prices).tolist()) == min(map(cost, paths))


def decoded(scores, sequences, prices, lag):
    """Return the decisions with a lag by `viterbi`, which starts again for each row."""
    found = np.empty(len(scores), dtype=np.int64)
    for rows in rows_of_sequences(sequences):
        for k, row in enumerate(rows):
            known = rows[: k + lag + 1]
            found[row] = viterbi(scores[known], one(len(known)), prices)[k]
    return found.tolist()


@given(streams(), st.integers(1, 5))
def test_a_lag_decides_as_offline_decoding_of_the_rows_so_far(stream, lag):
    scores, sequences, price = stream
    (found,) = filtered_by_price(scores, sequences, [price], lag)
    assert found.tolist() == decoded(scores, sequences, price, lag)


@given(transitions(), st.integers(1, 4))
def test_a_lag_decides_likewise_with_a_price_of_each_transition(stream, lag):
    """The filter also has a transition before the first row: one class starts for nothing."""
    scores, sequences, prices = stream
    prices = np.vstack([np.zeros_like(prices[:1]), prices[1:]])
    found = filtered_by_price(scores, sequences, [prices, 2 * prices], lag)
    assert found[0].tolist() == decoded(scores, sequences, prices, lag)
    assert found[1].tolist() == decoded(scores, sequences, 2 * prices, lag)


@given(streams())
def test_a_lag_of_a_whole_sequence_is_offline_decoding(stream):
    scores, sequences, price = stream
    found = decided(scores, sequences, Filter(price, lag=MAX_LAG))
    assert found.tolist() == viterbi(scores, sequences, price).tolist()


def test_a_path_stays_in_a_class_that_costs_as_much():
    scores = np.array([[0, 3, 3], [3, 0, 3], [0, 3, 3], [0, 3, 3], [9, 0, 9], [9, 0, 9]])
    # The second row alone is not worth two switches of 2, the last two are worth one.
    assert filtered(scores, one(6), 2).tolist() == [0, 1, 0, 0, 1, 1]
    assert decided(scores, one(6), Filter(2, lag=1)).tolist() == [0, 0, 0, 0, 1, 1]
    tied = np.array([[0, 1], [1, 0], [0, 0]])
    assert decided(tied, one(3), Filter(1, lag=2)).tolist() == [0, 0, 0]


def test_an_answer_is_on_the_row_of_a_lag_before():
    scores = np.array([[0, 9], [0, 9], [9, 0], [9, 0], [9, 0], [9, 0]])
    sequences = np.array([0, 0, 0, 0, 1, 0])
    rule = Filter(5, lag=2)
    assert decided(scores, sequences, rule).tolist() == [0, 0, 1, 1, 1, 1]
    found = answered(scores, sequences, rule).tolist()
    assert found == [NO_DECISION, NO_DECISION, 0, 0, NO_DECISION, 1]
    without = answered(scores, sequences, Filter(5)).tolist()
    assert without == decided(scores, sequences, Filter(5)).tolist()


@given(streams(), st.integers(1, 3), st.integers(2, 3))
def test_a_switch_that_needs_several_decisions_counts_those_with_the_lag(stream, lag, hold):
    scores, sequences, price = stream
    found = decided(scores, sequences, Filter(price, hold, lag=lag))
    (alone,) = filtered_by_price(scores, sequences, [price], lag)
    assert found.tolist() == held(alone, sequences, hold).tolist()


def test_a_file_keeps_the_lag():
    model = replace(hand.naive_integer(), filter=Filter(9, 2, lag=3))
    check_model(model)
    assert from_bytes(to_bytes(model), "m.bncc").filter == Filter(9, 2, lag=3)
    record = json.loads(unpack(to_bytes(model))[DOCUMENT])["filter"]
    assert record == {"switch": 9, "hold": 2, "lag": 3}
    assert filter_facts(model)["lag"] == 3
    assert filter_words(model)[2] == "a row is decided 3 rows later"
    assert model_digest(model) != model_digest(replace(model, filter=Filter(9, 2)))


@pytest.mark.parametrize(("switch", "lag"), [(9, -1), (9, MAX_LAG + 1), (0, 1)])
def test_a_lag_out_of_range_is_refused(switch, lag):
    with pytest.raises(ModelError, match=f"decides {lag} rows later"):
        check_model(replace(hand.naive_integer(), filter=Filter(switch, lag=lag)))


def test_a_file_keeps_the_prices_of_transitions():
    n = hand.naive_integer().n_classes
    rows = tuple(tuple(9 if b == a + 1 else int(a != b) for b in range(n)) for a in range(n))
    model = replace(hand.naive_integer(), filter=Filter(9, 1, rows))
    check_model(model)
    assert from_bytes(to_bytes(model), "m.bncc").filter == model.filter
    record = json.loads(unpack(to_bytes(model))[DOCUMENT])["filter"]
    assert record == {"switch": 9, "transitions": [list(row) for row in rows]}
    assert filter_facts(model)["transitions"] == record["transitions"]
    assert filter_words(model)[0] == "a transition costs at most 9, each its own learned price"
    for wrong in (rows[1:], (*rows, rows[0]), (rows[0][1:], *rows[1:]), ((10,) * n,) * n, ()):
        with pytest.raises(ModelError, match="the transitions in the filter"):
            check_model(replace(model, filter=Filter(9, 1, wrong)))
    with pytest.raises(ModelError, match="the transitions in the filter"):
        check_model(replace(model, filter=Filter(8, 1, rows)))


def test_switches_count_within_sequences():
    assert switches(np.array([0, 1, 1, 0]), np.array([0, 0, 1, 1])) == 2
    assert switches(np.array([0, 1, 0, 1]), np.array([0, 1, 0, 1])) == 0
    assert switches(np.array([], dtype=np.int64), one(0)) == 0


def test_the_effect_of_a_filter():
    y, before, after = (np.array(each) for each in ([0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 1]))
    assert effect_of(y, before, after, one(4)) == FilterEffect(4, 0.5, 0.25, 3, 1)
    assert effect_of(y[:0], y[:0], y[:0], one(0)) is None


@pytest.mark.parametrize("switch", [0, 1, MAX_SWITCH])
@pytest.mark.parametrize("name", ["tan_float", "sum_of_tables", "general_network"])
def test_it_comes_back_from_a_file(name, switch):
    plain = hand.NAMED[name]()
    model = replace(plain, filter=Filter(switch))
    found = from_bytes(to_bytes(model), "m")
    assert found.filter == Filter(switch)
    assert to_bytes(found) == to_bytes(model)
    assert model_digest(model) != model_digest(plain)
    document = json.loads(unpack(to_bytes(model))[DOCUMENT])
    alone = json.loads(unpack(to_bytes(plain))[DOCUMENT])
    assert (document.pop("format"), document.pop("filter")) == (8, {"switch": switch})
    assert document.pop("unfiltered_format") == alone.pop("format")
    assert document == alone


@pytest.mark.parametrize("switch", [-1, MAX_SWITCH + 1])
def test_a_price_out_of_range_is_refused(switch):
    with pytest.raises(ModelError, match="the price of a switch in the filter"):
        check_model(replace(hand.ties(), filter=Filter(switch)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"filter": {"switch": True}}, "a number is malformed"),
        ({"filter": {"switch": -1}}, "the price of a switch"),
        ({"filter": {"switch": 1, "more": 2}}, "the record of switch is malformed"),
        ({"filter": None}, "the record of its filter is malformed"),
        ({"filter": {"switch": 1, "transitions": None}}, "a list of list is malformed"),
        ({"filter": {"switch": 1, "transitions": [[True]]}}, "a list of int is malformed"),
        ({"filter": {"switch": 1, "transitions": [[0, 1]]}}, "the transitions in the filter"),
        ({"unfiltered_format": 8}, "the format of its model without a filter is malformed"),
        ({"unfiltered_format": 0}, "the format of its model without a filter is malformed"),
        ({"unfiltered_format": "1"}, "a number is malformed"),
        ({"format": 1}, "is malformed"),
        ({"unfiltered_format": 7}, "a number is malformed"),
    ],
)
def test_an_unsound_record_is_refused(changes, message):
    entries = unpack(to_bytes(replace(hand.ties(), filter=Filter(3))))
    document = {**json.loads(entries[DOCUMENT]), **changes}
    text = json.dumps(document, sort_keys=True, separators=(",", ":")) + "\n"
    entries[DOCUMENT] = text.encode()
    del entries["SHA256SUMS"]
    with pytest.raises(ModelFileError, match=message):
        from_bytes(pack(with_sums(entries)), "m")


def test_decisions_on_sequences():
    model = hand.ties()
    X = np.array(hand.all_states(model))
    sequences = np.arange(len(X)) % 2
    with pytest.raises(ModelError, match="the model has no filter; train it with --filter auto"):
        reference.predict_sequences(model, X, sequences)
    found = reference.predict_sequences(replace(model, filter=Filter(2)), X, sequences)
    assert found.tolist() == filtered(reference.scores(model, X), sequences, 2).tolist()


def test_the_facts_of_a_filter():
    assert filter_facts(hand.ties()) is None
    assert filter_words(hand.ties()) == []
    model = replace(hand.ties(), filter=Filter(3))
    assert filter_facts(model) == {"switch": 3, "held_out": None, "test": None}
    assert model_facts(model)[FILTER] == filter_facts(model)
    assert FILTER not in model_facts(hand.ties())
    effect = {"n": 8, "error_before": 0.5, "error": 0.25, "switches_before": 5, "switches": 2}
    known = replace(model, training={FILTER: {"held_out": effect, "test": None}})
    assert filter_facts(known) == {"switch": 3, "held_out": effect, "test": None}
    assert filter_words(known) == [
        "a switch costs 3",
        "held-out rows: error 50.00 -> 25.00 %, switches 5 -> 2 (8 rows)",
    ]


@pytest.mark.parametrize(
    "record",
    [
        None,
        3,
        {"held_out": 3},
        {"held_out": {}},
        {"held_out": {"n": -1, "error_before": 0, "error": 0, "switches_before": 0, "switches": 0}},
        {"held_out": {"n": 1, "error_before": 2, "error": 0, "switches_before": 0, "switches": 0}},
        {"held_out": {"n": 1, "error_before": 0, "error": 0, "switches_before": 0, "switches": ""}},
    ],
)
def test_an_unsound_training_record_is_left_out(record):
    model = replace(hand.ties(), filter=Filter(3), training={FILTER: record})
    assert filter_facts(model) == {"switch": 3, "held_out": None, "test": None}


def test_a_switch_needs_several_decisions_in_a_row():
    said = np.array([0, 1, 0, 1, 1, 2, 2, 1, 1, 1, 0])
    assert held(said, one(11), 1) is said
    assert held(said, one(11), 2).tolist() == [0, 0, 0, 0, 1, 1, 2, 2, 1, 1, 1]
    assert held(said, one(11), 3).tolist() == [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]
    # The first decision of each sequence is kept, and none of it waits in the next.
    both = held(np.array([0, 1, 1, 1, 2]), np.array([0, 0, 1, 1, 1]), 2)
    assert both.tolist() == [0, 0, 1, 1, 1]


@given(st.lists(st.integers(0, 2), min_size=1, max_size=40), st.integers(1, 6))
def test_held_decisions_switch_to_what_came_in_a_row(said, hold):
    said = np.array(said)
    found = held(said, one(len(said)), hold)
    assert found[0] == said[0]
    for k in np.flatnonzero(np.diff(found)) + 1:
        assert set(said[k - hold + 1 : k + 1].tolist()) == {int(found[k])}
    # Whatever came in a row is shown.
    for k in range(hold - 1, len(said)):
        if len(set(said[k - hold + 1 : k + 1].tolist())) == 1:
            assert found[k] == said[k]


def test_a_file_keeps_the_decisions_in_a_row_that_a_switch_needs():
    model = replace(hand.naive_integer(), filter=Filter(9, 3))
    assert from_bytes(to_bytes(model), "m.bncc").filter == Filter(9, 3)
    assert json.loads(unpack(to_bytes(model))[DOCUMENT])["filter"] == {"switch": 9, "hold": 3}
    plain = replace(model, filter=Filter(9))
    assert json.loads(unpack(to_bytes(plain))[DOCUMENT])["filter"] == {"switch": 9}
    assert filter_facts(model)["hold"] == 3
    assert "hold" not in filter_facts(plain)
    assert filter_words(model)[:2] == ["a switch costs 9", "a new class needs 3 decisions in a row"]
    assert model_digest(model) != model_digest(plain)


@pytest.mark.parametrize("hold", [0, MAX_HOLD + 1])
def test_a_number_of_decisions_out_of_range_is_refused(hold):
    with pytest.raises(ModelError, match=f"needs {hold} decisions in a row"):
        check_model(replace(hand.naive_integer(), filter=Filter(9, hold)))


def test_sequences_are_decided_with_the_filter_and_the_hold():
    model = replace(hand.naive_integer(), filter=Filter(2, 2))
    X = np.random.default_rng(0).integers(0, model.n_states, (60, model.n_features))
    sequences = np.repeat([0, 1], 30)
    found = reference.predict_sequences(model, X, sequences)
    filtered_alone = filtered(reference.scores(model, X), sequences, 2)
    assert found.tolist() == held(filtered_alone, sequences, 2).tolist()
    assert found.tolist() == decided(reference.scores(model, X), sequences, Filter(2, 2)).tolist()
