"""``bncc bench``: the figures of the contract, and the messages where there are none."""

import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result

from bncc.cli import bench
from bncc.cli.console import Console
from bncc.device.cross import Toolchain
from bncc.device.machine import HarnessError
from bncc.device.measure import Measurement
from bncc.device.meter import Cost, Inputs
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import ToolchainError
from bncc.lower.c import constants as avr
from bncc.lower.estimate import Estimate
from bncc.model.file import load_model, save_model
from bncc.model.model import Model
from bncc.on_device import TargetReport
from bncc.targets import TARGETS
from bncc.targets.base import Target
from tests.cli.contract import KEYS, check_shape
from tests.models import one_state_feature, sum_with_front

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]

MACHINES = ("host", *TARGETS)


def measurement(scale: int, level: str, *entries: str) -> Measurement:
    costs = {
        entry: Cost(100 * scale, 110.5 * scale, 1200 * scale, 8, np.zeros(3, dtype=np.int16))
        for entry in entries
    }
    return Measurement(level, 1000 * scale, 0, 40 * scale, costs)


OURS = measurement(1, "-O2", "predict", "trusted", "raw")
BOOK = measurement(3, "flash -Os, predict -O3", "predict", "trusted", "raw")
REPORT = TargetReport(
    "rv32", "instructions", "gcc 12", "qemu 7 virt", OURS, BOOK, None, Estimate(900, 50, 105)
)


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """
    Install every target but the AVR, and measure without building; return the requests.

    A target's name maps to the answer, a `REPORT` by default, or to the error.
    """
    asked: dict[str, Any] = {}

    def find(target: Target, **how: object) -> None:
        if target.name == "avr":
            raise ToolchainError("no compiler for avr is installed; run `apt install gcc-avr`")

    def measure(model: Model, target: Target, inputs: Inputs, **how: object) -> TargetReport:
        said = asked.get(target.name, REPORT)
        asked.setdefault("calls", []).append((target.name, inputs, how))
        if isinstance(said, ToolchainError):
            raise said
        assert isinstance(said, TargetReport)
        return replace(said, target=target.name, unit=target.unit)

    monkeypatch.setattr(bench, "find_toolchain", find)
    monkeypatch.setattr(bench, "bench_target", measure)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    return asked


def test_without_a_target_it_is_every_machine_with_tools(
    run: Run, run_json: RunJson, tools: dict[str, Any], model: Path
) -> None:
    found = run_json("bench", model)
    assert list(found["targets"]) == [target for target in MACHINES if target != "avr"]
    reason = "no compiler for avr is installed; run `apt install gcc-avr`"
    assert found["skipped"] == {"avr": reason}
    for facts in found["targets"].values():
        check_shape(facts, "instructions")
    names = [name for name, *_ in tools["calls"]]
    assert names == [target for target in TARGETS if target != "avr"]  # host and x86 in one run
    assert [how["emission"].options.target for *_, how in tools["calls"]] == names
    assert run_json("bench", model, "--target", "all") == found
    said = run("bench", model).stdout
    assert f"avr: skipped, {reason}" in said
    assert "host, x86: gcc 12 -O2, qemu 7 virt" in said


def test_a_named_machine_without_tools_is_an_error(
    refused: Refused, tools: dict[str, Any], model: Path
) -> None:
    for targets in (["avr"], ["rv32", "avr"], ["all", "avr"]):
        options = [word for target in targets for word in ("--target", target)]
        assert "run `apt install gcc-avr`" in refused("bench", model, *options)
    assert "calls" not in tools


