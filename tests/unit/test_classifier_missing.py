"""The estimator with missing readings marginalized."""

import numpy as np
import pytest

from bncc import BNClassifier
from bncc.model import missing


@pytest.fixture(scope="module")
def rows():
    generator = np.random.default_rng(0)
    y = generator.integers(0, 3, 300)
    X = generator.normal(size=(300, 4)) + y[:, np.newaxis]
    return X, y


def fitted(rows, **options):
    options = {"structure": "naive", "parameters": "ml", "bits": 4, "random_state": 0} | options
    return BNClassifier(missing="marginal", **options).fit(*rows)


@pytest.mark.parametrize("structure", ["naive", "chow-liu"])
def test_it_decides_by_the_rule_of_the_c(rows, structure):
    classifier = fitted(rows, structure=structure)
    X = rows[0].copy()
    X[np.random.default_rng(1).random(X.shape) < 0.4] = np.nan
    states = classifier._states(X)
    expected = missing.costs(classifier.model_, states, np.isnan(X))
    np.testing.assert_array_equal(classifier.decision_function(X), -expected)
    np.testing.assert_array_equal(classifier.predict(X), expected.argmin(axis=1))
    np.testing.assert_allclose(classifier.predict_proba(X).sum(axis=1), 1)


def test_without_any_reading_the_prior_decides(rows):
    classifier = fitted(rows)
    found = classifier.predict(np.full((1, 4), np.nan))
    assert found == [classifier.model_.prior.argmin()]


def test_with_nothing_missing_it_decides_as_without(rows):
    classifier = fitted(rows)
    plain = BNClassifier("naive", "ml", bits=4, random_state=0).fit(*rows)
    np.testing.assert_array_equal(classifier.predict(rows[0]), plain.predict(rows[0]))


def test_what_cannot_be_summed_out_is_refused_when_asked(rows):
    classifier = BNClassifier("tables", missing="marginal", epochs=2).fit(*rows)
    with pytest.raises(ValueError, match="cannot be summed out of a sum of tables"):
        classifier.predict(rows[0])


def test_another_rule_is_refused(rows):
    with pytest.raises(ValueError, match="use 'state' or 'marginal'"):
        BNClassifier("naive", "ml", missing="mean").fit(*rows)
