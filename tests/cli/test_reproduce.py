"""``bncc reproduce``: the paper's table compared with ours."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import Result

from bncc.cli.reproduce import TABLES
from bncc.papers import experiments
from bncc.papers.experiments import MODULES, Cell, Effort, Experiment, Request, find_experiment
from tests.uci import write_set

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]

CELLS = (
    {"row": "letter", "column": "NB ML", "paper": 25.89, "ours": 25.891, "n": 6658, "note": None},
    {"row": "mnist", "column": "NB ML", "paper": 17.34, "ours": None, "n": None, "note": "absent"},
)


def test_cells_are_printed_side_by_side(
    run: Run, run_json: RunJson, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Request] = []

    def fake(_: Experiment[Any], request: Request, advance: object) -> tuple[Cell, ...]:
        asked.append(request)
        return CELLS

    monkeypatch.setattr(experiments, "reproduce", fake)
    assert run_json("reproduce", "s0-table1", "--data", "folder", "--quick") == {
        "cells": list(CELLS)
    }
    lines = run("reproduce", "s0-table1").stdout.splitlines()
    assert asked == [Request(Path("folder"), quick=True), Request(Path())]
    assert lines[-2].split() == ["letter", "NB", "ML", "25.89", "25.89", "6658"]
    assert lines[-1].split() == ["mnist", "NB", "ML", "17.34", "-", "absent"]


@pytest.mark.parametrize("name", ["cells.csv", "cells.parquet"])
def test_cells_are_written_as_a_table(
    run: Run, refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(experiments, "reproduce", lambda *_: CELLS)
    path = tmp_path / name
    said = run("reproduce", "s0-table1", "-o", path).stderr
    assert f"wrote {path}: 2 cells" in said
    frame = pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
    assert list(frame) == ["table", "row", "column", "paper", "ours", "n", "note"]
    assert frame["table"].tolist() == ["s0-table1"] * 2
    assert frame["ours"].tolist()[0] == 25.891
    assert frame["ours"].isna().tolist() == [False, True]
    assert "use --force" in refused("reproduce", "s0-table1", "-o", path)
    monkeypatch.setattr(experiments, "reproduce", None)
    assert "not as 'x.json'" in refused("reproduce", "s0-table1", "-o", "x.json")


def test_each_table_says_what_its_numbers_are(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments, "reproduce", lambda *_: CELLS[:1])
    assert run("reproduce", "s0-table1").stdout.startswith("classification error, percent\n")
    said = run("reproduce", "s0-recover-chow-liu").stdout
    assert said.startswith("parents of the Chow-Liu tree found again, percent\n")
    assert "mnist" not in said


def test_counts_and_chances_are_printed_as_such(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"wins": (58, 57), "median": (None, -0.00671), "p": (8e-12, 1.84e-5)}
    cells = tuple(
        {"row": "ETAN vs TAN", "column": c, "paper": p, "ours": o, "n": 58, "note": None}
        for c, (p, o) in values.items()
    )
    monkeypatch.setattr(experiments, "reproduce", lambda *_: cells)
    lines = run("reproduce", "s2-table1").stdout.splitlines()
    assert lines[0].endswith(", wins, ties and losses over data sets")
    assert [line.split()[-3:] for line in lines[-3:]] == [
        ["58", "57", "58"],
        ["-", "-0.0067", "58"],
        ["8e-12", "1.8e-05", "58"],
    ]


def test_counts_are_printed_whole(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [
        {"row": "usps", "column": "N", "paper": 982272, "ours": 1000, "n": 8000, "note": None},
        {"row": "dcmall", "column": "N", "paper": 191, "ours": None, "n": None, "note": "absent"},
    ]
    monkeypatch.setattr(experiments, "reproduce", lambda *_: cells)
    lines = run("reproduce", "s1-table3").stdout.splitlines()
    assert lines[0] == "model complexity, counts"
    assert lines[-2].split() == ["usps", "N", "982,272", "1,000", "8000"]
    assert lines[-1].split() == ["dcmall", "N", "191", "-", "absent"]


def test_a_search_is_steered(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Request] = []

    def fake(_: Experiment[Any], request: Request, advance: object) -> tuple[Cell, ...]:
        asked.append(request)
        return CELLS

    monkeypatch.setattr(experiments, "reproduce", fake)
    steering = ("--runs", "4", "--epochs", "5", "--jobs", "2", "--checkpoint", "log")
    part = ("--row", "usps", "--row", "letter", "--column", "NB HYB")
    assert "no effect" not in run("reproduce", "s0-table1", *steering, *part).stderr
    effort = Effort(4, 5, 2, Path("log"))
    assert asked == [Request(Path(), False, ("usps", "letter"), ("NB HYB",), effort)]


def test_options_that_an_experiment_does_not_heed_are_noted(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiments, "reproduce", lambda *_: CELLS)
    said = run("reproduce", "s0-table1", "--quick", "--jobs", "2").stderr
    assert "--jobs has no effect on s0-table1 --quick" in said
    said = run("reproduce", "s0-table1", "--quick", "--column", "NB HYB", "--runs", "1").stderr
    assert "no effect" not in said, "a trained column that is named is searched"
    said = run("reproduce", "s0-recover-chow-liu", "--runs", "9").stderr
    assert "--runs has no effect on s0-recover-chow-liu\n" in said
    assert "--jobs" not in said


def test_every_table_of_the_contract_can_be_repeated() -> None:
    assert set(MODULES) == set(TABLES)
    for table in TABLES:
        assert find_experiment(table).title


def test_an_unknown_table_is_refused(refused: Refused) -> None:
    assert "'s9-table9' is not one of" in refused("reproduce", "s9-table9")


def test_absent_data_are_one_line(refused: Refused, tmp_path: Path) -> None:
    assert "letter.npz" in refused("reproduce", "s0-table1", "--data", tmp_path)


def test_the_tables_of_a_study_heed_what_steers_it(
    run: Run, refused: Refused, tmp_path: Path
) -> None:
    write_set(tmp_path / "iris.arff", n_rows=40)
    steering = ("--runs", "2", "--checkpoint", tmp_path / "log", "--column", "wins")
    done = run("reproduce", "s2-table4", "--data", tmp_path, *steering, "--epochs", "3")
    assert "--epochs has no effect on s2-table4\n" in done.stderr
    assert done.stderr.count("no effect") == 1
    assert len(done.stdout.splitlines()) == 3 + 6
    assert "has no ARFF files" in refused("reproduce", "s2-table2", "--data", tmp_path / "log")


@pytest.mark.shared
def test_the_six_cells_come_out_to_the_printed_digit(run_json: RunJson, shared_data: Path) -> None:
    found = run_json("reproduce", "s0-table1", "--data", shared_data / "paper", "--quick")
    ours = {(c["row"], c["column"]): round(c["ours"], 2) for c in found["cells"]}
    assert ours == {
        ("letter", "NB ML"): 25.89,
        ("letter", "Chow-Liu ML"): 15.23,
        ("satimage", "NB ML"): 17.95,
        ("satimage", "Chow-Liu ML"): 11.90,
        ("usps", "NB ML"): 13.11,
        ("usps", "Chow-Liu ML"): 8.74,
    }
    assert all(round(c["ours"], 2) == c["paper"] for c in found["cells"])
