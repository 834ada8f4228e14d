"""Permutation importance, and limits on the features that all tables read."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from bncc.boosting.boost import boost, eliminated
from bncc.boosting.importance import elimination, most_important, permutation_importance
from bncc.boosting.settings import BoostSettings, recipe_of
from bncc.boosting.sums import Scores
from bncc.structure.decision_tables import DecisionTable
from tests.unit.boosting.samples import few_samples

N_NOISE = 16
USEFUL = {0, 1, 3}
"""Features of `few_samples` on which the class depends."""


def noisy_samples(n: int = 400):
    """Return samples with many features on which nothing depends."""
    samples = few_samples(n)
    noise = np.random.default_rng(5).integers(0, 50, (n, N_NOISE)).astype(samples.X.dtype)
    return replace(samples, X=np.hstack([samples.X, noise]))


def grown(samples, **settings):
    each = BoostSettings(engine="numpy", **{"n_tables": 6, "rows": 8} | settings)
    return boost(samples, each, recipe_of(each, samples.X.shape[1], samples.n_classes))


def read(tables) -> set[int]:
    return {feature for grid in tables for feature in grid.features}


def test_the_importance_of_a_feature_is_the_rise_of_the_loss():
    """By hand: one table of one cut that is always right by one nat."""
    X = np.array([[k % 2, k // 4] for k in range(8)], np.uint16)
    samples = replace(few_samples(8), X=X, y=X[:, 0].astype(int), n_classes=2)
    scores = Scores(np.array([[1.0, 0.0], [0.0, 1.0]]), np.zeros(2))
    tables = (DecisionTable((0,), ((0,),)),)
    found = permutation_importance(tables, scores, samples, np.random.default_rng(1))
    permuted = np.random.default_rng(1).permutation(X[:, 0])
    n_wrong = int((permuted != X[:, 0]).sum())
    assert n_wrong > 0
    # A row that becomes wrong by one nat loses exactly one more nat.
    assert found == pytest.approx([n_wrong / 8, 0.0])


def test_samples_without_weight_have_no_importance():
    samples = few_samples(40)
    tables = grown(samples)
    none = replace(samples, weights=np.zeros(40))
    rng = np.random.default_rng(0)
    assert not permutation_importance(tables.tables, tables.scores, none, rng).any()


@pytest.mark.parametrize("form", [{}, {"leaves": 8}, {"leaves": 8, "n_tables": 1}])
def test_tables_read_the_features_on_which_the_class_depends(form):
    samples = noisy_samples()
    assert read(grown(samples, n_inputs=3, **form).tables) <= USEFUL
    if form.get("n_tables") != 1:
        assert len(read(grown(samples, **form).tables)) > 3


def test_the_features_that_are_left_longest_are_the_most_important():
    found = [np.array(each) for each in ([5, 3, 1, 0], [3, 1], [3])]
    assert [most_important(found, n).tolist() for n in (1, 2, 3, 9)] == [
        [3],
        [1, 3],
        [1, 3, 5],
        [0, 1, 3, 5],
    ]


def test_tables_of_few_features_may_read_each_of_them():
    """A table reads a random half of more than a hundred."""
    shares = [recipe_of(BoostSettings(n_inputs=n), 500, 2).feature_share for n in (0, 8, 300)]
    assert shares == [0.5, 1.0, 0.5]


def test_features_that_no_table_reads_go_first():
    left = [len(each) for each in eliminated(noisy_samples(60), BoostSettings(engine="numpy"))]
    assert left[-1] == 1
    assert all(fewer <= 0.7 * more for more, fewer in pairwise(left[:-1]))
    few = few_samples(60)
    tables = (DecisionTable((0,), ((1,),)), DecisionTable((1,), ((3,),)))
    scores = Scores(np.eye(4, few.n_classes), np.zeros(few.n_classes))
    found = elimination(few, lambda some: (tables, scores), 0)
    assert [len(each) for each in found][:2] == [4, 2]


def test_a_limit_beyond_the_features_changes_nothing():
    samples = few_samples()
    assert grown(samples, n_inputs=5).tables == grown(samples).tables


def test_the_features_do_not_depend_on_the_number_of_tables():
    """A search grows more tables than it needs, and takes the first."""
    samples = noisy_samples()
    many = grown(samples, n_inputs=4, n_tables=30, is_corrective=False, eta=0.3)
    few = grown(samples, n_inputs=4, is_corrective=False, eta=0.3)
    assert many.first(6).tables == few.tables


@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_rows_have_features_all_the_same(n):
    """Two thirds of them may not differ in any."""
    samples = replace(few_samples(n), y=np.arange(n) % 2, n_classes=2)
    assert len(read(grown(samples, n_inputs=1).tables)) == 1


def test_a_column_of_one_rare_state_is_not_constant_in_bins():
    X = np.zeros((400, 2), np.uint16)
    X[:, 1] = 7
    X[5, 0], X[6, 1] = 3, 2
    samples = replace(few_samples(), X=X)
    assert sorted(eliminated(samples, BoostSettings(engine="numpy"))[0].tolist()) == [0, 1]


def test_constant_columns_are_reported_with_a_limit():
    samples = replace(few_samples(), X=np.zeros((400, 3), np.uint16))
    with pytest.raises(Exception, match="all columns are constant"):
        grown(samples, n_inputs=2)
