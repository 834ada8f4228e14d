"""Structure learning in C and in torch: the same steps up to floating-point rounding."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.fixed_point import QFormat
from bncc.structure.candidates import Candidates, all_earlier, all_others
from bncc.structure.learners.trees import naive_bayes
from bncc.train.gradient.engine import Chance, StructureProblem
from bncc.train.gradient.engines import structure_engine_for
from bncc.train.hyperparameters import hyperparameters_of
from bncc.train.joint.native_engine import NativeStructureEngine
from bncc.train.joint.torch_engine import TorchStructureEngine
from bncc.train.maximum_likelihood import ml_log_tables
from bncc.train.settings import TrainSettings

pytestmark = pytest.mark.cc

LR = 0.01
STEP = 0.01 * LR
"""Largest difference after one step, for 99 of 100 numbers. Adam makes a step of lr of any
gradient: where it is nothing but rounding, the two may even step to opposite sides."""
EPOCH = 0.2 * LR
"""The same after an epoch of seven steps."""
MOST = 0.99
LOSS, LOSSES = 1e-5, 1e-3
"""Relative difference of the loss of a step, and of the mean loss of the epoch after it."""
N = 320
N_STATES = [3, 2, 4, 5, 3]


ORDERED = all_earlier(np.array([3, 0, 2, 1, 4]))


def problem(
    n_classes: int, widths: tuple[int, ...] = (), candidates: Candidates = ORDERED
) -> StructureProblem:
    rng = np.random.default_rng(n_classes)
    X = np.stack([rng.integers(0, r, N) for r in N_STATES], axis=1)
    X[:, 4] = np.where(rng.random(N) < 0.8, X[:, 0], X[:, 4])
    y = (X[:, 0] + X[:, 2] + rng.integers(0, 2, N)) % n_classes
    return StructureProblem(X, y, N_STATES, n_classes, candidates, LR, widths=widths)


def hyper(**changes):
    settings = hyperparameters_of(TrainSettings(), N)
    return replace(settings, **{"batch_size": 50, "gamma": 2.0, **changes})


def chance(given: StructureProblem, n: int = N, n_batches: int = 7) -> Chance:
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 256, given.X.shape, dtype=np.uint8)
    gumbel = rng.gumbel(size=(n_batches, *given.layout.offset.shape))
    return Chance(rng.permutation(N)[:n], noise[:n], gumbel)


def prices(given: StructureProblem, size_weight: float = 0.0):
    """Return a price for every table, those of equal size apart too."""
    sizes = given.layout.n_table_rows
    return (size_weight * sizes * np.random.default_rng(1).random(sizes.shape)).astype(np.float32)


def numbers(engine, n_classes):
    """Return all parameters: of tables, and of the distribution of structures."""
    if isinstance(engine, TorchStructureEngine):
        network = engine._network
        return network.rho.detach().numpy(), network.phi.detach().numpy()
    return engine._tables["rho"][:-1, :n_classes], engine._phi["phi"]


def apart(ours, torch, n_classes, share=MOST):
    """Return the largest difference of a share of all parameters."""
    pairs = zip(numbers(ours, n_classes), numbers(torch, n_classes), strict=True)
    return max(float(np.quantile(np.abs(a - b), share)) for a, b in pairs)


@pytest.mark.parametrize("n_classes", [2, 8, 9, 26, 40])
@pytest.mark.parametrize("loss", ["hybrid", "cross-entropy", "free"])
@pytest.mark.parametrize("fmt", [None, QFormat(3, 3)], ids=str)
@pytest.mark.parametrize("size_weight", [0.0, 1e-2])
@pytest.mark.parametrize("widths", [(), (1, 3)], ids=["one-width", "widths"])
def test_both_engines_take_the_same_steps(require_tool, n_classes, loss, fmt, size_weight, widths):
    require_tool("gcc")
    given, steered = problem(n_classes, widths), hyper(loss=loss)
    of_slots = prices(given, size_weight)
    ours, torch = NativeStructureEngine(given, steered), TorchStructureEngine(given, steered)
    if fmt is not None:
        ours.quantize(fmt)
        torch.quantize(fmt)
    losses = [e.epoch(chance(given, 50, 1), LR, 1.0, of_slots).loss for e in (ours, torch)]
    assert losses[0] == pytest.approx(losses[1], rel=LOSS)
    assert apart(ours, torch, n_classes) < STEP
    losses = [e.epoch(chance(given), LR, 0.3, of_slots).loss for e in (ours, torch)]
    assert losses[0] == pytest.approx(losses[1], rel=LOSSES)
    assert apart(ours, torch, n_classes) < EPOCH
    (structure, tables), (its_structure, its_tables) = ours.learned(), torch.learned()
    assert structure == its_structure
    assert ours.widths() == torch.widths()
    if fmt is not None:
        assert np.mean(ours.costs() != torch.costs()) < 1 - MOST
    assert np.abs(tables[0] - its_tables[0]).max() < EPOCH
    for a, b in zip(tables[1], its_tables[1], strict=True):
        assert np.quantile(np.abs(a - b), 0.9) < EPOCH


def test_both_engines_take_the_same_steps_without_an_order(require_tool):
    require_tool("gcc")
    given = problem(3, candidates=all_others(5))
    ours, torch = NativeStructureEngine(given, hyper()), TorchStructureEngine(given, hyper())
    losses = [e.epoch(chance(given), LR, 0.3, prices(given)).loss for e in (ours, torch)]
    assert losses[0] == pytest.approx(losses[1], rel=LOSSES)
    assert apart(ours, torch, 3) < EPOCH


def test_all_widths_go_on_from_where_the_first_was_when_quantization_began(require_tool):
    require_tool("gcc")
    given = problem(8, widths=(1, 3, 6))
    engines = NativeStructureEngine(given, hyper()), TorchStructureEngine(given, hyper())
    for engine in engines:
        engine.epoch(chance(given), LR, 1.0, prices(given))
        first, *others = np.split(numbers(engine, 8)[1], 3, axis=1)
        assert first.any()
        assert not np.any(others)
        engine.quantize(QFormat(3, 3))
        assert all(np.array_equal(first, part) for part in np.split(numbers(engine, 8)[1], 3, 1))
    # A mean of gradients that a width had not taken over would make its step another.
    for engine in engines:
        engine.epoch(chance(given, 50, 1), LR, 1.0, prices(given))
    _, phi = numbers(engines[0], 8)
    assert np.abs(phi - numbers(engines[1], 8)[1]).max() < EPOCH


def test_only_drawn_tables_take_a_step(require_tool):
    require_tool("gcc")
    given = problem(3)
    engine = NativeStructureEngine(given, hyper(batch_size=N))
    before, _ = (part.copy() for part in numbers(engine, 3))
    taken = chance(given, n_batches=1)
    taken.gumbel[:] = 0.0
    taken.gumbel[:, :, 0] = 10.0
    engine.epoch(taken, LR, 1.0, prices(given))
    after, _ = numbers(engine, 3)
    layout = given.layout
    moved = np.flatnonzero((before != after).any(axis=1))
    offset, size = layout.offset[:, 0], layout.n_table_rows[:, 0]
    drawn = np.concatenate([np.arange(a, a + n) for a, n in zip(offset, size, strict=True)])
    assert set(moved) <= set(drawn)
    assert len(moved) > len(drawn) / 2


def test_the_quicker_engine_is_taken_where_it_can_be_built(require_tool):
    require_tool("gcc")
    given = problem(2)
    assert isinstance(structure_engine_for(given, hyper()), NativeStructureEngine)
    assert isinstance(structure_engine_for(given, hyper(engine="torch")), TorchStructureEngine)


@pytest.mark.parametrize("kind", [NativeStructureEngine, TorchStructureEngine])
def test_the_error_is_that_of_the_samples_under_the_drawn_structure(require_tool, kind):
    """Without a step, and with "no parent" sampled for all, it is naive Bayes."""
    require_tool("gcc")
    given = problem(3)
    engine = kind(given, hyper(dropout=0.0))
    drawn = replace(chance(given), gumbel=np.zeros((7, *given.layout.offset.shape)))
    drawn.gumbel[:, :, 0] = 10.0
    passed = engine.epoch(drawn, 0.0, 1.0, prices(given))
    naive = naive_bayes(len(N_STATES))
    prior, tables = ml_log_tables(given.X, given.y, naive, N_STATES, 3)
    log_joint = prior + sum(table[x] for table, x in zip(tables, given.X.T, strict=True))
    assert passed.error == pytest.approx((log_joint.argmax(axis=1) != given.y).mean())
