"""Explanations: contributions of tables add up, and the nearest counterfactual is one."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from bncc.device.inputs.cover import random_states
from bncc.discretize.readings import is_missing_reading, probe_values, states_of_raw
from bncc.model.explanation import changes, closest_first, contributions, margins, runner_up
from bncc.model.ranges import READINGS
from bncc.model.reference import costs, predict
from bncc.model.used import used_features
from tests import models as hand
from tests.strategies import models
from tests.tiers import examples


@given(models())
@settings(max_examples=examples(40), deadline=None)
def test_contributions_add_up_to_the_margins_of_costs(model):
    X = random_states(model, 6, np.random.default_rng(0))
    said = contributions(model, X)
    assert said.shape == (6, 1 + len(model.tables), model.n_classes)
    assert np.allclose(said.sum(axis=2), 0)
    total, wanted = said.sum(axis=1), -costs(model, X) * 2.0**-model.q_format.frac_bits
    scale = max(1.0, np.abs(wanted).max())
    assert np.allclose(total - total[:, :1], wanted - wanted[:, :1], atol=1e-9 * scale)


def test_the_decision_and_the_next_best_are_told_in_order_of_cost():
    model = hand.naive_integer()
    x = np.array([0, 0])
    assert costs(model, x[None]).tolist() == [[3, 7, 20]]
    assert runner_up(model, x) == (0, 1)


def test_of_equal_costs_the_smaller_index_is_the_decision():
    model = hand.all_zero()
    x = np.zeros(model.n_features, dtype=np.int64)
    assert runner_up(model, x) == (0, 1)


@given(models(max_features=4))
@settings(max_examples=examples(40), deadline=None)
def test_changes_are_the_nearest_states_that_decide_otherwise(model):
    for x in random_states(model, 3, np.random.default_rng(1)):
        decision = predict(model, x[None])[0]
        found = {change.feature: change for change in changes(model, x)}
        for f, n in enumerate(model.n_states):
            distances = []
            for state in range(n):
                moved = x.copy()
                moved[f] = state
                if predict(model, moved[None])[0] != decision:
                    distances.append(abs(state - x[f]))
            assert (f in found) == bool(distances)
            if distances:
                moved = x.copy()
                moved[f] = found[f].state
                assert predict(model, moved[None])[0] == found[f].decision != decision
                assert abs(found[f].state - x[f]) == min(distances)


def decided(model, r, f, reading):
    """Return the class for some readings, one of which is another."""
    moved = r.copy()
    moved[f] = reading
    return int(predict(model, states_of_raw(model.features, moved[None]))[0])


def beyond(feature, reading, direction):
    """Return the next reading in a direction, of the feature's C type."""
    if feature.kind == "float32":
        return float(np.nextafter(np.float32(reading), np.float32(direction * np.inf)))
    return reading + direction


KINDS = [
    "bytes_and_others", "int8_readings", "uint8_readings", "sum_of_tables", "trees_of_floats",
    "class_with_parents", "int32_thresholds", "wide_states",
]  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_margins_are_the_nearest_readings_that_decide_otherwise(name):
    """One step nearer changes nothing; nor does any other reading where there is none."""
    model = {**hand.NAMED, **hand.TREES}[name]()
    rng = np.random.default_rng(3)
    n_found = 0
    for _ in range(12):
        r = np.array([rng.choice(_finite(feature)) for feature in model.features])
        x = states_of_raw(model.features, r[None])[0]
        decision = int(predict(model, x[None])[0])
        found = margins(model, r, x)
        assert [margin.feature for margin in found] == [
            f for f in used_features(model) if _is_number(model.features[f], r[f])
        ]
        for margin in found:
            f, feature = margin.feature, model.features[margin.feature]
            assert margin.reading == r[f]
            tried = [v for v in _finite(feature) if _is_number(feature, v)]
            if feature.has_missing_below:  # the lowest float has the state of a missing one
                tried = [v for v in tried if v > feature.thresholds[0]]
            for flip, direction in ((margin.down, -1), (margin.up, 1)):
                ahead = [v for v in tried if (v - r[f]) * direction > 0]
                others = [v for v in ahead if decided(model, r, f, v) != decision]
                if flip is None:
                    assert not others
                    continue
                n_found += 1
                assert (flip.reading - r[f]) * direction == flip.change > 0
                assert decided(model, r, f, flip.reading) == flip.decision != decision
                assert decided(model, r, f, beyond(feature, flip.reading, -direction)) == decision
                assert all((v - flip.reading) * direction >= 0 for v in others)
                moved = r.copy()
                moved[f] = flip.reading
                assert states_of_raw(model.features, moved[None])[0, f] == flip.state
    assert n_found


def _finite(feature):
    """Return every threshold and its neighbors, and the ends of the type, as floats."""
    values = probe_values(feature)
    return values[np.isfinite(values)]


def _is_number(feature, reading):
    """Return whether a reading has an order."""
    if feature.kind == "category" or is_missing_reading(feature, np.array([reading]))[0]:
        return False
    return feature.kind != "state" or reading < feature.n_states


def test_the_closest_feature_is_first_by_its_share_of_the_training_range():
    """Features without a record of their range are last."""
    model = hand.bytes_of_one_kind("int8")
    r = np.array([59.0, 7.0, 0.0])
    found = margins(model, r, states_of_raw(model.features, r[None])[0])
    record = {
        feature.name: {"min": -100, "max": 100} if feature.name == "far" else {"min": 5, "max": 10}
        for feature in model.features
    }
    known = replace(model, training={READINGS: record})
    in_order = closest_first(known, found)
    shares = [share for _, share in in_order if share is not None]
    assert shares == sorted(shares)
    assert shares
    for margin, share in in_order:
        width = 200 if model.features[margin.feature].name == "far" else 5
        assert share == (None if margin.smallest is None else margin.smallest / width)
    assert {share for _, share in closest_first(replace(model, training={}), found)} == {None}
