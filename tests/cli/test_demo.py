"""``bncc demo``: the user's day, from bundled readings to verified C."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from click.testing import Result

from bncc.cli import demo, demo_choice
from bncc.cli.demo import kernel_excerpt
from bncc.device.agreement import Agreement
from bncc.device.cross import Toolchain
from bncc.device.machine import HarnessError
from bncc.device.measure import bench_inputs
from bncc.errors import ToolchainError
from bncc.model.file import load_model
from bncc.prove import build as building
from bncc.prove.verdict import Verdict
from bncc.targets.base import Target

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]
N_BENCHED = 20
"""Rows on which the demo measures here."""


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the demo count instead of descend, try fewer inputs, measure on one target alone."""
    monkeypatch.setattr(demo, "SETTINGS", replace(demo.SETTINGS, parameters="ml"))
    monkeypatch.setattr(demo, "N_RANDOM", 200)
    monkeypatch.setattr(demo, "BENCHED", ("cortex-m0",))
    monkeypatch.setattr(demo, "PROVED", ("cortex-m0",))
    monkeypatch.setattr(
        demo, "bench_inputs", lambda model, table: bench_inputs(model, table, n_rows=N_BENCHED)
    )
    # tests/cli/test_demo_choice.py tests the rest.
    monkeypatch.setattr(demo_choice, "sweep", lambda *given: None)


@pytest.fixture
def unproved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the proof, which takes longest and which tests below try."""
    monkeypatch.setattr(demo, "_prove", lambda *given: {})


@pytest.mark.cc
@pytest.mark.usefixtures("quick", "unproved")
def test_the_whole_way(
    run: Run, run_json: RunJson, refused: Refused, require_tool: Callable[[str], str],
    tmp_path: Path,
) -> None:  # fmt: skip
    require_tool("gcc")
    out = tmp_path / "demo"
    said = run("demo", "-o", out).stdout
    for word in (
        f"$ bncc train {out}/train.csv",
        f"$ bncc evaluate {out}/robot.bncc {out}/test.csv",
        f"$ bncc emit-c {out}/robot.bncc -o {out}/c",
        f"$ bncc verify {out}/robot.bncc",
        "6. Measure on targets",
        "static void robot_sum(",
        "Summary",
        "0 differences",
        f"bncc inspect {out}/robot.bncc",
    ):
        assert word in said
    files = {str(p.relative_to(out)) for p in out.rglob("*") if p.is_file()}
    assert files >= {"train.csv", "test.csv", "robot.bncc", "c/robot.c", "c/robot.h"}
    assert load_model(out / "robot.bncc").n_features == 24

    assert "--force" in refused("demo", "-o", out)
    again = run_json("demo", "-o", out, "--force")
    assert again["agree"] is True
    assert again["mismatches"] == 0
    assert again["n_train"] + again["n_test"] == 5456
    assert again["error_test"] < 0.2
    for found in again["bench"].values():  # where there is a simulator
        assert found["predict"]["instructions"]["min"] > 100
        assert found["raw"]["instructions"]["min"] > 100
    assert set(again["bench"]) <= {"cortex-m0"}


@pytest.mark.cc
@pytest.mark.usefixtures("quick", "few_of_demo", "unproved")
def test_the_commands_that_it_shows_can_be_typed(
    run: Run, run_json: RunJson, tmp_path: Path
) -> None:
    """They repeat the steps of the demo: same error, same C."""
    out = tmp_path / "demo"
    shown = [
        line.removeprefix("$ bncc ").split()
        for line in run("demo", "-o", out).stdout.splitlines()
        if line.startswith("$ bncc ")
    ]
    train, evaluate, emit, verify, *others = shown
    first = (out / "robot.bncc").read_bytes()
    run(*train, "--parameters", "ml", "--force", "--quiet")
    assert (out / "robot.bncc").read_bytes() == first
    n_test = len((out / "test.csv").read_text("utf-8").splitlines()) - 1
    assert run_json(*evaluate)["n"] == n_test
    source = (out / "c" / "robot.c").read_bytes()
    run(*emit, "--force", "--quiet")
    assert (out / "c" / "robot.c").read_bytes() == source
    assert verify[0] == "verify"
    bench = [words for words in others if words[0] == "bench"]
    for command in bench:  # where there is a simulator
        assert command[:4] == ["bench", str(out / "robot.bncc"), "--data", str(out / "test.csv")]
        found = run_json(*command, "--rows", 3)
        assert list(found["targets"]) == command[5::2]


@pytest.mark.firmware
@pytest.mark.usefixtures("quick", "few_of_demo", "unproved")
def test_it_is_measured_on_what_is_installed(
    run: Run, require_bench: Callable[..., Toolchain], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Only a Cortex-M0 is installed here, and no AVR."""
    require_bench("cortex-m0")
    monkeypatch.setattr(demo, "BENCHED", ("avr", "cortex-m0"))

    def find(target: Target) -> None:
        if target.name != "cortex-m0":
            raise ToolchainError(f"no compiler for {target.name} is installed")

    monkeypatch.setattr(demo, "find_toolchain", find)
    said = run("demo", "-o", tmp_path / "d").stdout
    assert re.search(r"^\$ bncc bench .* --target cortex-m0$", said, re.MULTILINE)
    assert re.search(r"^predict, instructions +[\d,.]+ \(", said, re.MULTILINE)
    assert re.search(r"^on cortex-m0 +[\d,]+ bytes of flash, 0 of RAM, ", said, re.MULTILINE)


