"""The oracle itself, checked against plain Python loops over all states."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings

from bncc.errors import DataError
from bncc.model.reference import costs, log_proba, predict, rows, scores
from bncc.structure.decision_tables import TableEnsemble
from tests import models as hand
from tests.strategies import models
from tests.tiers import examples


def cost_by_hand(model, x):
    """Return the costs of one input by the definition, without numpy."""
    total = [int(cost) for cost in model.prior]
    for table, digits in zip(model.tables, digits_by_hand(model, x), strict=True):
        row, weight = 0, 1
        for digit, n in digits:
            row += weight * digit
            weight *= n
        for c in range(model.n_classes):
            total[c] += int(table[row][c])
    return total


def digits_by_hand(model, x):
    """Return each table's digits with their bases, the least first, unlike the oracle."""
    if isinstance(model.structure, TableEnsemble):
        return [
            [
                (sum(x[f] > cut for cut in cuts), len(cuts) + 1)
                for f, cuts in zip(reversed(grid.features), reversed(grid.cuts), strict=True)
            ]
            for grid in model.structure.tables
        ]
    scopes = [(*parents, i) for i, parents in enumerate(model.structure.parents)]
    scopes += [model.structure.class_parents] if model.structure.class_parents else []
    return [[(x[j], model.features[j].n_states) for j in reversed(scope)] for scope in scopes]


def every_state(model):
    return list(itertools.product(*(range(n) for n in model.n_states)))


@given(models(max_features=4, max_states=3))
@settings(max_examples=examples(60))
def test_costs_scores_and_decisions_equal_exhaustive_enumeration(model):
    X = every_state(model)
    expected = [cost_by_hand(model, x) for x in X]
    assert costs(model, np.array(X)).tolist() == expected
    assert predict(model, np.array(X)).tolist() == [row.index(min(row)) for row in expected]
    assert scores(model, np.array(X)).tolist() == [
        [cost - min(row) for cost in row] for row in expected
    ]


@pytest.mark.parametrize("name", [name for name in hand.NAMED if name != "wide_states"])
def test_hand_built_models_equal_exhaustive_enumeration(name):
    model = hand.NAMED[name]()
    X = hand.all_states(model)
    assert X.tolist() == [list(x) for x in every_state(model)]
    assert costs(model, X).tolist() == [cost_by_hand(model, x) for x in every_state(model)]


def test_every_row_of_every_table_is_read_by_some_input():
    model = hand.general_network()
    read = rows(model, hand.all_states(model))
    for i, table in enumerate(model.tables):
        assert sorted(set(read[:, i].tolist())) == list(range(len(table)))


def test_the_smallest_class_index_wins_a_tie():
    model = hand.ties()
    assert set(predict(model, hand.all_states(model)).tolist()) == {0}


def test_probabilities_are_the_softmax_of_the_costs_in_nats():
    model = hand.tan_float()
    X = hand.all_states(model)
    for row, x in zip(log_proba(model, X), X.tolist(), strict=True):
        weights = [math.exp(-cost / 8) for cost in cost_by_hand(model, x)]
        expected = [math.log(weight / sum(weights)) for weight in weights]
        assert row.tolist() == pytest.approx(expected, abs=1e-12)


def test_probabilities_stay_finite_when_costs_are_far_apart():
    values = log_proba(hand.summing_to(65536), np.array([[0, 0]]))
    assert np.isfinite(values).all()
    assert np.exp(values).sum() == pytest.approx(1)


def test_no_samples_give_no_decisions():
    model = hand.naive_integer()
    nothing = np.empty((0, 2), dtype=np.int64)
    assert costs(model, nothing).shape == (0, 3)
    assert scores(model, nothing).shape == (0, 3)
    assert predict(model, nothing).shape == (0,)
    assert log_proba(model, nothing).shape == (0, 3)


@pytest.mark.parametrize("X", [[0, 0], [[0]], [[0, 0, 0]], [[[0, 0]]]])
def test_states_of_the_wrong_shape_are_refused(X):
    with pytest.raises(DataError, match="expected 2 states per row"):
        costs(hand.naive_integer(), np.array(X))


@pytest.mark.parametrize("x", [[-1, 0], [0, -1], [3, 0], [0, 2]])
def test_states_out_of_range_are_refused(x):
    with pytest.raises(DataError, match="out of range"):
        predict(hand.naive_integer(), np.array([[0, 0], x]))
