"""`BNClassifier` with counters of decisions."""

import pytest

from bncc.classifier import BNClassifier
from tests.dwelling import arrays


def fitted(**options: object) -> BNClassifier:
    """Return an estimator fitted on readings in time order."""
    R, y, groups = arrays()
    estimator = BNClassifier("naive", parameters="ml", random_state=0, **options)
    return estimator.fit(R, y, groups=groups)


def test_decisions_are_counted() -> None:
    R, _, groups = arrays(seed=1)
    estimator = fitted(counters=True)
    found = estimator.count(R, groups)
    assert found["classes[0]"] == (estimator.predict(R) == 0).sum()
    assert found["stays"] + found["switches"] == 796
    assert estimator.count(R)["stays"] + estimator.count(R)["switches"] == 799
    assert "unknown" not in found
    both = fitted(counters=True, unknown=0.1)
    assert both.count(R, groups)["unknown"] == (~both.knows(R)).sum()


def test_what_has_no_counters_is_refused() -> None:
    with pytest.raises(ValueError, match="has no counters; train it with counters"):
        fitted().count(arrays()[0])
    with pytest.raises(ValueError, match="does not marginalize missing readings"):
        fitted(counters=True, missing="marginal").count(arrays()[0])
