"""``bncc emit-c`` within limits, of which the front end of a model of recordings is a part."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bncc.model.file import save_model
from bncc.search import front_end_choice
from tests.cli.conftest import invoke, no_tools
from tests.cli.test_train_recordings import OPTIONS, write
from tests.recorded import recordings
from tests.unit.emit.test_emitter_adaptation_samples import adapting

RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]
TARGET = ("--target", "cortex-m0", "--optimize", "size")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    save_model(adapting("naive"), tmp_path / "m.bncc")
    return tmp_path / "m.bncc"


def test_estimates_are_of_the_whole_program(
    model: Path, run_json: RunJson, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_tools(monkeypatch)
    words = ("emit-c", model, "-o", model.parent / "c", "--force", *TARGET)
    facts = run_json(*words, "--max-flash", "64k")
    program = facts["program"]
    assert program["how"] == facts["resources"]["how"] == "estimated"
    assert program["flash"] > facts["resources"]["flash"] + 100
    assert program["state"] > 50
    ram = program["state"] + program["stack"]
    for option, n_bytes in (("--max-flash", program["flash"]), ("--max-ram", ram)):
        assert run_json(*words, option, n_bytes)["program"] == program
        message = refused(*words, option, n_bytes - 1, code=1)
        assert message.startswith("behind a front end of ")
        message = refused(*words, option, n_bytes // 3, code=1)
        assert message.endswith(" alone exceeds the budget; raise --max-flash or --max-ram, or "
                                "train with fewer --features")  # fmt: skip
    assert "program" not in run_json(*words)


@pytest.mark.firmware
def test_measured_limits_are_of_what_bench_measures(
    model: Path, run_json: RunJson, refused: Refused, require_bench: Callable[..., object]
) -> None:
    require_bench("cortex-m0")
    found = run_json("bench", model, *TARGET)["targets"]["cortex-m0"]["samples"]
    words = ("emit-c", model, "-o", model.parent / "c", "--force", *TARGET, "--measure")
    facts = run_json(*words, "--max-flash", found["flash"], "--max-ram", found["ram"])
    sizes = {name: found[name] for name in ("flash", "state", "stack")}
    assert facts["program"] == {**sizes, "how": "measured"}
    assert facts["resources"]["flash"] < found["flash"]
    for option, n_bytes in (("--max-flash", found["flash"]), ("--max-ram", found["ram"])):
        refused(*words, option, n_bytes - 1, code=1)
    done = invoke(*words, "--max-flash", "64k")
    assert f"program   {found['flash']:,} bytes of flash, {found['state']} of state" in done.stdout


def test_what_train_found_is_emitted_within_the_same_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_json: RunJson
) -> None:
    no_tools(monkeypatch)
    monkeypatch.setattr(front_end_choice, "FINALISTS", 1)
    monkeypatch.chdir(tmp_path)
    data = write(tmp_path / "train.csv", recordings(4))
    limits = ("--max-flash", "1500", "--max-ram", "200", "--reserve", "100")
    done = invoke("train", data, "-o", "m.bncc", *OPTIONS, *limits, "--structure", "naive")
    assert done.exit_code == 0, done.output
    (line,) = (line for line in done.stdout.splitlines() if "bncc emit-c" in line)
    assert "--max-flash 1500 --reserve 100 --max-ram 200" in line
    facts = run_json(*shlex.split(line)[1:])
    assert facts["program"]["flash"] <= 1400
    (line,) = (line for line in done.stdout.splitlines() if "bncc verify" in line)
    assert "--max-flash 1400 --max-ram 200" in line
    first, second = done.stdout[done.stdout.index("reserved") :].splitlines()[:2]
    assert first.endswith("100 bytes of flash for your own code (--reserve)")
    assert second.endswith("bytes of flash for the code from samples to features, before the "
                           "classifier was searched")  # fmt: skip


@pytest.mark.parametrize("command", ["verify", "bench", "prove"])
def test_all_commands_take_the_limits_of_emit_c(
    model: Path,
    command: str,
    refused: Refused,
    run_json: RunJson,
    require_bench: Callable[..., object],
) -> None:
    """A limit changes the layout, so all have the C that it leads to."""
    require_bench("cortex-m0")
    target = TARGET[:2]
    within = run_json("emit-c", model, "-o", model.parent / "c", *target, "--max-ram", "1k")
    ram = within["program"]["state"] + within["program"]["stack"]
    words = (command, model, *target)
    said = refused(*words, "--max-ram", ram // 3, code=1)
    assert said.endswith("train with fewer --features")
    if command == "verify":
        facts = run_json(*words, "--max-ram", "1k")["targets"]["cortex-m0"]
        assert facts["kernel"] == within["kernel"]
