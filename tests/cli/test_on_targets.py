"""``bncc verify`` and ``bncc bench`` with the compilers and simulators of this machine."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from bncc import pricing
from bncc.cli import lowering
from bncc.device.cross import Toolchain
from bncc.emit.emitter import Emission, EmitOptions, Price
from bncc.model.model import Model
from tests.cli.contract import check_shape

pytestmark = pytest.mark.firmware

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]
Require = Callable[..., Toolchain]
Tool = Callable[[str], str]


def spoil(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make commands emit C in which the largest cost wins, and the last class on ties."""
    honest = lowering.emit_c

    def emit(model: Model, options: EmitOptions, price: Price | None = None) -> Emission:
        emission = honest(model, options, price)
        text = emission.files["m.c"]
        assert text.count("cost[c] < lowest") == 1
        files = {**emission.files, "m.c": text.replace("cost[c] < lowest", "cost[c] >= lowest")}
        return replace(emission, files=files)

    for module in (lowering, pricing):
        monkeypatch.setattr(module, "emit_c", emit)


@pytest.mark.parametrize("target", ["avr", "cortex-m0", "big-endian"])
def test_the_c_agrees_on_a_target(
    run_json: RunJson, require_bench: Require, model: Path, readings: Path,
    target: str,
) -> None:  # fmt: skip
    bench = require_bench(target)
    options = ["--data", readings, "--random", 20]
    found = run_json("verify", model, "--target", target, *options)
    assert found["agree"] is True
    assert list(found["targets"]) == [target]
    facts = found["targets"][target]
    assert set(facts) == {"checked", "mismatches", "strength", "toolchain", "kernel"}
    assert facts["checked"] > 240
    assert facts["toolchain"] == f"{bench.compiler} -O2, {bench.place}"


@pytest.mark.parametrize("target", ["host", "avr", "cortex-m0"])
def test_a_wrong_comparison_is_found_on_every_machine(
    run: Run, require_bench: Require, require_tool: Tool, model: Path,
    target: str, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if target == "host":
        require_tool("gcc")
    else:
        require_bench(target)
    spoil(monkeypatch)
    options = ["--target", target, "--random", 20, "--kernel", "plain"]
    said = run("verify", model, *options, code=1).stdout
    assert said.startswith(f"{target}: the C DISAGREES with the Python model on ")


def test_a_simulator_serves_its_own_machines(
    run_json: RunJson, refused: Refused, require_bench: Require, model: Path
) -> None:
    require_bench("avr")
    require_bench("rv32", simulator="unicorn")
    options = ["--simulator", "unicorn", "--target", "rv32", "--random", 5]
    said = refused("verify", model, *options, "--target", "avr")
    assert said == "the simulator 'unicorn' does not support avr; use simavr"
    found = run_json("verify", model, *options)
    assert ", unicorn " in found["targets"]["rv32"]["toolchain"]


def test_two_wheels_verify(
    run_json: RunJson, require_bench: Require, model: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """No compiler and no simulator on the path: what pip installs without root does."""
    require_bench("rv32", compiler="ziglang", simulator="unicorn")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    found = run_json("verify", model, "--target", "cortex-m0", "--target", "rv32", "--random", 20)
    assert found["agree"] is True
    for facts in found["targets"].values():
        assert facts["toolchain"].startswith("ziglang ")
        assert ", unicorn " in facts["toolchain"]


@pytest.mark.parametrize(
    ("target", "unit"), [("cortex-m0", "instructions"), ("avr", "cycles"), ("x86", "instructions")]
)
def test_what_is_measured_has_the_shape_of_the_contract(
    run_json: RunJson, require_bench: Require, model: Path, readings: Path, target: str, unit: str
) -> None:
    tool = require_bench(target)
    found = run_json("bench", model, "--target", target, "--data", readings, "--rows", 9)
    assert set(found) == {"targets", "skipped", "rows", "seed"}
    assert found["rows"] == 9
    assert list(found["targets"]) == [target]
    facts = found["targets"][target]
    check_shape(facts, unit)
    assert facts["toolchain"] == str(tool.compiler)
    assert facts["simulator"] == tool.place
    assert facts["optimization"] == "-O2"
    assert "-Os" in facts["baseline"]["optimization"]


def test_figures_repeat_and_levels_differ(
    run_json: RunJson, require_bench: Require, model: Path
) -> None:
    require_bench("cortex-m0")
    command = ["bench", model, "--target", "cortex-m0", "--rows", 5]
    first = run_json(*command)
    assert run_json(*command) == first
    other = run_json(*command, "--seed", 1, "--opt-level", "s")["targets"]["cortex-m0"]
    assert other["optimization"] == "-Os"
    assert other["predict"] != first["targets"]["cortex-m0"]["predict"]
    assert other["baseline"]["flash"] == first["targets"]["cortex-m0"]["baseline"]["flash"]


def test_two_wheels_measure(
    run_json: RunJson, require_bench: Require, model: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """No compiler and no simulator on the path: what pip installs without root does."""
    require_bench("rv32", compiler="ziglang", simulator="unicorn")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    found = run_json("bench", model, "--target", "rv32", "--rows", 5)
    check_shape(found["targets"]["rv32"], "instructions")
    assert found["targets"]["rv32"]["toolchain"].startswith("ziglang ")
    assert found["targets"]["rv32"]["simulator"].startswith("unicorn ")


def test_figures_of_wrong_code_are_refused(
    refused: Refused, require_bench: Require, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_bench("cortex-m0")
    spoil(monkeypatch)
    options = ["--target", "cortex-m0", "--rows", 20, "--kernel", "plain"]
    line = refused("bench", model, *options, code=1)
    assert line.startswith("cortex-m0: predict on ")
    assert " inputs; run `bncc verify` for this target" in line
