"""``bncc verify``: whether the C agrees, and what is said when it does not."""

import platform
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from click.testing import Result

from bncc.build.agreement import Agreement
from bncc.cli import verify

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]
Tool = Callable[[str], str]

AGREED = Agreement(True, "host", 1234, 0, "all 12 joint states", "gcc 12 -O2")
DIFFERS = replace(AGREED, agree=False, mismatches=3, first_mismatch="raw of readings 1, 2: ...")


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Callable[[Agreement], dict[str, Any]]:
    """Let the build answer with a given outcome; return what it is asked."""
    asked: dict[str, Any] = {}

    def install(outcome: Agreement) -> dict[str, Any]:
        def fake(model: object, **how: object) -> Agreement:
            asked.update(how)
            return outcome

        monkeypatch.setattr(verify, "verify", fake)
        monkeypatch.setattr(platform, "machine", lambda: "x86_64")
        return asked

    return install


Answer = Callable[[Agreement], dict[str, Any]]


@pytest.mark.cc
def test_the_c_agrees_with_the_model(
    run_json: RunJson, require_tool: Tool, model: Path, readings: Path
) -> None:
    require_tool("gcc")
    found = run_json("verify", model, "--data", readings, "--compiler", "gcc", "--random", 50)
    assert found["agree"] is True
    host = found["targets"]["host"]
    assert set(host) == {"checked", "mismatches", "strength", "toolchain"}
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


def test_a_mismatch_is_exit_code_1(
    run: Run, run_json: RunJson, answer: Answer, model: Path
) -> None:
    answer(DIFFERS)
    found = run_json("verify", model, code=1)
    assert found["agree"] is False
    assert found["targets"]["host"]["first_mismatch"] == DIFFERS.first_mismatch
    result = run("verify", model, code=1)
    assert "DISAGREES with the Python model on 3 of 1,234 inputs" in result.stdout
    assert result.stderr == ""


def test_options_reach_the_build(run: Run, answer: Answer, model: Path, readings: Path) -> None:
    asked = answer(AGREED)
    options = ["--compiler", "clang", "--opt-level", "-O3", "--sanitize", "--random", 7]
    run("verify", model, *options, "--exhaustive", "--data", readings)
    assert asked.pop("table").n_rows == 240
    assert asked == {
        "compiler": "clang",
        "opt_level": "-O3",
        "sanitize": True,
        "n_random": 7,
        "exhaustive": True,
    }


def test_all_runs_the_host_and_reports_the_rest(
    run: Run, run_json: RunJson, answer: Answer, model: Path
) -> None:
    answer(AGREED)
    found = run_json("verify", model, "--target", "all")
    assert list(found["targets"]) == ["host", "x86"]
    skipped = ["avr", "cortex-m0", "cortex-m3", "cortex-m4", "cortex-m7", "rv32", "big-endian"]
    assert list(found["skipped"]) == skipped
    said = run("verify", model, "--target", "all").stdout
    assert "avr: skipped, this version runs on the host alone" in said


def test_x86_is_this_machine_or_an_error(
    run_json: RunJson,
    refused: Refused,
    answer: Answer,
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer(AGREED)
    found = run_json("verify", model, "--target", "x86", "--target", "host")
    assert list(found["targets"]) == ["x86", "host"]
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert "not an x86" in refused("verify", model, "--target", "x86")
    assert "x86" in run_json("verify", model, "--target", "all")["skipped"]


def test_class_without_data_has_no_effect_and_says_so(
    run: Run, answer: Answer, model: Path
) -> None:
    answer(AGREED)
    assert "no effect without --data" in run("verify", model, "--class", "c").stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "avr"], "--target avr arrives with a later version of bncc; use --target"),
        (["--target", "toaster"], "is not one of"),
        (["--opt-level", "9"], "is none of 0, 1, 2, 3, s"),
        (["--compiler", "no-such-cc"], "'no-such-cc' is not installed"),
        (["--kernel", "swar"], "use --kernel plain"),
        (["--optimize", "speed"], "leave it out"),
        (["--random", "-1"], "not in the range"),
        (["--data", "absent.csv"], "does not exist"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    refused: Refused, model: Path, options: list[str], message: str
) -> None:
    assert message in refused("verify", model, *options)
