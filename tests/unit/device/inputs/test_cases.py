"""The inputs of a check: their content and their description."""

import numpy as np
import pytest

from bncc.data.dataset import Column, Table
from bncc.device.inputs import cases as module
from bncc.device.inputs import cover
from bncc.device.inputs.cases import ERR_STATE, Effort, cases, strength
from bncc.discretize.readings import probe_values, states_of_raw
from bncc.errors import OptionError
from bncc.model.reference import predict, rows, scores
from bncc.structure.graph import forest
from tests import models as hand


def large():
    """Return a model of 3**12 joint states, more than are tried by default."""
    n = 12
    return hand.model_of(
        [hand.feature(f"x{i}", 3) for i in range(n)],
        forest([None, *range(n - 1)]),
        hand.QFormat(4, 0),
        [1, 2],
        [[[(3 * r + i) % 16, (5 * r) % 16] for r in range(3 if i == 0 else 9)] for i in range(n)],
    )


def blocks(model, kind, **options):
    """Return all inputs of one kind, stacked."""
    chosen = [case.x for case in cases(model, **options) if case.kind == kind]
    return np.concatenate(chosen) if chosen else np.empty((0, model.n_features))


def test_few_joint_states_are_all_tried():
    """A model with 12 joint states is tried at all 12."""
    model = hand.tan_float()
    tried = {tuple(x) for x in blocks(model, "states")}
    assert tried == {tuple(x) for x in hand.all_states(model)}
    assert strength(model) == (
        "all 12 joint states, 1,000 random readings, 256 rows out of range, "
        "3 values at each of 4 thresholds"
    )


def test_many_joint_states_are_tried_at_random_and_at_every_row():
    """Every table row occurs even when no random state is requested."""
    model = large()
    X = blocks(model, "states", effort=Effort(n_random=0)).astype(int)
    for i, table in enumerate(model.tables):
        assert set(rows(model, X)[:, i]) == set(range(len(table)))
    assert len(X) < 50
    assert len(blocks(model, "states", effort=Effort(n_random=70))) >= 70
    words = strength(model, effort=Effort(n_random=1), has_raw=False)
    assert words == "1 random state, every row of 12 tables"


def test_an_exhaustive_check_takes_all_states_of_a_middling_model(monkeypatch):
    """Asked for, 3**12 states are tried; beyond the cap the error names the remedy."""
    model = large()
    effort = Effort(exhaustive=True)
    n = sum(len(c.x) for c in cases(model, effort=effort, has_raw=False) if c.kind == "states")
    assert n == 3**12
    assert strength(model, effort=effort, has_raw=False) == "all 531,441 joint states"
    monkeypatch.setattr(module, "MOST_STATES", 3**12 - 1)
    with pytest.raises(OptionError, match="--random"):
        strength(model, effort=effort)


def test_answers_are_the_reference_s():
    """Class and scores of each block are those of the reference evaluator."""
    model = large()
    for case in cases(model, has_raw=False, effort=Effort(n_random=100)):
        if case.kind == "states":
            X = case.x.astype(np.int64)
            assert np.array_equal(case.y, predict(model, X))
            assert np.array_equal(case.scores, scores(model, X))


def test_invalid_states_are_tried_at_every_feature():
    """
    The first state beyond the range and the largest number, one feature at a time.

    Once with any other states, and once with zeros, which cannot mask it in packed checks.
    """
    model = hand.wide_states()
    (case,) = [case for case in cases(model) if case.kind == "invalid"]
    bad = case.x >= np.array(model.n_states)
    assert (bad.sum(axis=1) == 1).all()
    assert set(case.x[bad]) == {2, 300, 65535}
    is_alone = np.where(bad, 0, case.x).sum(axis=1) == 0
    assert set(case.x[is_alone][bad[is_alone]]) == {2, 300, 65535}
    assert (case.y == ERR_STATE).all()


def test_every_probe_of_every_feature_is_tried():
    """Thresholds at -1, 0, +1 and all extremes occur in the raw inputs."""
    model = hand.category_with_missing()
    R = blocks(model, "raw", effort=Effort(n_random=0))
    for i, feature in enumerate(model.features):
        tried = R[:, i]
        for value in probe_values(feature):
            assert np.isnan(value) or value in tried


@pytest.mark.parametrize("make", [hand.naive_integer, hand.tan_float, hand.int32_thresholds])
def test_a_threshold_is_tried_where_the_decision_hangs_on_it(make):
    """Some tried context decides differently below and above each threshold, if any does."""
    model = make()
    every = hand.all_states(model)
    for i, feature in enumerate(model.features):
        R = blocks(model, "raw", effort=Effort(n_random=0))
        X = states_of_raw(model.features, R)
        for state, threshold in enumerate(feature.thresholds):
            at = X[(R[:, i] == threshold) & (X[:, i] == state)]
            assert flips(model, at, i, state) or not flips(model, every, i, state)


def flips(model, X, i, state):
    """Return whether moving feature i from state to state + 1 changes some decision."""
    low, high = X.copy(), X.copy()
    low[:, i], high[:, i] = state, state + 1
    return bool((predict(model, low) != predict(model, high)).any())


def test_a_table_is_tried_as_states_and_as_readings():
    """Each of its rows, with the decision that Python gives it."""
    model = hand.naive_integer()
    table = Table(
        (
            Column("pressure", "integer", np.array([0, 500]), np.array([False, False])),
            Column("light", "integer", np.array([1, 0]), np.array([False, True])),
        )
    )
    first, second, *_ = cases(model, table)
    assert first.x.tolist() == [[1, 1], [2, 0]]
    assert second.x.tolist() == [[0, 1], [500, -32768]]
    assert first.y.tolist() == second.y.tolist() == [1, 2]
    kinds = [case.kind for case in cases(model, table, has_raw=False)]
    assert kinds == ["states", "states", "invalid"]
    assert strength(model, table).startswith("2 data rows, all 6 joint states")


def test_large_inputs_come_in_blocks(monkeypatch):
    """No block has more cells than allowed, and together they are the same inputs."""
    model = large()
    whole = blocks(model, "states", effort=Effort(n_random=0))
    monkeypatch.setattr(module, "_BLOCK_CELLS", 50)
    parts = [c for c in cases(model, effort=Effort(n_random=0)) if c.kind == "states"]
    assert max(len(case.x) for case in parts) == 4
    assert sum(len(case.x) for case in parts) == len(whole)


def test_single_probes_stop_at_the_budget(monkeypatch):
    """A model of thousands of features is not tried feature by feature without end."""
    model = hand.naive_integer()
    many = len(blocks(model, "raw", effort=Effort(n_random=0)))
    monkeypatch.setattr(cover, "PROBE_CELLS", 0)
    assert len(blocks(model, "raw", effort=Effort(n_random=0))) < many
