"""States that reach every row, every boundary, everything."""

import numpy as np
import pytest
from hypothesis import given, settings

from bncc.device.inputs.cover import (
    boundary_states,
    decisions_along,
    joint_states,
    n_joint_states,
    random_states,
    readers,
    row_cover,
    row_states,
)
from bncc.model.reference import costs, predict, rows
from bncc.structure.graph import forest
from tests import models as hand
from tests.strategies import models
from tests.tiers import examples


@pytest.mark.parametrize("make", hand.NAMED.values(), ids=hand.NAMED.keys())
def test_joint_states_count_through_all_of_them(make):
    """The whole range is every combination once; a part is a part."""
    model = make()
    n = n_joint_states(model)
    assert np.array_equal(joint_states(model, 0, n), hand.all_states(model))
    assert np.array_equal(joint_states(model, n - 1, n), hand.all_states(model)[-1:])


@settings(max_examples=examples(60))
@given(models())
def test_every_row_of_every_table_is_reached(model):
    """The planned inputs visit each row, for any values of the free features."""
    rng = np.random.default_rng(0)
    X = np.concatenate([row_states(model, s, 0, n, rng) for s, n in row_cover(model)])
    reached = rows(model, X)
    for i, table in enumerate(model.tables):
        assert set(reached[:, i]) == set(range(len(table)))


def test_a_chain_takes_two_groups_of_inputs():
    """Tables of every second feature run at once, so the inputs stay few."""
    features = [hand.feature(f"x{i}", 3) for i in range(20)]
    model = hand.model_of(
        features, forest([None, *range(19)]), hand.QFormat(1, 0), [0, 0],
        [[[0, 0]] * (3 if i == 0 else 9) for i in range(20)],
    )  # fmt: skip
    assert [n for _, n in row_cover(model)] == [9, 9]


@settings(max_examples=examples(60))
@given(models())
def test_boundary_states_lie_on_both_sides(model):
    """The pairs decide differently and differ in one feature."""
    X = random_states(model, 40, np.random.default_rng(1))
    edge = boundary_states(model, X)
    here, there = edge[: len(edge) // 2], edge[len(edge) // 2 :]
    assert (predict(model, here) != predict(model, there)).all()
    assert ((here != there).sum(axis=1) == 1).all()


def test_a_model_with_one_decision_has_no_boundary():
    """Then there is nothing to return."""
    model = hand.ties()
    assert boundary_states(model, hand.all_states(model)).shape == (0, 2)


@settings(max_examples=examples(60))
@given(models())
def test_decisions_along_a_feature_are_the_reference_s(model):
    """Replacing the feature's state and deciding again gives the same."""
    X = random_states(model, 5, np.random.default_rng(2))
    for i, n in enumerate(model.n_states):
        decisions = decisions_along(model, X, costs(model, X), i, readers(model)[i])
        for state in range(n):
            replaced = X.copy()
            replaced[:, i] = state
            assert np.array_equal(decisions[:, state], predict(model, replaced))
