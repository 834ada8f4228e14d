"""A trial: errors of every seed, figures of the first model, and reasons instead of figures."""

import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from bncc import on_device as measurement
from bncc import pricing
from bncc.data.dataset import Dataset
from bncc.data.readers import bundled_path, read_table
from bncc.data.target import dataset_of
from bncc.device.cross import Toolchain
from bncc.device.meter import Inputs
from bncc.emit.emitter import EmitOptions
from bncc.errors import DataError, MisfitError, OptionError, ToolchainError
from bncc.lower.c import constants as avr
from bncc.model.model import Model
from bncc.resources import Optimize, Resources, Span
from bncc.search import trial
from bncc.search.trial import Workload, measure_model, measured_rows, run_trial, train_again
from bncc.search.trial_result import Footprint, Point
from bncc.targets.base import Target
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

PARAMS = {"structure": "naive", "parameters": "ml", "bits": 3, "optimize": "size"}


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    """Return the bundled table of signal strengths."""
    return dataset_of(read_table(str(bundled_path("wifi"))))


@pytest.fixture(scope="module")
def work(dataset: Dataset) -> Workload:
    """Return what trials without targets share: every second row, the others for testing."""
    rows = np.arange(dataset.n_rows)
    return Workload(
        train=dataset.take(rows[::2]),
        test=dataset.take(rows[1::2]),
        readings=measured_rows(dataset.table),
        source=("wifi.csv",),
        bench_source=("--data", "wifi.csv"),
        seed=4,
        repeats=3,
        targets=(),
    )


def test_errors_are_those_of_each_seed(work: Workload) -> None:
    point = run_trial(work, 17, PARAMS)
    trained = [
        train_model(
            work.train,
            TrainSettings(structure="naive", parameters="ml", bits=3, seed=seed),
            test=work.test,
        ).model
        for seed in (4, 5, 6)
    ]
    assert work.test is not None
    assert point.test is not None
    assert point.validation.errors == tuple(m.training["error_validation"] for m in trained)
    assert point.validation.n == sum(m.training["n_validation"] for m in trained) == 300
    assert point.test.errors == tuple(m.training["error_test"] for m in trained)
    assert point.test.n == work.test.n_rows
    assert len(set(point.validation.errors)) > 1
    first = trained[0]
    assert point.q_format == (first.q_format.int_bits, first.q_format.frac_bits)
    assert point.entries == 4 + sum(table.size for table in first.tables)
    assert point.bits == 3 * point.entries
    assert point.operations == 4 * 8
    assert point.parents == (("class",),) * 7
    assert (point.number, point.family, point.params) == (17, "naive", PARAMS)
    assert point.costs == {}
    assert point.command == (
        "bncc train wifi.csv --structure naive --parameters ml --bits 3 --seed 4 --repeats 3 "
        "-o trial-17.bncc"
    )


def test_a_trial_is_a_function_of_its_arguments(work: Workload) -> None:
    params = {"structure": "tan-subset", "epochs": 2, "bits": 2}
    again = run_trial(pickle.loads(pickle.dumps(work)), 3, params)
    assert replace(again, seconds=0.0) == replace(run_trial(work, 3, params), seconds=0.0)
    assert Point.from_json(again.to_json()) == again


def test_floats_have_no_format(work: Workload) -> None:
    point = run_trial(work, 0, {"parameters": "ml", "float": True})
    assert point.q_format is None
    assert point.bits == 24 * point.entries
    assert point.family == "chow-liu"


def test_the_first_model_comes_again(work: Workload) -> None:
    model = train_again(work, PARAMS)
    point = run_trial(work, 0, PARAMS)
    assert model.training["seed"] == 4
    assert model.training["error_validation"] == point.validation.errors[0]
    assert point.test is not None
    assert model.training["error_test"] == point.test.errors[0]


def test_without_test_rows_there_is_no_test_error(work: Workload) -> None:
    assert run_trial(replace(work, test=None), 0, PARAMS).test is None


def test_rows_of_which_none_can_be_held_out_are_refused(work: Workload) -> None:
    few = work.train.take(np.flatnonzero(np.diff(work.train.y, prepend=-1)))
    with pytest.raises(DataError, match="too few rows to hold any out"):
        run_trial(replace(work, train=few), 0, PARAMS)