def test_host_is_the_simulated_x86(
    run_json: RunJson, refused: Refused, tools: dict[str, Any], model: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    found = run_json("bench", model, "--target", "host", "--target", "x86")["targets"]
    assert list(found) == ["host", "x86"]
    assert found["host"] == found["x86"]
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert "host is not an x86" in refused("bench", model, "--target", "host")
    found = run_json("bench", model)
    assert "host is not an x86" in found["skipped"]["host"]
    assert "x86" in found["targets"]


def test_options_reach_the_measurement(
    run: Run, tools: dict[str, Any], model: Path, readings: Path
) -> None:
    options = ["--compiler", "clang", "--simulator", "unicorn", "--opt-level", "s", "--rows", 7]
    options += ["--optimize", "size", "--kernel", "plain"]
    run("bench", model, "--target", "rv32", "--data", readings, *options)
    ((_, inputs, how),) = tools["calls"]
    assert inputs.X.shape == inputs.R.shape == (7, 3)
    chosen = EmitOptions(
        "m", frozenset({"raw"}), kernel="plain", optimize="size", target="rv32",
        priced=("predict-raw",),
    )  # fmt: skip
    emission = how.pop("emission")
    assert emission.options == chosen
    assert emission.files == emit_c(load_model(model), chosen).files
    assert how.pop("with_missing")
    assert how.pop("entries") == ("predict-raw",)
    assert how == {"compiler": "clang", "simulator": "unicorn", "opt_level": "-Os"}


@pytest.mark.parametrize(
    ("optimize", "level"), [("balanced", "-O2"), ("speed", "-O2"), ("size", "-Os")]
)
def test_the_compiler_s_level_goes_with_what_is_asked_for(
    run: Run, tools: dict[str, Any], model: Path, optimize: str, level: str
) -> None:
    run("bench", model, "--target", "rv32", "--optimize", optimize)
    run("bench", model, "--target", "rv32", "--optimize", optimize, "--opt-level", "3")
    assert [how["opt_level"] for _, _, how in tools["calls"]] == [level, "-O3"]


def test_rows_come_from_the_data_or_the_seed(
    run: Run, tools: dict[str, Any], model: Path, readings: Path
) -> None:
    """At most all rows; the same seed selects the same."""
    for options in (["--data", readings, "--rows", 999], [], ["--seed", 1], ["--seed", 1]):
        run("bench", model, "--target", "rv32", *options)
    inputs = [inputs for _, inputs, _ in tools["calls"]]
    assert [len(i.X) for i in inputs] == [240, 100, 100, 100]
    assert np.array_equal(inputs[2].X, inputs[3].X)
    assert not np.array_equal(inputs[1].X, inputs[2].X)


def test_where_the_textbook_does_not_fit_there_is_no_ratio(
    run: Run, run_json: RunJson, tools: dict[str, Any], model: Path
) -> None:
    """A model without thresholds has no figures for raw readings."""
    tools["rv32"] = replace(
        REPORT,
        ours=measurement(1, "-O2", "predict", "trusted"),
        baseline=None,
        baseline_misfit="the textbook classifier has 8-bit tables; " + "train with fewer " * 9,
    )
    facts = run_json("bench", model, "--target", "rv32")["targets"]["rv32"]
    assert set(facts) == KEYS
    assert facts["raw"] is None
    assert facts["baseline"] is None
    assert facts["baseline_misfit"].startswith("the textbook classifier has 8-bit")
    assert facts["ratio"] == {"flash": None, "predict": None, "trusted": None, "raw": None}
    said = run("bench", model, "--target", "rv32").stdout
    assert "no textbook: the textbook classifier has 8-bit tables" in said
    assert "raw, instructions" not in said
    assert max(map(len, said.splitlines())) <= 100


def test_people_read_a_table_per_machine(run: Run, tools: dict[str, Any], model: Path) -> None:
    said = run("bench", model, "--target", "rv32", "--target", "big-endian", "--quiet").stdout
    lines = said.splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[0] == "rv32: gcc 12 -O2, qemu 7 virt"
    assert lines[1].split() == ["bncc", "textbook", "ratio"]
    assert lines[2].split() == ["flash,", "bytes", "1,000", "3,000", "3.00"]
    assert lines[3].split() == ["RAM,", "bytes", "0", "0"]
    assert lines[4].split() == ["stack,", "bytes", "40", "120"]
    assert lines[5].split(None, 2)[2] == "110.5 (100 .. 1,200)  331.5 (300 .. 3,600)   3.00"
    assert lines[8] == "textbook: flash -Os, predict -O3"
    assert lines[10].startswith("big-endian: ")
    assert "mean (min .. max) over 100 inputs" in said
    assert "for rv32: 900 bytes of flash, 105 instructions" in said


def test_entry_points_that_the_textbook_lacks_are_named(
    run: Run, tools: dict[str, Any], model: Path
) -> None:
    """Its bytes are those of the function with the same arguments."""
    assert "of the textbook:" not in run("bench", model, "--target", "rv32").stdout
    ours = measurement(1, "-O2", "predict", "trusted", "raw", "raw_checked")
    ours = replace(ours, kept=("raw_checked",))
    tools["rv32"] = replace(REPORT, ours=ours, baseline=replace(BOOK, kept=("raw",)))
    said = run("bench", model, "--target", "rv32").stdout
    assert "a call of predict_raw_checked needs" in said
    assert "\n(of the textbook: predict_raw)\n" in said
    assert "\nraw_checked, instructions  110.5 (100 .. 1,200)\n" in said
    assert max(map(len, said.splitlines())) <= 100
    assert "raw_checked returns at the first reading out of range" in said


@pytest.mark.firmware
def test_readings_of_categories_alone_are_measured(
    require_bench: Callable[[str], Toolchain], run_json: RunJson, tmp_path: Path
) -> None:
    """There ``predict_raw`` is emitted only on request."""
    require_bench("cortex-m0")
    save_model(one_state_feature(), tmp_path / "m.bncc")
    found = run_json(
        "bench", tmp_path / "m.bncc", "--target", "cortex-m0", "--entry", "predict-raw"
    )
    assert found["targets"]["cortex-m0"]["resources"]["instructions"]["predict-raw"]["max"] > 0


def test_the_widest_figures_still_fit(run: Run, tools: dict[str, Any], model: Path) -> None:
    tools["rv32"] = replace(
        REPORT,
        toolchain="riscv64-unknown-elf-gcc 12.2.0",
        simulator="qemu-system-riscv32 7.2.22 virt",
        ours=measurement(999, "-O2", "predict", "trusted", "raw"),
        baseline=measurement(9_999, "flash -Os, predict -O3", "predict", "trusted", "raw"),
    )
    said = run("bench", model, "--target", "rv32").stdout
    assert max(map(len, said.splitlines())) <= 100


@pytest.mark.parametrize("error", [ToolchainError, HarnessError])
def test_what_fails_says_on_which_machine(
    refused: Refused, tools: dict[str, Any], model: Path, error: type[ToolchainError]
) -> None:
    tools["cortex-m4"] = error("it broke; report it")
    assert refused("bench", model, code=error.exit_code) == "cortex-m4: it broke; report it"


def test_progress_tells_the_machines(
    run: Run, tools: dict[str, Any], model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[float, str]] = []

    @contextmanager
    def progress(self: Console, description: str) -> Iterator[Callable[[float, str], None]]:
        yield lambda fraction, text: told.append((fraction, text))

    monkeypatch.setattr(Console, "progress", progress)
    run("bench", model, "--target", "rv32", "--target", "cortex-m4")
    assert told == [(0.0, "rv32"), (0.5, "cortex-m4")]
    assert "measuring on RISC-V RV32IMC" in run("bench", model, "--target", "rv32", "-v").stderr


def test_a_model_too_large_for_the_avr_is_told_before_it_is_built(
    run_json: RunJson, refused: Refused, tools: dict[str, Any], model: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(bench, "find_toolchain", lambda target, **how: ())
    monkeypatch.setattr(avr, "MOST_IN_ALL", 10)
    assert "constants are more than the 10" in refused("bench", model, "--target", "avr")
    assert "constants are more than the 10" in run_json("bench", model)["skipped"]["avr"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "toaster"], "is not one of"),
        (["--target", "avr", "--compiler", "gcc"], "the compiler 'gcc' does not support avr; use"),
        (["--compiler", "all"], "--compiler all is not supported by bench"),
        (["--simulator", "all"], "is not one of 'qemu', 'unicorn', 'simavr'"),
        (["--opt-level", "9"], "is not one of 0, 1, 2, 3, s"),
        (["--rows", "0"], "not in the range"),
        (["--kernel", "swar"], "is not one of 'plain', "),
        (["--optimize", "fast"], "is not one of 'balanced', 'size', 'speed'"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    refused: Refused, model: Path, options: list[str], message: str
) -> None:
    assert message in refused("bench", model, *options)


def test_data_that_cannot_be_read_is_one_line(
    refused: Refused, tools: dict[str, Any], model: Path
) -> None:
    assert "does not exist" in refused("bench", model, "--data", "absent.csv")


def test_class_without_data_has_no_effect_and_says_so(
    run: Run, tools: dict[str, Any], model: Path
) -> None:
    assert "no effect without --data" in run("bench", model, "--class", "c").stderr


def test_random_inputs_are_noted_where_mean_times_depend_on_readings(
    run: Run, tools: dict[str, Any], model: Path, tmp_path: Path
) -> None:
    fronted, rows = tmp_path / "front.bncc", tmp_path / "rows.csv"
    save_model(sum_with_front(), fronted)
    rows.write_text("hall,volt,mode,idle\n-9,3,run,1\n", encoding="utf-8")
    note = "add --data to measure them"
    assert note in run("bench", fronted, "--target", "rv32").stderr
    assert note not in run("bench", fronted, "--target", "rv32", "--data", rows).stderr
    assert note not in run("bench", model, "--target", "rv32").stderr
