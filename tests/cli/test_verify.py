"""``bncc verify``: agreement of the C, and the report of a disagreement."""

import platform
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from click.testing import Result

from bncc.cli import verify
from bncc.data.readers import bundled_path
from bncc.device.agreement import Agreement
from bncc.device.machine import HarnessError
from bncc.errors import ModelError, ToolchainError
from bncc.lower.c import constants as avr
from bncc.model.file import save_model
from bncc.model.gate import Gate
from bncc.model.rules import EXTRAS
from bncc.targets import TARGETS
from bncc.targets.base import Target
from tests import models as hand

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]
Tool = Callable[[str], str]

MACHINES = ("host", *TARGETS)
AGREED = Agreement(True, "host", 1234, 0, "all 12 joint states", "gcc 12 -O2")
DIFFERS = replace(AGREED, agree=False, mismatches=3, first_mismatch="raw of readings 1, 2: ...")


Asked = list[tuple[str, dict[str, Any]]]
Answer = Callable[..., Asked]


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Answer:
    """
    Return ``answer(outcome, **others)``: set the outcomes of all builds and of some targets.

    All tools are installed then, on an x86; it returns the requests to each target.
    """
    asked: Asked = []

    def install(outcome: Agreement, **others: Agreement | ToolchainError) -> Asked:
        def fake(model: object, target: str, **how: object) -> Agreement:
            asked.append((target, how))
            said = others.get(target.replace("-", "_"), outcome)
            if isinstance(said, ToolchainError):
                raise said
            return said

        monkeypatch.setattr(verify, "verify", fake)
        monkeypatch.setattr(verify, "host_compilers", lambda choice: ())
        monkeypatch.setattr(verify, "find_toolchain", lambda target, **tools: ())
        monkeypatch.setattr(platform, "machine", lambda: "x86_64")
        return asked

    return install


