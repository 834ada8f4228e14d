"""Many decisions at once: equal to the integer model's, for any model and number of inputs."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from bncc.device import batch as module
from bncc.fixed_point import QFormat
from bncc.model.model import Model
from bncc.model.reference import predict
from bncc.on_device import batch_of
from bncc.structure.graph import forest
from bncc.toolchain.tools import host_compilers
from tests import models as hand
from tests.strategies import models, states

pytestmark = pytest.mark.cc

BLOCK = 16
"""Block size of batch.c."""


def random_tan(n_features: int, n_states: int, n_classes: int) -> Model:
    """Return a TAN in which the parent of each feature is the previous one."""
    rng = np.random.default_rng(n_features)
    sizes = [n_states, *[n_states**2] * (n_features - 1)]
    return hand.model_of(
        [hand.feature(f"x{f}", n_states) for f in range(n_features)],
        forest([None, *range(n_features - 1)]),
        QFormat(4, 0),
        [0] * n_classes,
        [rng.integers(0, 16, size=(size, n_classes)).tolist() for size in sizes],
    )


@pytest.mark.parametrize("name", hand.NAMED)
def test_batches_decide_as_the_model(require_tool, name):
    require_tool("gcc")
    model = hand.NAMED[name]()
    X = hand.all_states(model)
    with batch_of(model) as batch:
        for n in (0, 1, BLOCK - 1, BLOCK, BLOCK + 1, len(X)):
            some = np.resize(X, (n, model.n_features))
            assert np.array_equal(batch.predict(some), predict(model, some))


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(models(max_classes=20).flatmap(lambda m: states(m, 60).map(lambda X: (m, X))))
def test_batches_of_any_model_decide_as_it_does(require_tool, pair):
    require_tool("gcc")
    model, X = pair
    with batch_of(model) as batch:
        assert np.array_equal(batch.predict(X), predict(model, X))


def test_a_state_out_of_range_is_an_error_code_for_its_row_alone(require_tool):
    require_tool("gcc")
    model = hand.naive_integer()
    X = np.array([[0, 0], [3, 0], [2, 1], [0, 2], [255, 255]])
    with batch_of(model) as batch:
        y = batch.predict(X)
    assert y[[1, 3, 4]].tolist() == [-1, -1, -1]
    assert np.array_equal(y[[0, 2]], predict(model, X[[0, 2]]))


@pytest.mark.parametrize("n_features", [1, 15, 16, 17, 31, 36])
def test_inputs_are_turned_whatever_their_number_of_features(require_tool, n_features):
    require_tool("gcc")
    model = random_tan(n_features, n_states=4, n_classes=6)
    X = np.random.default_rng(0).integers(0, 5, size=(3 * BLOCK + 1, n_features))
    valid = (X < 4).all(axis=1)
    with batch_of(model) as batch:
        y = batch.predict(X)
        assert np.array_equal(batch.predict(X % 4), predict(model, X % 4))
    assert np.array_equal(y[valid], predict(model, X[valid]))
    assert (y[~valid] == -1).all()


def test_places_of_rows_behind_16_bits_are_reached(require_tool):
    require_tool("gcc")
    model = random_tan(2, n_states=70, n_classes=26)
    X = np.random.default_rng(0).integers(0, 70, size=(500, 2))
    X[0] = 69
    with batch_of(model) as batch:
        assert np.array_equal(batch.predict(X), predict(model, X))


def test_every_compiler_knows_the_vectors(require_tool):
    require_tool("gcc")
    model = random_tan(17, n_states=4, n_classes=10)
    X = np.random.default_rng(0).integers(0, 4, size=(100, 17))
    for compiler in host_compilers("all"):
        with batch_of(model, compiler) as batch:
            assert np.array_equal(batch.predict(X), predict(model, X)), compiler.name


def test_a_compiler_that_does_not_know_this_machine_serves_too(require_tool, monkeypatch):
    require_tool("gcc")
    monkeypatch.setattr(module, "NATIVE", "-march=abacus")
    model = hand.general_network()
    X = hand.all_states(model)
    with batch_of(model) as batch:
        assert np.array_equal(batch.predict(X), predict(model, X))


@pytest.mark.parametrize(
    ("n_classes", "itemsize", "lanes"),
    [(2, 1, 16), (16, 1, 16), (17, 1, 32), (26, 2, 32), (5, 4, 8), (3, 4, 4), (100, 2, 128)],
)
def test_sums_fill_whole_vectors(n_classes, itemsize, lanes):
    assert module._lanes(n_classes, itemsize) == lanes
