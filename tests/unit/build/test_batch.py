"""Many decisions at once: equal to the integer model's, for any model and number of inputs."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from bncc.build import batch as module
from bncc.build.batch import BLOCK, Batch
from bncc.model.reference import predict
from tests import models as hand
from tests.strategies import models, states

pytestmark = pytest.mark.cc


@pytest.mark.parametrize("name", hand.NAMED)
def test_batches_decide_as_the_model(require_tool, name):
    require_tool("gcc")
    model = hand.NAMED[name]()
    X = hand.all_states(model)
    with Batch(model) as batch:
        for n in (0, 1, BLOCK - 1, BLOCK, BLOCK + 1, len(X)):
            some = np.resize(X, (n, model.n_features))
            assert np.array_equal(batch.predict(some), predict(model, some))


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(models(max_classes=20).flatmap(lambda m: states(m, 60).map(lambda X: (m, X))))
def test_batches_of_any_model_decide_as_it_does(require_tool, pair):
    require_tool("gcc")
    model, X = pair
    with Batch(model) as batch:
        assert np.array_equal(batch.predict(X), predict(model, X))


def test_a_state_out_of_range_is_an_error_code_for_its_row_alone(require_tool):
    require_tool("gcc")
    model = hand.naive_integer()
    X = np.array([[0, 0], [3, 0], [2, 1], [0, 2], [255, 255]])
    with Batch(model) as batch:
        y = batch.predict(X)
    assert y[[1, 3, 4]].tolist() == [-1, -1, -1]
    assert np.array_equal(y[[0, 2]], predict(model, X[[0, 2]]))


def test_a_compiler_that_does_not_know_this_machine_serves_too(require_tool, monkeypatch):
    require_tool("gcc")
    monkeypatch.setattr(module, "NATIVE", "-march=abacus")
    model = hand.general_network()
    X = hand.all_states(model)
    with Batch(model) as batch:
        assert np.array_equal(batch.predict(X), predict(model, X))


@pytest.mark.parametrize(
    ("n_classes", "itemsize", "lanes"),
    [(2, 1, 16), (16, 1, 16), (17, 1, 32), (26, 2, 32), (5, 4, 8), (3, 4, 4), (100, 2, 128)],
)
def test_sums_fill_whole_vectors(n_classes, itemsize, lanes):
    assert module._lanes(n_classes, itemsize) == lanes
