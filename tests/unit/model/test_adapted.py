"""Models that have learned labeled inputs: in turn, by group, and their effect."""

import numpy as np
import pytest

from bncc.discretize.feature import states_of
from bncc.errors import ModelError
from bncc.model.adaptation import AdaptationEffect
from bncc.model.adapted import AdaptedModel, LabeledInputs, effect_on_halves
from bncc.model.model import Model
from bncc.model.reference import predict, scores
from tests import models as hand
from tests.adapting import ADAPTING, adapting
from tests.dwelling import dataset


def states(model: Model, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return states, classes and groups of other rows."""
    rows = dataset(seed=seed)
    groups = rows.split.groups
    assert groups is not None
    return states_of(model.features, rows.table), rows.y, groups


@pytest.mark.parametrize("name", ["adapting_tables", "adapting", "adapting_trees"])
def test_a_label_learned_often_enough_is_decided_on(name: str) -> None:
    model = ADAPTING[name]()
    X, _, _ = states(model)
    adapted = AdaptedModel(model)
    assert adapted.scores(X).tolist() == scores(model, X).tolist()
    # An input that the model finds almost as likely of another class
    near = int(np.sort(scores(model, X), axis=1)[:, 1].argmin())
    x, label = X[near : near + 1], np.argsort(scores(model, X)[near], kind="stable")[1:2]
    moved = sum(adapted.learn(x, label) for _ in range(50))
    assert 0 < moved < 50
    assert adapted.scores(x)[0].argmin() == label[0]
    assert adapted.scores(X).min(axis=1).tolist() == [0] * len(X)
    adapted.forget()
    assert adapted.scores(X).tolist() == scores(model, X).tolist()


def test_rows_are_learned_one_after_the_other() -> None:
    model = ADAPTING["adapting_tables"]()
    X, y, _ = states(model)
    whole, in_parts = AdaptedModel(model), AdaptedModel(model)
    assert whole.learn(X[:60], y[:60]) == sum(
        in_parts.learn(X[k : k + 7], y[k : k + 7]) for k in range(0, 56, 7)
    ) + in_parts.learn(X[56:60], y[56:60])
    assert whole.scores(X).tolist() == in_parts.scores(X).tolist()


def test_an_index_that_is_no_class_changes_nothing() -> None:
    model = ADAPTING["adapting"]()
    X, _, _ = states(model)
    adapted = AdaptedModel(model)
    assert adapted.learn(X[:9], np.array([-1, 3, 4] * 3)) == 0
    assert adapted.scores(X).tolist() == scores(model, X).tolist()


def test_each_group_learns_its_own_rows() -> None:
    model = ADAPTING["adapting_tables"]()
    X, y, groups = states(model)
    names = [f"g{k}" for k in groups.tolist()]
    first = np.concatenate([np.flatnonzero(groups == k)[:60] for k in (0, 2)])
    learned = LabeledInputs(X[first], y[first], [names[k] for k in first])
    found = learned.scores(model, X, names)
    for k in range(4):
        alone = AdaptedModel(model)
        if k in (0, 2):
            alone.learn(X[groups == k][:60], y[groups == k][:60])
        assert found[groups == k].tolist() == alone.scores(X[groups == k]).tolist()
    together = LabeledInputs(X[first], y[first])
    assert together.scores(model, X).tolist() != found.tolist()


def test_the_effect_counts_rows_and_groups() -> None:
    learned = LabeledInputs(np.zeros((4, 1), int), np.array([0, 1, -1, 1]), ["a", "b", "a", "c"])
    before, after, y = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0]), np.array([0, 1, 1, 1])
    found = learned.effect(before, after, y, ["a", "a", "b", "b"])
    assert found == AdaptationEffect(2, 2, 4, 0.25, 0.25, 0.5)
    whole = LabeledInputs(learned.X, learned.y).effect(before, after, y)
    assert whole == AdaptationEffect(1, 3, 4, 0.25, 0.25, 0.0)


def test_the_effect_on_halves_is_that_of_training() -> None:
    model = adapting("tables")
    X, y, groups = states(model)
    found = effect_on_halves(model, X, y, groups)
    assert found is not None
    assert found.error_before > found.error
    assert found.n < len(y)
    assert effect_on_halves(model, X[:1], y[:1], groups[:1]) is None
    assert (predict(model, X) != y).mean() > 0


def test_a_model_that_does_not_adapt_is_refused() -> None:
    with pytest.raises(ModelError, match="the model does not adapt"):
        AdaptedModel(hand.naive_integer())
