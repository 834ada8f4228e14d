"""Two equivalent engines: C and torch compute the same steps up to floating-point rounding."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.errors import ToolchainError
from bncc.fixed_point import QFormat, rounded
from bncc.structure.counts import family_rows
from bncc.structure.graph import Structure, forest
from bncc.train.gradient import engines
from bncc.train.gradient import native_engine as native
from bncc.train.gradient.engine import Problem
from bncc.train.gradient.engines import engine_for
from bncc.train.gradient.native_engine import NativeEngine
from bncc.train.gradient.torch_engine import TorchEngine
from bncc.train.hyperparameters import hyperparameters_of
from bncc.train.maximum_likelihood import ml_log_tables
from bncc.train.settings import TrainSettings

pytestmark = pytest.mark.cc

LR = 0.01
START = 2e-6
"""Largest difference of a log-probability before the first step, in nats: some units in the last
place of float32, for logarithms of up to 8."""
STEP = 0.01 * LR
"""The same after one step, for 99 of 100 numbers. Adam makes a step of lr of any gradient, however
small: where it is nothing but rounding, the two may even step to opposite sides."""
EPOCH = 0.2 * LR
"""The same after an epoch of seven steps."""
MOST = 0.99
LOSS = 1e-5
"""Relative difference of the mean loss of an epoch."""

STRUCTURES = {
    "naive": forest([None] * 5),
    "tree": forest([None, 0, 1, 1, 0]),
    "two parents": Structure(((), (0,), (0, 1), (1,), (3, 2)), (True,) * 5),
    "read only": Structure(((4,), (0,), (0,), (), ()), (True,) * 3 + (False,) * 2),
}
N_STATES = [3, 2, 4, 1, 3]


def problem(structure: Structure, n_classes: int, n_samples: int = 300) -> Problem:
    rng = np.random.default_rng(n_classes)
    X = np.stack([rng.integers(0, r, n_samples) for r in N_STATES], axis=1)
    y = (X[:, 0] + X[:, 2] + rng.integers(0, 2, n_samples)) % n_classes
    return Problem(X, y, structure, N_STATES, ml_log_tables(X, y, structure, N_STATES, n_classes))


def hyper(**changes):
    return replace(hyperparameters_of(TrainSettings(), 300), **{"batch_size": 50, **changes})


def farthest(a, b, share: float = 1.0) -> float:
    """Return the largest difference of two sets of tables, or of a share of their numbers."""
    pairs = [(a[0], b[0]), *zip(a[1], b[1], strict=True)]
    apart = np.concatenate([np.abs(ours - theirs).ravel() for ours, theirs in pairs])
    return float(np.quantile(apart, share))


@pytest.mark.parametrize("name", STRUCTURES)
@pytest.mark.parametrize("n_classes", [2, 8, 9, 26, 40])
@pytest.mark.parametrize("loss", ["hybrid", "cross-entropy", "free"])
@pytest.mark.parametrize("fmt", [None, QFormat(2, 2), QFormat(3, -1)], ids=str)
def test_both_engines_take_the_same_steps(require_tool, name, n_classes, loss, fmt):
    require_tool("gcc")
    given, steered = problem(STRUCTURES[name], n_classes), hyper(loss=loss, gamma=2.0)
    ours, torch = NativeEngine(given, steered), TorchEngine(given, steered)
    assert farthest(ours.log_tables(), torch.log_tables()) < START
    if fmt is not None:
        ours.quantize(fmt)
        torch.quantize(fmt)
    rng = np.random.default_rng(0)
    order = rng.permutation(300)
    noise = rng.integers(0, 256, given.X.shape, dtype=np.uint8)
    for engine in (ours, torch):
        engine.first_loss = engine.epoch(order[:50], noise[:50], LR).loss
    assert ours.first_loss == pytest.approx(torch.first_loss, rel=LOSS)
    assert farthest(ours.log_tables(), torch.log_tables(), MOST) < STEP
    assert farthest(ours.log_tables(), torch.log_tables()) < 2.1 * LR
    losses = [engine.epoch(order, noise, LR).loss for engine in (ours, torch)]
    assert losses[0] == pytest.approx(losses[1], rel=LOSS)
    assert farthest(ours.log_tables(), torch.log_tables(), MOST) < EPOCH


def test_only_the_features_with_little_noise_are_left_out(require_tool):
    """All of them: then the prior alone learns."""
    require_tool("gcc")
    given = problem(STRUCTURES["tree"], 3)
    engine = NativeEngine(given, hyper(dropout=0.5))
    noise = np.full(given.X.shape, 127, dtype=np.uint8)
    engine.epoch(np.arange(300), noise, 0.1)
    assert farthest((np.zeros(1), engine.log_tables()[1]), (np.zeros(1), given.start[1])) < STEP
    assert np.abs(engine.log_tables()[0] - given.start[0]).max() > 0.01
    engine.epoch(np.arange(300), noise + 1, 0.1)
    assert farthest((np.zeros(1), engine.log_tables()[1]), (np.zeros(1), given.start[1])) > 0.01


def test_states_above_a_byte_have_their_rows(require_tool):
    require_tool("gcc")
    X = np.arange(400)[:, None] % 300
    y = (X[:, 0] > 150).astype(np.int64)
    structure = forest([None])
    given = Problem(X, y, structure, [300], ml_log_tables(X, y, structure, [300], 2))
    engines = [NativeEngine(given, hyper()), TorchEngine(given, hyper())]
    for engine in engines:
        engine.epoch(np.arange(400), np.full(X.shape, 255, dtype=np.uint8), LR)
    assert farthest(engines[0].log_tables(), engines[1].log_tables()) < EPOCH


def test_the_quicker_engine_is_taken_where_it_can_be_built(require_tool, monkeypatch):
    require_tool("gcc")
    given = problem(STRUCTURES["naive"], 2)
    assert isinstance(engine_for(given, hyper()), NativeEngine)
    assert isinstance(engine_for(given, hyper(engine="torch")), TorchEngine)

    def no_compiler(parts):
        raise ToolchainError("no C compiler was found on this machine")

    monkeypatch.setattr(native, "native_library", no_compiler)
    assert isinstance(engine_for(given, hyper()), TorchEngine)
    with monkeypatch.context() as patch:
        patch.setattr(engines, "find_spec", lambda name: None)
        with pytest.raises(
            ToolchainError, match=r"\(no C compiler .*needs torch, which is not inst"
        ):
            engine_for(given, hyper())
    with pytest.raises(ToolchainError, match="no C compiler"):
        engine_for(given, hyper(engine="native"))


@pytest.mark.parametrize("kind", [NativeEngine, TorchEngine])
@pytest.mark.parametrize("fmt", [None, QFormat(2, 1), QFormat(1, 0)], ids=str)
def test_the_error_is_that_of_the_samples_with_ties_for_the_first_class(require_tool, kind, fmt):
    """Without a step the tables stay; one bit makes many ties."""
    require_tool("gcc")
    given = problem(STRUCTURES["tree"], 9)
    engine = kind(given, hyper(dropout=0.0))
    if fmt is not None:
        engine.quantize(fmt)
    passed = engine.epoch(np.arange(300), np.zeros(given.X.shape, dtype=np.uint8), 0.0)
    prior, tables = engine.log_tables()
    log_joint = prior if fmt is None else rounded(prior, fmt)
    for i, table in enumerate(tables):
        rows = family_rows(given.X, given.structure, N_STATES, i)
        log_joint = log_joint + (table if fmt is None else rounded(table, fmt))[rows]
    assert passed.error == pytest.approx((log_joint.argmax(axis=1) != given.y).mean())
    if fmt == QFormat(1, 0):
        best = log_joint == log_joint.max(axis=1, keepdims=True)
        assert (best.sum(axis=1) > 1).mean() > 0.2
