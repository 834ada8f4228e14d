"""Widths and prices in the descent: learned widths are those of training, and cheap ones win."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.fixed_point import QFormat, quantize
from bncc.interrupts import StopRequest
from bncc.structure.candidates import all_earlier
from bncc.train.checkpoint.callbacks import Callbacks
from bncc.train.gradient.engine import StructureProblem
from bncc.train.hyperparameters import hyperparameters_of
from bncc.train.joint import descent as module
from bncc.train.joint.candidate_layout import entries_of, flash_bits_of
from bncc.train.joint.descent import descend_structure
from bncc.train.joint.torch_engine import TorchStructureEngine
from bncc.train.settings import TrainSettings

GENERATOR = np.random.default_rng(6)
N, C = 500, 3
N_STATES = [3, 4, 3]
Y = GENERATOR.integers(0, C, N)
NOISE = np.stack([GENERATOR.integers(0, r, N) for r in N_STATES], axis=1)
X = np.where(GENERATOR.random((N, 3)) < [0.8, 0.5, 0.05], Y[:, None], NOISE)
FMT = QFormat(3, 3)
WIDTHS = (1, 3, 6)


def hyper(**changes):
    settings = hyperparameters_of(TrainSettings(epochs=12), N)
    return replace(settings, **{"dropout": 0.0, **changes})


def learn(monkeypatch, steered, callbacks=None, **options):
    """Return the engine, the prices of all epochs with their costs, and the result."""
    seen, make = [], module.structure_engine_for

    class Watched:
        def __init__(self, *arguments):
            self.engine = make(*arguments)
            self.is_quantized = False
            seen.append(self.engine)

        def __getattr__(self, name):
            return getattr(self.engine, name)

        def quantize(self, fmt):
            self.is_quantized = True
            self.engine.quantize(fmt)

        def epoch(self, chance, lr, tau, prices):
            seen.append((prices, self.engine.costs() if self.is_quantized else None))
            return self.engine.epoch(chance, lr, tau, prices)

    monkeypatch.setattr(module, "structure_engine_for", Watched)
    problem = StructureProblem(X, Y, N_STATES, C, all_earlier(np.arange(3)), 0.1, **options)
    learned = descend_structure(
        problem, steered, np.random.default_rng(0), lambda *_: FMT, callbacks
    )
    return seen[0], seen[1:], learned


@pytest.fixture(params=["torch", pytest.param("native", marks=pytest.mark.cc)])
def engine(request, require_tool):
    """Return the name of an available engine."""
    if request.param == "native":
        require_tool("gcc")
    return request.param


def last_read(trained):
    """Return the tables as the engine reads them for the most probable slots, in nats."""
    if isinstance(trained, TorchStructureEngine):
        network = trained._network
        layout, choice, read = network.layout, network.most_probable(), network.theta.numpy()
    else:
        layout, choice, read = trained._layout, trained._most_probable(), trained._read[:, :C]
    features = np.arange(len(choice))
    begins = layout.read_offset[features, choice]
    sizes = layout.n_table_rows[features, choice]
    return [read[begin : begin + n] for begin, n in zip(begins, sizes, strict=True)]


@pytest.mark.parametrize("loss", ["hybrid", "free"])
def test_frozen_tables_are_the_integers_trained_with_and_fit_their_widths(
    monkeypatch, engine, loss
):
    trained, _, (structure, (_, tables)) = learn(
        monkeypatch, hyper(engine=engine, loss=loss), widths=WIDTHS
    )
    widths = trained.widths()
    assert len(widths) == len(tables) == structure.n_features
    assert min(widths) < max(WIDTHS)
    for table, width, read in zip(tables, widths, last_read(trained), strict=True):
        costs = quantize(table, FMT)
        assert np.array_equal(costs, np.rint(read * -(2.0**FMT.frac_bits)))
        assert (costs - costs.min(axis=1, keepdims=True)).max() < 2**width


def test_the_average_over_epochs_fits_the_widths_too(monkeypatch, engine):
    steered = hyper(engine=engine, average=0.9)
    trained, _, (_, (_, tables)) = learn(monkeypatch, steered, widths=(1, 2))
    for table, width in zip(tables, trained.widths(), strict=True):
        costs = quantize(table, FMT)
        assert (costs - costs.min(axis=1, keepdims=True)).max() < 2**width


def test_widths_hold_where_the_descent_ended_before_rounding_began(monkeypatch, engine):
    stop = StopRequest()
    stop.signal = 2
    callbacks = Callbacks(stop=stop)
    steered = hyper(engine=engine, lr=1.0)
    _, epochs, (_, (_, tables)) = learn(monkeypatch, steered, callbacks, widths=(1, 2))
    assert len(epochs) == 1
    costs = [quantize(table, FMT) for table in tables]
    assert max((of - of.min(axis=1, keepdims=True)).max() for of in costs) == 2**2 - 1


def test_a_heavy_price_of_bits_leaves_the_narrowest_tables_and_no_price_wide_ones(
    monkeypatch, engine
):
    widths = []
    for size_weight in (0.0, 10.0):
        options = {"size_weight": size_weight, "priced_bits": 6, "widths": WIDTHS}
        trained, _, (structure, _) = learn(monkeypatch, hyper(engine=engine), **options)
        widths.append(trained.widths())
    assert max(widths[0]) == 6
    assert widths[1][:2] == (1, 1)
    assert structure.n_edges == 0


@pytest.mark.parametrize("widths", [(), WIDTHS], ids=str)
def test_tables_cost_what_the_compiler_would_leave_of_them_as_the_epoch_begins(
    monkeypatch, engine, widths
):
    options = {"size_weight": 0.25, "priced_bits": 6, "widths": widths}
    trained, epochs, _ = learn(monkeypatch, hyper(engine=engine), **options)
    layout = trained._layout if engine == "native" else trained._network.layout
    entries = entries_of(layout, C)
    assert sum(costs is None for _, costs in epochs) == 6
    for prices, costs in epochs:
        bits = 6 * entries if costs is None else flash_bits_of(layout, costs)
        assert np.array_equal(prices, (0.25 * bits).astype(np.float32))
    assert (epochs[-1][0] < 0.25 * 6 * entries).any()


def test_entries_cost_the_same_in_all_epochs(monkeypatch, engine):
    trained, epochs, _ = learn(monkeypatch, hyper(engine=engine, epochs=4), size_weight=0.5)
    layout = trained._layout if engine == "native" else trained._network.layout
    for prices, _ in epochs:
        assert np.array_equal(prices, 0.5 * entries_of(layout, C))
