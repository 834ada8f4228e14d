"""A descent that resumes elsewhere ends with the same bits as one that never stopped."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.errors import CheckpointError
from bncc.fixed_point import QFormat
from bncc.structure.candidates import all_earlier
from bncc.structure.graph import forest
from bncc.train.checkpoint.callbacks import Callbacks
from bncc.train.gradient.engine import StructureProblem
from bncc.train.gradient.loop import descend
from bncc.train.hyperparameters import hyperparameters_of
from bncc.train.joint.descent import descend_structure
from bncc.train.maximum_likelihood import ml_log_tables
from bncc.train.settings import TrainSettings

N, EPOCHS = 310, 6
N_STATES = [3, 2, 4, 5, 3]
RNG = np.random.default_rng(0)
X = np.stack([RNG.integers(0, r, N) for r in N_STATES], axis=1)
X[:, 4] = np.where(RNG.random(N) < 0.8, X[:, 0], X[:, 4])
Y = (X[:, 0] + X[:, 2] + RNG.integers(0, 2, N)) % 3
TREE = forest([None, 0, 1, 0, 0])
START = ml_log_tables(X, Y, TREE, N_STATES, 3)
CANDIDATES = all_earlier(np.array([3, 0, 2, 1, 4]))


class Watch:
    """Collector of all moments of a descent that requests its end."""

    def __init__(self, ends_after=EPOCHS):
        self.moments = []
        self._ends_after = ends_after
        self.is_armed = False

    @property
    def is_wanted(self):
        return len(self.moments) + 1 >= self._ends_after

    def callbacks(self, start=None):
        return Callbacks(start=start, keep=self.moments.append, stop=self)


def every_epoch(monkeypatch):
    monkeypatch.setattr("bncc.train.checkpoint.callbacks.INTERVAL", 0.0)
    monkeypatch.setattr("bncc.train.checkpoint.callbacks.LARGEST_SHARE", float("inf"))


@pytest.fixture(params=["torch", pytest.param("native", marks=pytest.mark.cc)])
def hyper(request, require_tool):
    """Return the settings of a descent on an available engine."""
    if request.param == "native":
        require_tool("gcc")
    given = hyperparameters_of(TrainSettings(epochs=EPOCHS, gamma=2.0), N)
    return replace(given, engine=request.param, batch_size=50, dropout=0.2)


def tables_alone(hyper, choose, callbacks=None):
    wanted = None if choose is None else lambda tables: choose()
    prior, tables = descend(X, Y, TREE, N_STATES, START, hyper, wanted, callbacks)
    return TREE, prior, *tables


def with_structure(hyper, choose, callbacks=None, **options):
    problem = StructureProblem(X, Y, N_STATES, 3, CANDIDATES, 0.05, 1e-4, **options)
    wanted = None if choose is None else lambda structure, tables: choose()
    rng = np.random.default_rng(hyper.seed)
    structure, (prior, tables) = descend_structure(problem, hyper, rng, wanted, callbacks)
    return structure, prior, *tables


def with_widths(hyper, choose, callbacks=None):
    return with_structure(hyper, choose, callbacks, priced_bits=4, widths=(1, 2, 4))


def same_bits(a, b):
    return a[0] == b[0] and all(map(np.array_equal, a[1:], b[1:]))


@pytest.mark.parametrize("learn", [tables_alone, with_structure, with_widths])
@pytest.mark.parametrize("is_quantized", [False, True])
@pytest.mark.parametrize(
    "changes",
    [{}, {"loss": "free", "average": 0.7}, {"average": 0.7, "dropout": 0.0, "jitter": 0.3}],
    ids=str,
)
def test_a_descent_goes_on_to_the_same_bits(monkeypatch, hyper, learn, is_quantized, changes):
    every_epoch(monkeypatch)
    steered = replace(hyper, **changes)
    asked = []
    choose = (lambda: asked.append(1) or QFormat(3, 1)) if is_quantized else None
    watch = Watch(ends_after=EPOCHS + 1)
    whole = learn(steered, choose, watch.callbacks())
    assert same_bits(whole, learn(steered, choose))
    assert [moment.epoch for moment in watch.moments] == list(range(1, EPOCHS + 1))
    for moment in watch.moments:
        asked.clear()
        assert same_bits(whole, learn(steered, choose, Callbacks(start=moment)))
        assert len(asked) == (is_quantized and moment.epoch <= EPOCHS // 2)


def test_a_moment_with_averages_of_the_right_shapes_is_taken(monkeypatch, hyper):
    every_epoch(monkeypatch)
    watch = Watch()
    whole = tables_alone(hyper, None, watch.callbacks())
    moment = replace(watch.moments[-1], average=START)
    resumed = tables_alone(hyper, None, Callbacks(start=moment))
    assert [t.shape for t in resumed[2:]] == [t.shape for t in whole[2:]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"engine": "abacus"}, "of engine 'abacus', which rounds .* go on with --engine abacus"),
        ({"arrays": {}}, "holds other arrays than this training; give another --checkpoint"),
        ({"average": (START[0], START[1][1:])}, "holds other tables"),
        ({"chance": {}}, "random numbers are damaged"),
        ({"chance": {"bit_generator": "PCG64", "state": 1}}, "random numbers are damaged"),
    ],
)
def test_a_moment_of_another_descent_is_refused(monkeypatch, hyper, changes, message):
    every_epoch(monkeypatch)
    watch = Watch()
    tables_alone(hyper, None, watch.callbacks())
    callbacks = Callbacks(start=replace(watch.moments[-1], **changes))
    with pytest.raises(CheckpointError, match=message):
        tables_alone(hyper, None, callbacks)
