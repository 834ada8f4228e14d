"""The final output of ``bncc sweep``, the same JSON as ``bncc report``, and refused rows."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from bncc.cli.sweep_report import Finding, payload_of, report_of
from bncc.data.readers import bundled_path
from bncc.report.formats import report_json
from bncc.report.sheets import sheets_of
from bncc.resources import Budget
from bncc.search.objective import best_within
from bncc.search.study import read_study
from bncc.search.trial_result import Study
from tests import studies
from tests.cli.conftest import HEADER, sensor_rows, write_csv
from tests.cli.sweeping import SPACE

Run = Callable[..., Result]
RunJson = Callable[..., Any]
Refused = Callable[..., str]

CONTRACT = {"study", "finished", "failed", "pareto"}
OF_A_TRIAL = {
    "number", "params", "error_validation", "error_test", "bits", "flash", "instructions",
    "command",
}  # fmt: skip


def finding_of(study: Study, targets: tuple[str, ...], **limits: int) -> Finding:
    """Return the finding of a sweep with these points."""
    limit = Budget(targets[0] if targets else None, **limits)
    best = best_within(study.points, limit)
    return Finding(
        "wifi.study", len(study.points), study.points, study.failed, targets, limit, best, None
    )


@pytest.mark.parametrize("targets", [("cortex-m0",), ("avr", "cortex-m0"), ()])
def test_sweep_and_report_tell_a_trial_alike(targets: tuple[str, ...]) -> None:
    study = studies.study(60, targets=targets)
    swept = payload_of(finding_of(study, targets))
    found = report_json(sheets_of([study]))
    for payload in (swept, found):
        assert set(payload) >= CONTRACT
        assert json.loads(json.dumps(payload, allow_nan=False))
    for key in ("finished", "failed"):
        assert swept[key] == found[key]
    told = [{k: v for k, v in trial.items() if k != "study"} for trial in found["pareto"]]
    assert told == swept["pareto"]
    assert {trial["study"] for trial in found["trials"]} == {"wifi.study"}
    assert [trial["number"] for trial in found["trials"]] == list(range(60))
    for trial in (*swept["pareto"], *found["trials"]):
        assert set(trial) >= OF_A_TRIAL


@pytest.mark.parametrize(
    ("target", "unit", "other"),
    [("cortex-m0", "instructions", "cycles"), ("avr", "cycles", "instructions")],
)
def test_cycles_are_not_called_instructions(target: str, unit: str, other: str) -> None:
    study = studies.study(30, targets=(target,))
    for trial in payload_of(finding_of(study, (target,)))["pareto"]:
        cost = study.points[trial["number"]].footprint(target)
        assert cost is not None
        assert (trial[unit], trial[f"{unit}_max"]) == (cost.mean, cost.most)
        assert (trial[other], trial[f"{other}_max"]) == (None, None)


def test_the_best_is_told_with_what_it_takes() -> None:
    finding = finding_of(studies.study(60), ("avr",), flash=600, instructions=2000)
    best = finding.best
    assert best is not None
    cost = best.footprint("avr")
    assert cost is not None
    (line,) = (line for line in report_of(finding).splitlines() if line.startswith("best"))
    assert f", {cost.flash} bytes of flash, at most {cost.most} cycles for predict (" in line


def test_trials_that_fit_nowhere_are_told_with_the_reason() -> None:
    study = studies.study(40)
    big = tuple(p for p in study.points if p.footprint("avr") is None)[:3]
    assert big
    found = Study(study.name, study.facts, big, {})
    told = report_of(finding_of(found, ("avr",)))
    reason = big[-1].costs["avr"]
    assert told.startswith(f"None of {len(big)} trials fits avr: {reason}.\n")
    assert " · no model fits avr" in sheets_of([found])[0].lede
    assert "no model fits" not in sheets_of([study])[0].lede


@pytest.fixture
def options(tmp_path: Path) -> tuple[object, ...]:
    """Return options of a sweep that measures nothing."""
    return ("--study", tmp_path / "s.db", "--target", "none", "--trials", 1)


def test_rows_of_which_nothing_can_come_are_refused_at_once(
    refused: Refused, tmp_path: Path, options: tuple[object, ...]
) -> None:
    rows = sensor_rows(30)
    one = write_csv(tmp_path / "one.csv", HEADER, [r for r in rows if r[-1] == rows[0][-1]])
    assert "contains a single class" in refused("sweep", one, *options)
    few = write_csv(tmp_path / "few.csv", HEADER, list({r[-1]: r for r in rows}.values()))
    assert "too few rows for a validation set" in refused("sweep", few, *options)
    assert not (tmp_path / "s.db").exists()


def test_without_a_finished_trial_nothing_is_picked(
    run: Run, tmp_path: Path, options: tuple[object, ...]
) -> None:
    data = write_csv(tmp_path / "d.csv", HEADER, sensor_rows(60))
    model = tmp_path / "m.bncc"
    result = run("sweep", data, *options, "--time-limit", "0s", "--pick", model, code=1)
    assert result.stderr.splitlines()[-1] == (
        "bncc: error: no trial has finished, so there is none to choose from; repeat the command"
    )
    assert not model.exists()


@pytest.mark.cc
@pytest.mark.parametrize("optimize", ["size", "speed"])
def test_the_command_behind_a_pick_emits_what_was_measured(
    run: Run, run_json: RunJson, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, optimize: str,
    require_bench: Callable[..., object],
) -> None:  # fmt: skip
    require_bench("x86")
    monkeypatch.chdir(tmp_path)
    space = SPACE + f'[optimize]\nvalue = "{optimize}"\n'
    Path("space.toml").write_text(space, encoding="utf-8")
    words = [bundled_path("wifi"), "--study", "s.db", "--space", "space.toml", "--trials", 1]
    words += ["--repeats", 1, "--target", "x86", "--pick", "best.bncc", "--entry", "scores"]
    (line,) = (w for w in run("sweep", *words).stdout.splitlines() if w.startswith("emit"))
    emit, measured = line.split(maxsplit=1)[1].split("; measured with ")
    assert (
        emit == f"bncc emit-c best.bncc --target x86 --optimize {optimize} --entry scores -o best"
    )
    run(*shlex.split(emit)[1:])
    level = ("--opt-level", measured, "--optimize", optimize)
    found = run_json(
        "bench",
        "best.bncc",
        "--target",
        "x86",
        "--data",
        bundled_path("wifi"),
        *level,
        "--entry",
        "scores",
    )
    (study,) = read_study("s.db")
    cost = study.points[0].footprint("x86")
    assert cost is not None
    assert found["targets"]["x86"]["flash"] == cost.flash
    assert "best_scores(" in Path("best", "best.h").read_text("utf-8")