def test_values_that_make_no_sense_come_to_nothing(work: Workload) -> None:
    with pytest.raises(OptionError, match="--size-weight needs a structure"):
        run_trial(work, 0, {"structure": "naive", "size-weight": 0.1})


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[tuple[EmitOptions, str, Inputs]]:
    """Make every model too large for AVR, and measure nothing on others; return the requests."""
    asked = []

    def emit(model: Model, options: EmitOptions) -> SimpleNamespace:
        return SimpleNamespace(options=options, resources=SimpleNamespace(entries=options.priced))

    def measure(
        model: Model,
        bench: Target,
        inputs: Inputs,
        emission: SimpleNamespace,
        entries: tuple[str, ...],
        *,
        optimize: Optimize,
        opt_level: str,
    ) -> Resources:
        options: EmitOptions = emission.options
        if options.target == "avr":
            raise MisfitError("too large; train with fewer bits")
        if options.target == "rv32":
            raise ToolchainError("gcc failed")
        asked.append((options, opt_level, inputs))
        spans = {entry: Span(5, 6.5, 8) for entry in entries}
        return Resources(
            bench.name, 900, 2, 44, spans, None, entries, optimize, opt_level, "measured"
        )

    monkeypatch.setattr(trial, "find_toolchain", lambda target: (target,))
    monkeypatch.setattr(pricing, "is_x86", lambda: True)
    monkeypatch.setattr(trial, "emit_c", emit)
    monkeypatch.setattr(trial, "resources_of", measure)
    return asked


def test_what_does_not_fit_has_a_reason_and_is_not_in_the_command(
    work: Workload, measured: list[tuple[EmitOptions, str, Inputs]]
) -> None:
    point = run_trial(replace(work, targets=("avr", "cortex-m0", "host", "x86")), 2, PARAMS)
    found = Footprint(900, 2, 44, "instructions", 6.5, 8, ("predict-raw",))
    assert point.costs == {
        "avr": "too large; train with fewer bits",
        "cortex-m0": found,
        "host": found,
        "x86": found,
    }
    assert [(o.target, o.optimize, o.entries, level) for o, level, _ in measured] == [
        ("cortex-m0", "size", frozenset({"raw"}), "-Os"),
        ("x86", "size", frozenset({"raw"}), "-Os"),
    ]
    assert len(measured[0][2].X) == 100
    assert point.command.endswith(
        " -o trial-2.bncc && bncc bench trial-2.bncc --data wifi.csv "
        "--target cortex-m0 --target host --target x86 --optimize size"
    )
    alone = run_trial(replace(work, targets=("avr",)), 2, PARAMS)
    assert "bench" not in alone.command


def test_a_tool_that_fails_is_no_misfit(
    work: Workload, measured: list[tuple[EmitOptions, str, Inputs]]
) -> None:
    with pytest.raises(ToolchainError, match="gcc failed"):
        run_trial(replace(work, targets=("rv32",)), 2, PARAMS)


def test_the_host_is_measured_on_an_x86_alone(
    work: Workload,
    measured: list[tuple[EmitOptions, str, Inputs]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pricing, "is_x86", lambda: False)
    with pytest.raises(ToolchainError, match="host is not an x86"):
        measure_model(replace(work, targets=("host",)), train_again(work, PARAMS), PARAMS)


@pytest.mark.firmware
def test_a_model_too_large_for_the_avr_has_the_reason_of_bench(
    work: Workload, monkeypatch: pytest.MonkeyPatch, require_bench: Callable[..., Toolchain]
) -> None:
    require_bench("avr")
    monkeypatch.setattr(avr, "MOST_IN_ALL", 10)
    found = run_trial(replace(work, targets=("avr",)), 0, PARAMS).costs["avr"]
    assert isinstance(found, str)
    assert re.fullmatch(r"\d+ bytes of constants are more than the 10 that an AVR .*; .*", found)


@pytest.mark.firmware
def test_trusted_is_measured_on_request(
    work: Workload, monkeypatch: pytest.MonkeyPatch, require_bench: Callable[..., Toolchain]
) -> None:
    """A sweep needs half the programs that `bncc bench` builds."""
    bench = require_bench("avr")
    model = train_again(work, PARAMS)
    inputs = trial.bench_inputs(model, work.readings)
    short = measurement.measure_ours(model, bench, inputs, with_trusted=False)
    whole = measurement.measure_ours(model, bench, inputs)
    assert set(whole.costs) - set(short.costs) == {"trusted"}
    assert (short.flash, short.stack) == (whole.flash, whole.stack)
    assert short.costs["predict"].mean == whole.costs["predict"].mean
