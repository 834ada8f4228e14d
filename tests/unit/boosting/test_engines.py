"""Two engines of gradient descent on boosted tables: C and numpy take the same steps."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.boosting import native_engine as steps
from bncc.boosting.cuts import bins_of
from bncc.boosting.descent import Pace, SumProblem
from bncc.boosting.engines import NumpySumEngine, best_cuts_for, sum_engine_for
from bncc.boosting.native_engine import NativeSumEngine
from bncc.boosting.settings import BoostSettings
from bncc.boosting.sums import Scores, Unit
from bncc.errors import ToolchainError

LR = 0.01
PACE = Pace(batch_size=50, dropout=0.25, weight_decay=0.1, has_prior=True)
N_TABLES, N_ROWS, N_SAMPLES = 4, 23, 300
LOSS = 1e-5
"""Relative difference of the mean loss of an epoch."""


def problem(n_classes: int) -> tuple[SumProblem, Scores]:
    rng = np.random.default_rng(n_classes)
    rows = rng.integers(0, N_ROWS, (N_SAMPLES, N_TABLES)).astype(np.uint32)
    y = (rows[:, 0] + rows[:, 1]) % n_classes
    start = Scores(rng.normal(size=(N_ROWS, n_classes)), rng.normal(size=n_classes))
    return SumProblem(rows, y.astype(np.int64), rng.exponential(1.0, N_SAMPLES)), start


def farthest(ours: Scores, theirs: Scores) -> float:
    pairs = ((ours.rows, theirs.rows), (ours.prior, theirs.prior))
    return max(float(np.abs(a - b).max()) for a, b in pairs)


def chance(n: int = N_SAMPLES):
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 256, (N_SAMPLES, N_TABLES), dtype=np.uint8)
    return rng.permutation(N_SAMPLES)[:n], noise[:n]


@pytest.mark.cc
@pytest.mark.parametrize("n_classes", [2, 8, 9, 26, 40, 255])
@pytest.mark.parametrize("unit", [None, Unit(3, 1), Unit(1, -1)], ids=str)
def test_both_engines_take_the_same_steps(require_tool, n_classes, unit):
    require_tool("gcc")
    given, start = problem(n_classes)
    engines = [kind(given, start, PACE) for kind in (NativeSumEngine, NumpySumEngine)]
    for engine in engines if unit is not None else ():
        engine.quantize(unit)
    losses = [engine.epoch(*chance(120), LR) for engine in engines]
    assert losses[0] == pytest.approx(losses[1], rel=LOSS)
    ours, theirs = (engine.scores() for engine in engines)
    assert farthest(ours, theirs) < 0.02 * LR
    assert farthest(ours, start) > LR / 2


@pytest.mark.cc
@pytest.mark.parametrize("n_classes", [2, 26])
@pytest.mark.parametrize("unit", [None, Unit(3, 1)], ids=str)
def test_both_engines_learn_two_exits(require_tool, n_classes, unit):
    require_tool("gcc")
    given, start = problem(n_classes)
    scores, losses = [], []
    for pace in (PACE, replace(PACE, gate=2)):
        engines = [kind(given, start, pace) for kind in (NativeSumEngine, NumpySumEngine)]
        for engine in engines if unit is not None else ():
            engine.quantize(unit)
        losses.append([engine.epoch(*chance(120), LR) for engine in engines])
        scores.append([engine.scores() for engine in engines])
        assert losses[-1][0] == pytest.approx(losses[-1][1], rel=LOSS)
        assert farthest(*scores[-1]) < 0.02 * LR
    assert farthest(scores[0][0], scores[1][0]) > LR / 2
    assert losses[0] != pytest.approx(losses[1], rel=1e-3)


@pytest.mark.cc
@pytest.mark.parametrize("kind", [NativeSumEngine, NumpySumEngine])
def test_only_rows_that_are_read_move(require_tool, kind):
    require_tool("gcc")
    given, start = problem(3)
    engine = kind(given, start, replace(PACE, has_prior=False))
    order, noise = chance(5)
    engine.epoch(order, noise, LR)
    is_read = np.zeros(N_ROWS, dtype=bool)
    is_read[given.rows[order][noise >= 64]] = True
    moved = np.abs(engine.scores().rows - start.rows).max(axis=1) > 1e-6
    assert moved.tolist() == is_read.tolist()
    assert farthest(engine.scores(), replace(engine.scores(), prior=start.prior)) < 1e-6
    assert 0 < is_read.sum() < N_ROWS


@pytest.mark.cc
@pytest.mark.parametrize("kind", [NativeSumEngine, NumpySumEngine])
def test_a_sample_of_no_weight_says_nothing(require_tool, kind):
    require_tool("gcc")
    given, start = problem(3)
    silent = replace(given, weights=np.zeros(N_SAMPLES))
    engine = kind(silent, start, replace(PACE, weight_decay=0.0))
    assert engine.epoch(*chance(), LR) == 0.0
    assert farthest(engine.scores(), start) < 1e-6


@pytest.mark.cc
@pytest.mark.parametrize("kind", [NativeSumEngine, NumpySumEngine])
def test_the_loss_is_that_of_rounded_costs(require_tool, kind):
    """One table, one row: costs of 0 and of 3, clipped to 1, in nats of 2; no prior."""
    require_tool("gcc")
    one = SumProblem(np.zeros((1, 1), dtype=np.uint32), np.array([1]), np.ones(1))
    start = Scores(np.array([[6.2, 0.0]]), np.zeros(2))
    engine = kind(one, start, replace(PACE, dropout=0.0))
    engine.quantize(Unit(1, -1))
    loss = engine.epoch(np.array([0]), np.zeros((1, 1), dtype=np.uint8), LR)
    assert loss == pytest.approx(np.log(1 + np.exp(2.0)), rel=1e-6)


def test_the_quicker_engine_is_taken_where_it_can_be_built(monkeypatch):
    given, start = problem(2)
    bins = bins_of(given.rows)

    def no_compiler(parts):
        raise ToolchainError("no C compiler is installed on this computer")

    assert isinstance(sum_engine_for(given, start, PACE, "numpy"), NumpySumEngine)
    monkeypatch.setattr(steps, "native_library", no_compiler)
    assert isinstance(sum_engine_for(given, start, PACE, None), NumpySumEngine)
    assert best_cuts_for(bins, BoostSettings(), 2).__module__.endswith("boosting.cuts")
    with pytest.raises(ToolchainError, match="no C compiler"):
        sum_engine_for(given, start, PACE, "native")
    with pytest.raises(ToolchainError, match="no C compiler"):
        best_cuts_for(bins, BoostSettings(engine="native"), 2)


@pytest.mark.cc
def test_c_is_taken_where_nothing_is_asked_for(require_tool):
    require_tool("gcc")
    assert isinstance(sum_engine_for(*problem(2), PACE, None), NativeSumEngine)
