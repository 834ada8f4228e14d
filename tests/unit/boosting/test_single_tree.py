"""A single branching table: the decisions of scikit-learn's tree."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from bncc.boosting.boost import boost
from bncc.boosting.learn import refit, samples_of
from bncc.boosting.settings import BoostSettings, recipe_of
from bncc.boosting.single_tree import CRITERION
from bncc.data.readers import bundled_path, read_table
from bncc.data.target import dataset_of
from bncc.discretize.feature import states_of
from bncc.discretize.fit import fit_features
from bncc.errors import DataError
from tests.unit.boosting.samples import N_CLASSES, few_samples

TREE = BoostSettings(n_tables=1, leaves=12, bits=4)


def learned(samples, settings=TREE):
    """Learn from samples as they are: weights that are scaled again tie no more."""
    recipe = recipe_of(settings, samples.X.shape[1], samples.n_classes)
    return refit(boost(samples, settings, recipe), samples, settings, recipe)


def by_sklearn(samples, leaves, **options):
    tree = DecisionTreeClassifier(
        criterion=CRITERION, max_leaf_nodes=leaves, random_state=0, **options
    )
    return tree.fit(samples.X, samples.y, sample_weight=samples.weights)


@pytest.mark.parametrize("name", ["robot", "wifi"])
@pytest.mark.parametrize("bits", [1, 4])
@pytest.mark.parametrize("leaves", [2, 16, 200])
def test_decisions_are_those_of_scikit_learn(name, bits, leaves):
    dataset = dataset_of(read_table(bundled_path(name)))
    features = fit_features(dataset.table, dataset.y, "quantile", n_bins=300)
    X = states_of(features, dataset.table)
    n_states = [feature.n_states for feature in features]
    samples = samples_of(X[::2], dataset.y[::2], n_states, len(dataset.classes))
    found = learned(samples, replace(TREE, leaves=leaves, bits=bits))
    tree = by_sklearn(samples, leaves)
    assert found.tables[0].shape == (tree.get_n_leaves(), samples.n_classes)
    assert np.array_equal(found.costs(X).argmin(axis=1), tree.predict(X))
    assert found.tables[0].max() < 2**bits
    assert not found.prior.any()


@pytest.mark.parametrize("seed", range(5))
def test_noise_with_ties_and_weights_is_decided_alike(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (60, 3))
    weights = rng.integers(1, 3, 60).astype(float)
    samples = samples_of(X, rng.integers(0, 3, 60), [4] * 3, 3, weights)
    for leaves in (2, 9, 30):
        found = learned(samples, replace(TREE, leaves=leaves))
        assert np.array_equal(found.costs(X).argmin(axis=1), by_sklearn(samples, leaves).predict(X))


def test_depth_is_limited_as_asked():
    samples = few_samples()
    found = learned(samples, replace(TREE, depth=2))
    tree = by_sklearn(samples, 12, max_depth=2)
    assert found.grids.tables[0].n_rows == 4
    assert np.array_equal(found.costs(samples.X).argmin(axis=1), tree.predict(samples.X))


def test_one_class_gives_a_cut_without_effect():
    samples = few_samples()
    found = learned(replace(samples, y=samples.y * 0 + 1))
    assert found.grids.tables[0].n_rows == 2
    assert set(found.costs(samples.X).argmin(axis=1)) == {1}


def test_a_class_without_rows_is_never_decided():
    samples = few_samples()
    found = learned(replace(samples, y=samples.y % 2 * 2))
    assert set(found.costs(samples.X).argmin(axis=1)) <= {0, 2}


def test_constant_columns_are_refused():
    samples = few_samples()
    with pytest.raises(DataError, match="all columns are constant"):
        learned(replace(samples, X=samples.X * 0))


def test_the_same_rows_give_the_same_tree():
    first, second = (learned(few_samples()) for _ in range(2))
    assert first.grids == second.grids
    assert np.array_equal(first.tables[0], second.tables[0])
    assert first.tables[0].shape[1] == N_CLASSES