@pytest.fixture
def no_avr(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the compilers for the AVR, after `answer`."""

    def find(target: Target, **tools: object) -> None:
        if target.name == "avr":
            raise ToolchainError("no compiler for avr is installed; run `apt install gcc-avr`")

    monkeypatch.setattr(verify, "find_toolchain", find)


@pytest.mark.cc
def test_the_c_agrees_with_the_model(
    run_json: RunJson, require_tool: Tool, model: Path, readings: Path
) -> None:
    require_tool("gcc")
    found = run_json("verify", model, "--data", readings, "--compiler", "gcc", "--random", 50)
    assert found["agree"] is True
    host = found["targets"]["host"]
    assert set(host) == {"checked", "mismatches", "strength", "toolchain", "kernel"}
    assert host["mismatches"] == 0
    assert host["checked"] > 240
    assert "240 data rows" in host["strength"]
    assert host["toolchain"].startswith("gcc")


@pytest.mark.cc
def test_people_read_how_strong_the_check_was(run: Run, require_tool: Tool, model: Path) -> None:
    require_tool("gcc")
    said = run("verify", model, "--opt-level", "s").stdout
    assert said.startswith("host: the C agrees with the Python model, bit for bit, on ")
    assert "threshold" in said
    assert "-Os" in said


@pytest.mark.cc
def test_sanitizers_watch_on_demand(
    run_json: RunJson, require_tool: Tool, missing: Callable[[str], NoReturn], model: Path
) -> None:
    gcc = require_tool("gcc")
    trial = [gcc, "-fsanitize=address,undefined", "-x", "c", "-", "-o", str(model.parent / "t")]
    if subprocess.run(trial, input=b"int main(void){return 0;}", check=False).returncode:
        missing("gcc has no sanitizers here")
    found = run_json("verify", model, "--sanitize", "--compiler", "gcc", "--random", 20)
    assert found["agree"] is True
    assert "sanit" in found["targets"]["host"]["toolchain"]


def test_a_mismatch_is_exit_code_1_and_says_where(
    run: Run, run_json: RunJson, answer: Answer, model: Path
) -> None:
    answer(AGREED, rv32=DIFFERS)
    both = ["--target", "host", "--target", "rv32"]
    found = run_json("verify", model, *both, code=1)
    assert found["agree"] is False
    assert "first_mismatch" not in found["targets"]["host"]
    assert found["targets"]["rv32"]["first_mismatch"] == DIFFERS.first_mismatch
    result = run("verify", model, *both, code=1)
    assert "rv32: the C DISAGREES with the Python model on 3 of 1,234 inputs" in result.stdout
    assert "host: the C agrees" in result.stdout
    assert result.stderr == ""


@pytest.mark.cc
def test_every_entry_point_is_tried_where_nobody_names_one(
    run_json: RunJson, require_tool: Tool, model: Path
) -> None:
    """Entry points with another kernel or a long run time are tried on a sample."""
    require_tool("gcc")
    said = run_json("verify", model, "--random", 50)["targets"]["host"]["strength"]
    assert "also fed feature by feature" in said
    assert "missing alone and known alone" in said


@pytest.mark.firmware
@pytest.mark.parametrize("target", ["host", "cortex-m0"])
def test_every_entry_point_can_be_asked_for(
    run_json: RunJson, require_tool: Tool, require_bench: Callable[..., Any], model: Path,
    target: str,
) -> None:  # fmt: skip
    if target == "host":
        require_tool("gcc")
    else:
        require_bench(target)
    words = [word for entry in sorted(verify.WITH - EXTRAS.keys()) for word in ("--with", entry)]
    found = run_json("verify", model, *words, "--random", 20, "--target", target)
    assert found["agree"]
    assert "missing alone and known alone" in found["targets"][target]["strength"]
    assert "also fed" not in found["targets"][target]["strength"]


def test_what_does_not_fit_the_avr_is_not_tried_there(
    run: Run, answer: Answer, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answer(AGREED)
    fits: list[int] = []

    def check(target: str, emission: Any) -> None:
        if "m_feed(" in emission.files["m.h"] and len(fits) < 3:
            fits.append(0)
            raise ModelError("too large")

    monkeypatch.setattr(verify, "check_fit", check)
    for _ in range(2):
        run("verify", model, "--target", "avr")
    nothing, stream = (how["also"] for _, how in asked)
    assert nothing is None
    assert "m_feed(" in stream.files["m.h"]
    assert "missing(" not in stream.files["m.h"]


@pytest.mark.parametrize("name", ["gate", "front", "trees"])
def test_what_needs_all_features_at_once_has_no_sample_of_streams(
    run: Run, answer: Answer, tmp_path: Path, name: str
) -> None:
    """Compare all else as for other models."""
    models = {
        "front": hand.sum_with_front(),
        "gate": replace(hand.products_of_sensors(3, 4), gate=Gate(2, 1)),
        "trees": hand.trees_of_sensors(3, 2),
    }
    save_model(models[name], tmp_path / "m.bncc")
    asked = answer(AGREED)
    out = run("verify", tmp_path / "m.bncc", "--target", "host").stdout
    assert "the C agrees with the Python model" in out
    assert [how["also"] for _, how in asked] == [None]


def test_a_sample_of_streams_compares_states_whatever_is_asked_for(
    run: Run, answer: Answer, tmp_path: Path
) -> None:
    save_model(hand.products_of_sensors(3, 4), tmp_path / "m.bncc")
    asked = answer(AGREED)
    run("verify", tmp_path / "m.bncc", "--target", "host", "--compare", "readings")
    ((_, how),) = asked
    assert "_readings(const m_raw_t *x" in how["emission"].files["m.c"]
    assert "m_feed(" in how["also"].files["m.h"]


def test_a_stream_is_compared_when_asked_for(run: Run, answer: Answer, model: Path) -> None:
    asked = answer(AGREED)
    run("verify", model)
    run("verify", model, "--with", "stream")
    headers = [how["emission"].files["m.h"] for _, how in asked]
    assert ["m_feed(" in header for header in headers] == [False, True]
    assert asked[1][1]["also"] is None


def test_priced_entry_points_are_compared_on_the_part(
    run: Run, answer: Answer, model: Path
) -> None:
    """A part stands for its target, and an entry point that a budget covers is compared."""
    asked = answer(AGREED)
    run("verify", model, "--entry", "missing", "--part", "atmega328p")
    ((target, how),) = asked
    assert target == "avr"
    assert "m_predict_missing(" in how["emission"].files["m.h"]
    assert how["also"] is None


def test_what_is_compared_anyway_leaves_the_sample_of_streams(
    run: Run, answer: Answer, model: Path
) -> None:
    asked = answer(AGREED)
    run("verify", model, "--with", "scores")
    assert "m_feed(" in asked[0][1]["also"].files["m.h"]


def test_options_reach_the_build(run: Run, answer: Answer, model: Path, readings: Path) -> None:
    asked = answer(AGREED)
    options = ["--compiler", "clang", "--opt-level", "-O3", "--sanitize", "--random", 7]
    run("verify", model, *options, "--exhaustive", "--data", readings)
    ((target, how),) = asked
    assert target == "host"
    assert how.pop("table").n_rows == 240
    assert {"m.c", "m.h"} <= set(how.pop("emission").files)
    assert "m_feed(" in how.pop("also").files["m.h"]
    assert how == {
        "compiler": "clang",
        "simulator": None,
        "opt_level": "-O3",
        "sanitize": True,
        "n_random": 7,
        "exhaustive": True,
    }
    run("verify", model, "--target", "avr", "--compiler", "all", "--simulator", "simavr")
    target, how = asked[-1]
    assert target == "avr"
    assert (how["compiler"], how["simulator"], how["sanitize"]) == ("all", "simavr", False)
    assert how["opt_level"] == "-O2"


def test_what_is_built_for_size_is_checked_so(run: Run, answer: Answer, model: Path) -> None:
    """As train, emit-c and bench measure it."""
    asked = answer(AGREED)
    run("verify", model, "--optimize", "size")
    run("verify", model, "--optimize", "size", "--opt-level", "1")
    assert [how["opt_level"] for _, how in asked] == ["-Os", "-O1"]


def test_all_runs_every_machine_and_reports_what_is_missing(
    run: Run, run_json: RunJson, answer: Answer, no_avr: None, model: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    without_avr = verify.find_toolchain
    asked = answer(AGREED)
    found = run_json("verify", model, "--target", "all")
    assert list(found["targets"]) == list(MACHINES)
    assert found["skipped"] == {}
    ran = [target for target, _ in asked]
    # The x86's own C runs on this machine too.
    assert ran == ["host" if target == "x86" else target for target in MACHINES]

    monkeypatch.setattr(verify, "find_toolchain", without_avr)
    found = run_json("verify", model, "--target", "all")
    assert list(found["targets"]) == [target for target in MACHINES if target != "avr"]
    reason = "no compiler for avr is installed; run `apt install gcc-avr`"
    assert found["skipped"] == {"avr": reason}
    assert f"avr: skipped, {reason}" in run("verify", model, "--target", "all").stdout


def test_a_named_machine_without_tools_is_an_error(
    refused: Refused, answer: Answer, model: Path, request: pytest.FixtureRequest
) -> None:
    answer(AGREED)
    request.getfixturevalue("no_avr")
    for targets in (["avr"], ["rv32", "avr"], ["all", "avr"]):
        options = [word for target in targets for word in ("--target", target)]
        assert "run `apt install gcc-avr`" in refused("verify", model, *options)


def test_nothing_to_run_is_no_agreement(
    refused: Refused, answer: Answer, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(AGREED)

    def none(*args: object, **tools: object) -> None:
        raise ToolchainError("nothing is installed; run `apt install gcc`")

    monkeypatch.setattr(verify, "find_toolchain", none)
    monkeypatch.setattr(verify, "host_compilers", none)
    line = refused("verify", model, "--target", "all")
    assert line == "no target is usable; host: nothing is installed; run `apt install gcc`"


@pytest.mark.parametrize("error", [ToolchainError, HarnessError])
def test_a_build_that_fails_says_for_which_machine(
    refused: Refused, answer: Answer, model: Path, error: type[ToolchainError]
) -> None:
    """Also under ``all``: only missing tools are skipped."""
    answer(AGREED, cortex_m7=error("gcc failed: m.c:1: error: oops; report it"))
    line = refused("verify", model, "--target", "all", code=error.exit_code)
    assert line == "cortex-m7: gcc failed: m.c:1: error: oops; report it"


def test_x86_is_this_machine_or_is_simulated(
    run_json: RunJson, answer: Answer, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answer(AGREED)
    found = run_json("verify", model, "--target", "x86", "--target", "host")
    assert list(found["targets"]) == ["x86", "host"]
    assert [target for target, _ in asked] == ["host", "host"]
    run_json("verify", model, "--target", "x86", "--simulator", "unicorn")
    assert [(target, how["simulator"]) for target, how in asked[2:]] == [("x86", "unicorn")]
    asked.clear()
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    run_json("verify", model, "--target", "x86", "--target", "host")
    assert [target for target, _ in asked] == ["x86", "host"]


def test_sanitizers_watch_on_this_machine_alone(
    run: Run, refused: Refused, answer: Answer, model: Path
) -> None:
    asked = answer(AGREED)
    said = refused("verify", model, "--sanitize", "--target", "host", "--target", "avr")
    assert said == "--sanitize supports the host only, not avr; use --target host"
    assert asked == []
    said = run("verify", model, "--sanitize", "--target", "all").stderr
    assert "--sanitize supports the host only, not avr, cortex-m0, cortex-m3" in said
    assert {target for target, how in asked if how["sanitize"]} == {"host"}


def test_a_model_too_large_for_the_avr_is_told_before_it_is_built(
    run_json: RunJson, refused: Refused, answer: Answer, model: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    asked = answer(AGREED)
    monkeypatch.setattr(avr, "MOST_IN_ALL", 10)
    said = refused("verify", model, "--target", "avr")
    assert said.startswith("the model does not fit avr: ")
    assert "constants are more than the 10 that an AVR reads" in said
    found = run_json("verify", model, "--target", "all")
    assert "constants are more than the 10" in found["skipped"]["avr"]
    assert "avr" not in dict(asked)


def test_class_without_data_has_no_effect_and_says_so(
    run: Run, answer: Answer, model: Path
) -> None:
    answer(AGREED)
    assert "no effect without --data" in run("verify", model, "--class", "c").stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "avr", "--compiler", "gcc"], "the compiler 'gcc' does not support avr; use"),
        (["--simulator", "qemu"], "--simulator does not apply to host"),
        (["--simulator", "bochs"], "is not one of 'qemu', 'unicorn', 'simavr', 'all'"),
        (["--compiler", "avr-gcc"], "'avr-gcc' does not build for host"),
        (["--target", "toaster"], "is not one of"),
        (["--opt-level", "9"], "is not one of 0, 1, 2, 3, s"),
        (["--compiler", "no-such-cc"], "'no-such-cc' is not installed"),
        (["--kernel", "swar"], "is not one of 'plain', "),
        (["--optimize", "fast"], "is not one of 'balanced', 'size', 'speed'"),
        (["--random", "-1"], "not in the range"),
        (["--clock", "48M"], "--clock needs a core; add --part, or --target"),
        (["--clock", "48M", "--target", "host"], "no timing of host is known, so --clock cannot"),
        (["--part", "stm32f030", "--target", "avr"], "stm32f030 runs the code of cortex-m0, not"),
        (["--entry", "sums"], "is not one of 'predict-raw'"),
        (["--data", "absent.csv"], "does not exist"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    refused: Refused, model: Path, options: list[str], message: str
) -> None:
    assert message in refused("verify", model, *options)


def test_without_a_machine_it_is_the_c_that_emit_c_writes(
    run_json: RunJson, answer: Answer, model: Path, tmp_path: Path
) -> None:
    asked = answer(AGREED)
    run_json("verify", model)
    run_json("verify", model, "--target", "avr")
    written = tmp_path / "c"
    entries = [word for entry in ("raw", "scores", "trusted") for word in ("--with", entry)]
    run_json("emit-c", model, "-o", written, "--name", "m", "--entry", "predict-raw", *entries)
    generic, own = (how["emission"].files["m.c"] for _, how in asked)
    assert (written / "m.c").read_text(encoding="utf-8") == generic
    assert own != generic


@pytest.mark.parametrize("more", [(), ("--with", "scores")])
def test_the_c_that_emit_c_writes_is_compared(
    answer: Answer, run: Run, run_json: RunJson, tmp_path: Path, more: tuple[str, ...]
) -> None:
    """Scores and trusted states are compared, too, but have no part in the choice of the C."""
    answer(AGREED)
    path = tmp_path / "tables.bncc"
    options = ("--structure", "tables", "--folds", "0", "--quiet", "-o", path)
    sizes = ("--structure-option", "tables=6", "--structure-option", "rows=8")
    run("train", bundled_path("wifi"), *options, *sizes)
    target = ("--target", "cortex-m4")
    written = run_json("emit-c", path, *target, *more, "-o", tmp_path / "c")
    compared = run_json("verify", path, *target, *more)
    assert compared["targets"]["cortex-m4"]["kernel"] == written["kernel"]