@pytest.mark.cc
@pytest.mark.usefixtures("quick", "few_of_demo", "unproved")
def test_a_cross_compiler_that_fails_does_not_end_it(
    run: Run, require_tool: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wrong decisions do."""
    require_tool("gcc")

    def fail(error: ToolchainError) -> None:
        def measure(*args: object, **how: object) -> NoReturn:
            raise error

        monkeypatch.setattr(demo.bench, "bench_target", measure)

    monkeypatch.setattr(demo, "find_toolchain", lambda target: ())
    fail(ToolchainError("avr-gcc failed: no header"))
    said = run("demo", "-o", tmp_path / "d").stdout
    assert "skipped, cortex-m0: avr-gcc failed: no header" in said
    assert "textbook: flash" not in said
    fail(HarnessError("it decides otherwise"))
    assert "it decides otherwise" in run("demo", "-o", tmp_path / "e", code=1).stderr


@pytest.mark.cc
@pytest.mark.usefixtures("quick", "few_of_demo")
def test_without_a_simulated_machine_it_says_what_to_install(
    run: Run, require_tool: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_tool("gcc")

    def none(target: Target) -> None:
        raise ToolchainError("nothing is installed")

    monkeypatch.setattr(demo, "find_toolchain", none)
    said = run("demo", "-o", tmp_path / "d").stdout
    assert "no simulated target is installed; run `pip install ziglang unicorn`" in said
    assert "$ bncc bench" not in said


@pytest.mark.firmware
@pytest.mark.usefixtures("quick", "few_of_demo")
def test_the_machine_code_is_proved(
    run: Run, run_json: RunJson, require_bench: Callable[..., Toolchain], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The command that is shown gives the same verdict about the same program."""
    require_bench("cortex-m0")
    monkeypatch.setattr(demo, "BENCHED", ())
    verdicts: list[Verdict] = []
    real = demo.verdict_of

    def judged(*given: Any, **how: Any) -> Verdict:
        verdicts.append(real(*given, **how))
        return verdicts[-1]

    monkeypatch.setattr(demo, "verdict_of", judged)
    out = tmp_path / "d"
    said = run("demo", "-o", out).stdout
    (shown,) = [line for line in said.splitlines() if line.startswith("$ bncc prove ")]
    assert "cortex-m0: predict-raw decides as the model does for every input: " in said
    assert re.search(r"^proof for cortex-m0 +predict_raw .* is proved for every", said, re.M)
    typed = run_json(*shown.split()[2:])["targets"]["cortex-m0"]["predict-raw"]
    (found,) = [one.to_json() for one in verdicts if one.entry == "predict-raw"]
    assert found["verdict"] == typed["verdict"] == "proved"
    assert found["elf"] == typed["elf"]


@pytest.mark.cc
@pytest.mark.usefixtures("quick", "few_of_demo")
@pytest.mark.parametrize("is_compiler_missing", [True, False])
def test_a_proof_that_cannot_be_tried_names_what_is_missing(
    run: Run, require_tool: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    is_compiler_missing: bool,
) -> None:  # fmt: skip
    require_tool("gcc")
    monkeypatch.setattr(demo, "BENCHED", ())

    def find(target: Target) -> None:
        if is_compiler_missing:
            raise ToolchainError(f"no compiler for {target.name} is installed; install one")

    monkeypatch.setattr(demo, "find_toolchain", find)
    if not is_compiler_missing:
        monkeypatch.setattr(building, "find_spec", lambda name: None)
    said = run("demo", "-o", tmp_path / "d").stdout
    step = said.split("\n7. Prove that ")[1].splitlines()
    words = "no compiler for cortex-m0 is installed" if is_compiler_missing else "needs capstone"
    assert step[1].startswith("skipped, ")
    assert words in step[1]
    assert step[2] == ""
    assert "$ bncc prove" not in said


@pytest.mark.usefixtures("quick", "few_of_demo")
def test_a_refutation_is_exit_code_1(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = Verdict("refuted", "predict", "rv32", "wrong-class", expected=1, actual=2)
    agreed = Agreement(True, "host", 9, 0, "few", "gcc")
    monkeypatch.setattr(demo, "verify", lambda model, **how: agreed)
    monkeypatch.setattr(demo, "host_compilers", lambda choice: ())
    monkeypatch.setattr(demo, "BENCHED", ())
    monkeypatch.setattr(demo, "_prove", lambda *given: {"rv32": [wrong]})
    result = run("demo", "-o", tmp_path / "d", "--json", code=1)
    assert json.loads(result.stdout)["prove"]["rv32"]["predict"]["verdict"] == "refuted"


@pytest.mark.usefixtures("quick", "few_of_demo", "unproved")
def test_a_disagreement_is_exit_code_1(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    differs = Agreement(False, "host", 9, 1, "few", "gcc", "predict of states 1: ...")
    monkeypatch.setattr(demo, "verify", lambda model, **how: differs)
    monkeypatch.setattr(demo, "host_compilers", lambda choice: ())
    monkeypatch.setattr(demo, "BENCHED", ())
    result = run("demo", "-o", tmp_path / "d", "--json", code=1)
    assert json.loads(result.stdout)["agree"] is False


def test_without_a_compiler_nothing_is_begun(
    refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(choice: str) -> None:
        raise ToolchainError("no C compiler is installed on this computer; run `apt install gcc`")

    monkeypatch.setattr(demo, "host_compilers", none)
    assert "no C compiler" in refused("demo", "-o", tmp_path / "d")
    assert list(tmp_path.iterdir()) == []


def test_the_excerpt_is_one_function() -> None:
    source = "/* Sum. */\nstatic void m_sum(int x)\n{\n    if (x) {\n    }\n}\n\nint other;\n"
    assert kernel_excerpt(source).splitlines()[0] == "    /* Sum. */"
    assert kernel_excerpt(source).splitlines()[-1] == "    }"
    assert "other" not in kernel_excerpt(source)
    assert kernel_excerpt("\nstatic int m_sum(void)\n{\n}\n").startswith("    static")
    assert kernel_excerpt("int x;") == ""
