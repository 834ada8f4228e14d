"""Explanations: contributions of tables add up, and the nearest counterfactual is one."""

import numpy as np
from hypothesis import given, settings

from bncc.device.inputs.cover import random_states
from bncc.model.explanation import changes, contributions, runner_up
from bncc.model.reference import costs, predict
from tests import models as hand
from tests.strategies import models


@given(models())
@settings(max_examples=40, deadline=None)
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
@settings(max_examples=40, deadline=None)
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
