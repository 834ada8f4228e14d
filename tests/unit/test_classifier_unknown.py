"""`BNClassifier` with a rule for unknown readings."""

import numpy as np
import pytest

from bncc.classifier import BNClassifier
from tests.dwelling import arrays


def fitted(**options: object) -> BNClassifier:
    """Return an estimator fitted on readings of known classes."""
    R, y, _ = arrays()
    return BNClassifier("naive", parameters="ml", random_state=0, **options).fit(R, y)


def test_other_readings_are_unknown() -> None:
    R, _, _ = arrays(seed=1)
    estimator = fitted(unknown=0.05)
    known = estimator.knows(R)
    assert (known.dtype, known.shape) == (np.bool_, (800,))
    assert known.mean() > 0.9
    assert not estimator.knows(np.array([[400, -300]])).any()
    assert estimator.to_model().unknown is not None


def test_what_has_no_rule_is_refused() -> None:
    with pytest.raises(ValueError, match=r"knows no unknown readings; train it with unknown=0\.05"):
        fitted().knows(arrays()[0])
    with pytest.raises(ValueError, match="does not marginalize missing readings"):
        fitted(unknown=0.05, missing="marginal").knows(arrays()[0])
    with pytest.raises(ValueError, match="use a fraction such as"):
        fitted(unknown=1.0)
