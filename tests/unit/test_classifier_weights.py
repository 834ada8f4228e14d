"""BNClassifier lets rows count by weights of their own and of their classes."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from bncc import BNClassifier


def quick(**options):
    """Return a classifier that needs no torch."""
    return BNClassifier(**{"parameters": "ml", "random_state": 0, **options})


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


@pytest.mark.parametrize(
    "options",
    [
        {"structure": "naive", "parameters": "ml"},
        {"structure": "chow-liu", "parameters": "bdeu"},
        {"structure": "chow-liu", "parameters": "margin", "epochs": 10},
        {"structure": "chow-liu", "epochs": 10},
        {"structure": "tan-all", "epochs": 10},
        {"structure": "tables", "structure_options": {"tables": 4}, "epochs": 5},
    ],
)
def test_classes_in_balance_find_more_of_the_rare_one(options):
    rng = np.random.default_rng(0)
    y = (rng.random(800) < 0.08).astype(int)
    X = rng.normal(size=(800, 3)) + 0.8 * y[:, None]
    found = {
        weight: BNClassifier(**options, class_weight=weight, random_state=0).fit(X, y).predict(X)
        for weight in (None, "balanced")
    }
    as_mapping = BNClassifier(**options, class_weight={1: (y == 0).sum() / y.sum()}, random_state=0)
    assert found[None][y == 1].mean() < 0.5
    assert found["balanced"][y == 1].mean() > 0.7
    assert found["balanced"][y == 0].mean() < 0.4
    assert as_mapping.fit(X, y).predict(X)[y == 1].mean() > 0.7


def test_rows_of_no_weight_are_as_if_they_were_not_there(iris):
    X, y = iris
    weights = np.where(y == 2, 0.0, 1.0)
    weighed = quick().fit(X, y, weights)
    without = quick().fit(X[y < 2], y[y < 2])
    assert weighed.to_model().features == without.to_model().features
    assert set(weighed.predict(X)) == {0, 1}


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "one per row"),
        ([-1.0] + [1.0] * 149, "negative"),
        ([0.0] * 150, "all weights are"),
        ([1e308] * 150, "divide all by the largest"),
    ],
)
def test_odd_weights_are_refused(iris, weights, message):
    with pytest.raises(ValueError, match=message):
        quick().fit(*iris, sample_weight=weights)


@pytest.mark.parametrize("weight", [np.nan, np.inf])
def test_a_weight_of_a_class_is_a_number(iris, weight):
    with pytest.raises(ValueError, match="pass finite ones"):
        quick(class_weight={1: weight}).fit(*iris)


def test_an_unknown_class_weight_is_refused(iris):
    with pytest.raises(ValueError, match="choose balanced, or leave it out"):
        quick(class_weight="equal").fit(*iris)
