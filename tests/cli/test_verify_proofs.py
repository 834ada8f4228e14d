"""``bncc verify --prove``: verdicts after the tests, their JSON object, and the exit code."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import Result

from bncc.cli import verify
from bncc.data.readers import bundled_path
from bncc.device.agreement import Agreement
from bncc.errors import ToolchainError
from bncc.prove import build as building
from bncc.prove.build import ENTRIES as ALL_ENTRIES
from bncc.prove.code import Code
from bncc.prove.verdict import Verdict

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]

ENTRIES = tuple(entry for entry in ALL_ENTRIES if entry != "scores-raw")
"""Those that are in every C."""
PROVED: dict[str, Any] = {"status": "proved", "instructions": 412, "stack": 48, "seconds": 0.42}
REFUTED: dict[str, Any] = {
    "status": "refuted", "reason": "wrong-class", "input": {"x": 3}, "expected": 2, "actual": 1,
}  # fmt: skip
OPEN: dict[str, Any] = {"status": "undecided", "reason": "cells", "detail": "too many readings"}
AGREED = Agreement(True, "cortex-m0", 12, 0, "12 random states", "gcc 12 -O2")
DIFFERS = Agreement(False, "cortex-m0", 12, 3, "12 random states", "gcc 12 -O2", "states 1, 2")


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Any]]:
    """Return ``answer(outcome, verdict, **by_entry)``, which returns what is built and proved."""

    def install(outcome: Agreement, verdict: dict[str, Any], **by_entry: dict[str, Any]) -> Any:
        asked: list[Any] = []

        def build(
            model: Any, emission: Any, bench: Any, level: str, entries: Any
        ) -> tuple[Code, dict[str, str]]:
            asked.append((bench.target.name, bench.compiler, level, emission))
            return Code(bench.target, (), {}, "5a" * 32), {entry: f"m_{entry}" for entry in entries}

        def prove(model: Any, code: Code, symbol: str, entry: str, **how: Any) -> Verdict:
            asked.append((entry, how["time_limit"]))
            said = by_entry.get(entry.replace("-", "_"), verdict)
            return Verdict(entry=entry, target=code.target.name, **said)

        def find(target: Any, *, compiler: str | None = None, **_: Any) -> tuple[Any, ...]:
            return (SimpleNamespace(target=target, compiler=compiler or "gcc"),)

        monkeypatch.setattr(verify, "verify", lambda *given, **how: outcome)
        monkeypatch.setattr(verify, "host_compilers", lambda choice: ())
        monkeypatch.setattr(verify, "find_toolchain", find)
        monkeypatch.setattr(building, "build", build)
        monkeypatch.setitem(sys.modules, "bncc.prove.prove", SimpleNamespace(prove=prove))
        return asked

    return install


@pytest.mark.parametrize(
    ("outcome", "others", "code"),
    [
        (AGREED, {}, 0),
        (AGREED, {"scores": OPEN}, 3),
        (AGREED, {"scores": OPEN, "predict": REFUTED}, 1),
        (DIFFERS, {}, 1),
        (DIFFERS, {"scores": OPEN}, 1),
    ],
)
def test_the_exit_code_is_that_of_tests_and_proofs(
    run: Run,
    run_json: RunJson,
    answer: Callable[..., list[Any]],
    model: Path,
    outcome: Agreement,
    others: dict[str, Any],
    code: int,
) -> None:
    """A disagreement or a refutation is 1, else an undecided entry point is 3."""
    answer(outcome, PROVED, **others)
    words = ("verify", model, "--target", "cortex-m0")
    found = run_json(*words, "--prove", code=code)
    assert found["agree"] is outcome.agree
    assert found["proved"] is (not others)
    proofs = found["targets"]["cortex-m0"]["proofs"]
    assert {entry: each["verdict"] for entry, each in proofs.items()} == {
        entry: others.get(entry, PROVED)["status"] for entry in ENTRIES
    }
    lines = run(*words, "--prove", code=code).stdout.splitlines()
    assert len(lines) == 1 + len(ENTRIES)
    without = run_json(*words, code=int(not outcome.agree))
    assert "proved" not in without
    assert "proofs" not in without["targets"]["cortex-m0"]


def test_what_was_tested_is_proved(
    run_json: RunJson, answer: Callable[..., list[Any]], model: Path
) -> None:
    """With the compiler, level and options of the tests, on every target of proofs."""
    asked = answer(AGREED, PROVED)
    result = run_json(
        "verify", model, "--target", "cortex-m4", "--target", "host", "--target", "rv32", "--prove",
        "--compiler", "ziglang", "--opt-level", "3", "--kernel", "plain", "--time-limit", "2m",
        "--provable",
    )  # fmt: skip
    built = [each for each in asked if len(each) == 4]
    assert [each[:3] for each in built] == [
        (target, "ziglang", "-O3") for target in ("cortex-m4", "rv32")
    ]
    for *_, emission in built:
        options = emission.lowered.request.options
        assert (options.kernel, options.provable) == ("plain", True)
        assert {"scores", "trusted", "raw"} <= options.entries
    assert [each for each in asked if len(each) == 2] == 2 * [(entry, 120.0) for entry in ENTRIES]
    assert result["targets"]["host"]["proofs"] == {}


def test_people_read_what_is_tested_only(
    run: Run, answer: Callable[..., list[Any]], model: Path
) -> None:
    answer(AGREED, PROVED)
    words = ("--target", "host", "--target", "rv32", "--with", "stream", "--prove")
    said = run("verify", model, *words)
    assert "rv32: trusted decides as the model does for every input: 412" in said.stdout
    assert said.stderr.splitlines() == [
        "bncc: proofs do not cover host yet; tested only",
        "bncc: proofs do not cover entry point stream yet; tested only",
    ]
    said = run("verify", model, "--target", "rv32", "--time-limit", "9")
    assert said.stderr == "bncc: --time-limit has no effect without --prove\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "use --target cortex-m0 or "),
        (["--target", "avr", "--target", "x86"], "use --target cortex-m0 or "),
        (["--target", "rv32", "--compiler", "all"], "name one compiler"),
    ],
)
def test_proofs_that_cannot_be_tried_are_refused(
    refused: Refused,
    answer: Callable[..., list[Any]],
    monkeypatch: pytest.MonkeyPatch,
    model: Path,
    words: list[str],
    message: str,
) -> None:
    answer(AGREED, PROVED)
    monkeypatch.setattr(verify, "TARGETS", ("cortex-m0", "rv32"))
    assert message in refused("verify", model, "--prove", *words)


def test_a_missing_decoder_is_reported_before_the_tests(
    refused: Refused,
    answer: Callable[..., list[Any]],
    monkeypatch: pytest.MonkeyPatch,
    model: Path,
) -> None:
    asked = answer(AGREED, PROVED)
    monkeypatch.setattr(building, "find_spec", lambda name: None)
    assert "capstone" in refused("verify", model, "--target", "rv32", "--prove")
    assert asked == []


@pytest.mark.parametrize(
    "words",
    [("prove",), ("verify", "--target", "cortex-m0", "--prove"), ("bench", "--part", "stm32f030")],
)
def test_a_capstone_that_does_not_load_is_named(
    refused: Refused, model: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """As one whose library is missing, which raises ImportError."""
    monkeypatch.setitem(sys.modules, "capstone", None)
    monkeypatch.setattr(building, "find_spec", lambda name: object())
    monkeypatch.setattr("bncc.timing.timebase.find_spec", lambda name: object())
    command, *options = words
    line = refused(command, model, *options)
    assert line.startswith("capstone is installed, but does not load (")
    assert line.endswith("; install it again by `pip install --force-reinstall capstone`")


def test_a_failed_build_names_the_target(
    refused: Refused,
    answer: Callable[..., list[Any]],
    monkeypatch: pytest.MonkeyPatch,
    model: Path,
) -> None:
    def fail(*_: Any) -> None:
        raise ToolchainError("the linker failed")

    answer(AGREED, PROVED)
    monkeypatch.setattr(building, "build", fail)
    said = refused("verify", model, "--target", "rv32", "--prove")
    assert said == "rv32: the linker failed"


@pytest.mark.firmware
def test_a_trained_model_is_tested_and_proved(
    run: Run, run_json: RunJson, require_bench: Callable[..., object], tmp_path: Path
) -> None:
    require_bench("cortex-m0")
    model = tmp_path / "rooms.bncc"
    data = bundled_path("wifi")
    run("train", data, "--structure", "naive", "--parameters", "ml", "--folds", 0, "-o", model)
    found = run_json("verify", model, "--target", "cortex-m0", "--random", 5, "--prove")
    assert (found["agree"], found["proved"]) == (True, True)
    for each in found["targets"]["cortex-m0"]["proofs"].values():
        assert each["instructions"]["max"] > 0
        assert each["elf"] == found["targets"]["cortex-m0"]["proofs"]["predict"]["elf"]
