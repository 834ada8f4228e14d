"""``bncc report``: formats by name, one-sentence errors, nothing overwritten."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

from bncc.errors import StudyError
from bncc.search.trial_result import Study
from tests import studies

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]


@pytest.fixture(autouse=True)
def stored(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[Study, ...]]:
    """Return the studies that can be read, by place."""
    wifi = studies.study(30)
    known = {
        "wifi.study": (wifi,),
        "two": (wifi, replace(studies.study(8, seed=1), name="other")),
        "empty": (replace(wifi, points=()),),
        "unmeasured": (studies.study(8, targets=()),),
    }

    def read(place: str) -> tuple[Study, ...]:
        if place not in known:
            raise StudyError(f"'{place}' is no study; run `bncc sweep` first")
        return known[place]

    monkeypatch.setattr("bncc.search.study.read_study", read)
    return known


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("r.html", "<!doctype html>"),
        ("r.HTM", "<!doctype html>"),
        ("r.md", "# Which classifier for wifi?"),
        ("r.csv", "study,number,family"),
        ("r.json", "{"),
        ("r.svg", "<svg "),
    ],
)
def test_the_ending_chooses_the_format(run: Run, tmp_path: Path, name: str, start: str) -> None:
    result = run("report", "wifi.study", "-o", tmp_path / name)
    assert (tmp_path / name).read_text("utf-8").startswith(start)
    assert result.stdout == ""
    assert "30 trials, 1 failed" in result.stderr


@pytest.mark.parametrize("form", ["html", "md", "csv", "json", "svg"])
def test_names_that_are_no_text_are_escaped(
    run: Run, tmp_path: Path, stored: dict[str, tuple[Study, ...]], form: str
) -> None:
    name = "\udcff.db"  # as of a file whose name is not UTF-8
    (wifi,) = stored["wifi.study"]
    points = tuple(replace(p, command=f"{p.command} '{name}'") for p in wifi.points)
    stored["odd"] = (replace(wifi, name=name, points=points),)
    run("report", "odd", "-o", tmp_path / f"r.{form}")
    assert "\\udcff.db" in (tmp_path / f"r.{form}").read_text("utf-8")


@pytest.mark.parametrize("form", ["md", "csv", "json", "svg"])
def test_without_a_file_the_report_goes_to_stdout(run: Run, tmp_path: Path, form: str) -> None:
    file = tmp_path / "r"
    run("report", "two", "--format", form, "-o", file, "--quiet")
    result = run("report", "two", "--format", form, "--quiet")
    assert result.stdout.splitlines() == file.read_text("utf-8").splitlines()


def test_parquet_has_the_cells_of_csv(run: Run, tmp_path: Path) -> None:
    for form in ("csv", "parquet"):
        run("report", "two", "-o", tmp_path / f"r.{form}")
    found = pd.read_parquet(tmp_path / "r.parquet")
    read = pd.read_csv(tmp_path / "r.csv")
    assert list(found) == list(read)
    assert len(found) == len(read) == 38
    for name in ("error_validation", "bits", "flash_avr"):
        assert np.array_equal(found[name].to_numpy(float), read[name].to_numpy(float), True)


def test_json_tells_all_trials(run_json: RunJson, tmp_path: Path) -> None:
    found = run_json("report", "two", "-o", tmp_path / "r.html", "--target", "avr")
    assert found["finished"] == len(found["trials"]) == 38
    assert found["study"] == ["wifi.study", "other"]
    assert (found["format"], found["target"]) == ("html", "avr")
    assert "report" not in run_json("report", "wifi.study")


def test_a_file_read_twice_counts_once_and_namesakes_differ(run_json: RunJson) -> None:
    found = run_json("report", "wifi.study", "wifi.study", "two")
    assert found["study"] == ["wifi.study", "wifi.study (2)", "other"]
    other = Path("..", Path.cwd().name, "wifi.study")  # the same file
    assert run_json("report", "wifi.study", other)["study"] == "wifi.study"


def test_budgets_of_the_user_replace_the_usual(run: Run) -> None:
    text = run("report", "wifi.study", "--format", "md", "--budget", "700", "--budget", "3k").stdout
    assert len(re.findall(r"^- In .* of flash", text, re.MULTILINE)) == 2
    assert "- In 700 bytes of flash" in text
    assert "- In 3 KB of flash" in text


def test_studies_without_trials_are_left_out(run: Run) -> None:
    result = run("report", "empty", "unmeasured", "--format", "json")
    assert "skipped" in result.stderr
    assert json.loads(result.stdout)["target"] is None


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["nowhere", "--format", "md"], "'nowhere' is no study"),
        (["empty", "--format", "md"], "'empty' has no finished trial; run `bncc sweep`"),
        (["wifi.study"], "choose --format md"),
        (
            ["wifi.study", "--format", "html"],
            "needs an output file; add one such as -o report.html",
        ),
        (
            ["wifi.study", "--format", "parquet"],
            "needs an output file; add one such as -o report.parquet",
        ),
        (["wifi.study", "-o", "r.pdf"], "selects no format"),
        (["wifi.study", "--format", "md", "--target", "rv32"], "one of cortex-m0, avr"),
        (["unmeasured", "--format", "md", "--target", "avr"], "leave out --target"),
        (["wifi.study", "--format", "md", "--budget", "0"], "0 bytes cannot hold a classifier"),
        (["wifi.study", "--format", "md", "--budget", "4x"], "not a number of bytes"),
        ([], "STUDY"),
    ],
)
def test_what_cannot_be_done_is_said(refused: Refused, args: list[str], told: str) -> None:
    assert told in refused("report", *args)


def test_nothing_is_overwritten_without_force(run: Run, refused: Refused, tmp_path: Path) -> None:
    file = tmp_path / "r.md"
    file.write_text("mine")
    assert "--force" in refused("report", "wifi.study", "-o", file)
    assert file.read_text() == "mine"
    run("report", "wifi.study", "-o", file, "--force", "--title", "Mine")
    assert file.read_text("utf-8").startswith("# Mine\n")
