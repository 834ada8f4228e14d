"""``bncc reproduce``: the paper's table, ours beside it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from bncc.bench import recover, reproduce
from bncc.cli.reproduce import TABLES, TITLES

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
    asked: list[object] = []

    def fake(data_dir: str, quick: bool, *rest: object) -> tuple[dict[str, Any], ...]:
        asked.extend([data_dir, quick])
        return CELLS

    monkeypatch.setattr(reproduce, "s0_table1", fake)
    assert run_json("reproduce", "s0-table1", "--data", "folder", "--quick") == {
        "cells": list(CELLS)
    }
    assert asked == ["folder", True]
    lines = run("reproduce", "s0-table1").stdout.splitlines()
    assert asked[2:] == [".", False]
    assert lines[-2].split() == ["letter", "NB", "ML", "25.89", "25.89", "6658"]
    assert lines[-1].split() == ["mnist", "NB", "ML", "17.34", "-", "absent"]


def test_each_table_says_what_its_numbers_are(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproduce, "s0_table1", lambda *_: CELLS)
    monkeypatch.setattr(recover, "s0_recover_chow_liu", lambda *_: CELLS[:1])
    assert run("reproduce", "s0-table1").stdout.startswith("classification error, percent\n")
    said = run("reproduce", "s0-recover-chow-liu").stdout
    assert said.startswith("parents of the Chow-Liu tree found again, percent\n")
    assert "mnist" not in said


@pytest.mark.parametrize("table", [t for t in TABLES if t not in TITLES])
def test_tables_of_a_later_version_say_so(refused: Refused, table: str) -> None:
    assert f"reproduce {table} arrives with a later version" in refused("reproduce", table)


def test_an_unknown_table_is_refused(refused: Refused) -> None:
    assert "'s9-table9' is not one of" in refused("reproduce", "s9-table9")


def test_absent_data_are_one_line(refused: Refused, tmp_path: Path) -> None:
    assert "letter.npz" in refused("reproduce", "s0-table1", "--data", tmp_path)


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
