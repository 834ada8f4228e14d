"""``bncc demo`` ends with a study and the page about it."""

import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from bncc.cli import demo, demo_choice
from bncc.device.cross import Toolchain
from bncc.errors import StudyError
from bncc.report.sheets import sheets_of
from bncc.search.study import read_study
from bncc.search.trial_result import Study
from tests import studies
from tests.cli.sweeping import SPACE

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]


@pytest.fixture(autouse=True)
def quick(few_of_demo: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Make it count, measure and prove nothing, and try only three classifiers."""
    monkeypatch.setattr(demo, "SETTINGS", replace(demo.SETTINGS, parameters="ml"))
    monkeypatch.setattr(demo, "N_RANDOM", 200)
    monkeypatch.setattr(demo, "BENCHED", ())
    monkeypatch.setattr(demo, "_prove", lambda *given: {})
    monkeypatch.setattr(demo_choice, "N_TRIALS", 3)
    (tmp_path / "space.toml").write_text(SPACE)
    monkeypatch.setattr(demo_choice, "SPACE", str(tmp_path / "space.toml"))


def commands(said: str) -> list[list[str]]:
    """Return the words of the commands that were shown, without the program's name."""
    lines = [line for line in said.splitlines() if line.startswith("$ bncc ")]
    return [shlex.split(line)[2:] for line in lines]


@pytest.mark.cc
def test_its_last_commands_can_be_typed(
    run: Run, run_json: RunJson, require_tool: Callable[[str], str], tmp_path: Path
) -> None:
    """The first command continues the study, the second writes the same page."""
    require_tool("gcc")
    out = tmp_path / "a demo"
    said = run("demo", "-o", out).stdout
    *_, sweep, report = commands(said)
    assert sweep == [
        "sweep", str(out / "train.csv"), "--test", str(out / "test.csv"), "--study",
        str(out / "study.db"), "--trials", "3", "--jobs", "2", "--target", "none",
    ]  # fmt: skip
    page = (out / "report.html").read_bytes()
    assert run(*report, "--force").exit_code == 0
    assert (out / "report.html").read_bytes() == page
    before = read_study(str(out / "study.db"))[0].points
    words = (*sweep, "--space", tmp_path / "space.toml")
    assert run_json(*words)["finished"] == 3
    assert read_study(str(out / "study.db"))[0].points == before
    sweep[sweep.index("--trials") + 1] = "4"
    assert run_json(*sweep, "--space", tmp_path / "space.toml")["finished"] == 4
    # No path of the folder in which it was made is stored.
    for file in (out / "study.db", out / "report.html"):
        assert b".bncc-" not in file.read_bytes()
    assert all(shlex.quote(str(out / "train.csv")) in point.command for point in before)
    assert not [path for path in out.iterdir() if path.name.startswith(".")]


@pytest.mark.cc
def test_the_object_names_the_page(
    run: Run, run_json: RunJson, require_tool: Callable[[str], str], tmp_path: Path
) -> None:
    require_tool("gcc")
    out = tmp_path / "demo"
    found = run_json("demo", "-o", out)
    assert found["report"] == str(out / "report.html")
    assert found["trials"] == 3
    first = read_study(str(out / "study.db"))[0].points
    said = run("demo", "-o", out, "--force").stdout
    assert f"open {out}/report.html in a browser" in said
    assert "of tables, " in said
    again = read_study(str(out / "study.db"))[0].points
    untimed = [[replace(point, seconds=0.0) for point in some] for some in (first, again)]
    assert untimed[0] == untimed[1]


@pytest.mark.cc
def test_failed_trials_are_named_with_their_reasons(
    run: Run, run_json: RunJson, require_tool: Callable[[str], str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    require_tool("gcc")
    failed = {4: "zig failed: m.c:112:12: error: implicit conversion", 7: "no room\x1b[2J"}

    def read(path: str) -> list[Study]:
        return [replace(study, failed=failed) for study in read_study(path)]

    monkeypatch.setattr(demo_choice, "read_study", read)
    monkeypatch.setattr(demo_choice, "N_TRIALS", 1)
    said = run("demo", "-o", tmp_path / "d").stdout
    assert "trial 4 failed: zig failed: m.c:112:12: error: implicit conversion\n" in said
    assert re.search("^trial 7 failed: no room", said, re.MULTILINE)
    assert "\x1b" not in said
    assert re.search(
        "^alternatives +1 classifiers; 2 trials failed, see above$", said, re.MULTILINE
    )
    found = run_json("demo", "-o", tmp_path / "d", "--force")["failed"]
    assert found == [{"number": n, "reason": reason} for n, reason in failed.items()]


@pytest.mark.firmware
def test_it_measures_on_a_machine_that_works(
    run: Run,
    require_bench: Callable[..., Toolchain],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    require_bench("cortex-m0")
    monkeypatch.setattr(demo, "BENCHED", ("cortex-m0",))
    monkeypatch.setattr(demo_choice, "N_TRIALS", 1)
    said = run("demo", "-o", tmp_path / "d").stdout
    *_, sweep, _ = commands(said)
    assert sweep[-2:] == ["--target", "cortex-m0"]
    assert "of flash on cortex-m0, " in said


@pytest.mark.cc
def test_without_optuna_it_says_what_to_install(
    run: Run, run_json: RunJson, require_tool: Callable[[str], str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    require_tool("gcc")

    def absent() -> None:
        raise StudyError("it needs something; run `pip install -e '.[sweep]'` in bncc's clone")

    monkeypatch.setattr(demo_choice, "check_optuna", absent)
    said = run("demo", "-o", tmp_path / "d").stdout
    assert "skipped, it needs something; run `pip install -e '.[sweep]'` in bncc's clone" in said
    assert "bncc sweep" not in said
    assert "alternatives" not in said
    found = run_json("demo", "-o", tmp_path / "d", "--force")
    assert (found["report"], found["trials"]) == (None, 0)


@pytest.mark.cc
def test_without_altair_there_is_a_study_and_no_page(
    run: Run, run_json: RunJson, require_tool: Callable[[str], str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    require_tool("gcc")
    monkeypatch.setitem(sys.modules, "altair", None)
    said = run("demo", "-o", tmp_path / "d").stdout
    assert "skipped, a page needs altair and vl-convert; run `pip install -e '.[report]'`" in said
    assert "in a browser" not in said
    assert sorted(path.name for path in (tmp_path / "d").iterdir()) == [
        "c", "robot.bncc", "study.db", "test.csv", "train.csv",
    ]  # fmt: skip
    found = run_json("demo", "-o", tmp_path / "d", "--force")
    assert (found["report"], found["trials"]) == (None, 3)


def test_the_gist_is_of_a_small_budget_and_of_a_larger_one() -> None:
    (sheet,) = sheets_of([studies.study(60)], None, (300, 1024, 8192, 65536))
    advice = sheet.views[0].advice
    assert demo_choice.gist(sheet) == (advice[0].sentences[0], advice[2].sentences[0])
    (sheet,) = sheets_of([studies.study(60)], None, (1 << 20,))
    assert len(demo_choice.gist(sheet)) == 1
