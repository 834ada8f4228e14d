"""``bncc train --effort``: its result, its cross-validation, and searches within a budget."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from bncc.train import effort_search

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(
    ("effort", "asked", "folds"),
    [("default", [], 5), ("thorough", [], None), ("thorough", ["--folds", "2"], 2)],
)
def test_a_search_is_repeated_in_folds_only_if_asked(
    run_json: RunJson,
    readings: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    effort: str,
    asked: list[str],
    folds: int | None,
) -> None:
    monkeypatch.setattr(effort_search, "MOST_SETTINGS", 6)
    found = run_json(
        "train", readings, "--structure", "naive", "--effort", effort, "--epochs", "2",
        *asked, "-o", tmp_path / "m.bncc",
    )  # fmt: skip
    assert found["folds"] == folds
    assert found["epochs"] == 2


SEEN = "the validation rows took part in the choice of settings"


@pytest.mark.parametrize(
    ("asked", "note"),
    [
        ([], f"{SEEN}; add --folds for an error of unseen rows"),
        (["--test", "ROWS"], f"{SEEN}\n"),
        (["--folds", "2"], None),
        (["--effort", "default"], None),
        (["--validation", "0"], None),
    ],
)
def test_an_error_of_rows_that_the_search_saw_has_a_note(
    run: Run,
    readings: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    asked: list[str],
    note: str | None,
) -> None:
    monkeypatch.setattr(effort_search, "MOST_SETTINGS", 6)
    given = [option.replace("ROWS", str(readings)) for option in asked]
    told = run(
        "train", readings, "--structure", "naive", "--effort", "thorough", "--epochs", "2",
        *given, "-o", tmp_path / "m.bncc",
    ).stderr  # fmt: skip
    assert (SEEN in told) == (note is not None)
    assert note is None or note in told


def test_a_budget_search_has_its_own_settings(
    refused: Callable[..., str], readings: Path, tmp_path: Path
) -> None:
    line = refused(
        "train", readings, "--effort", "default", "--max-flash", "2k", "-o", tmp_path / "m.bncc"
    )
    assert "--effort does not apply to a budget search; leave it out" in line


@pytest.mark.cc
def test_a_descent_that_diverges_in_its_average_is_one_sentence(
    refused: Callable[..., str], readings: Path, tmp_path: Path
) -> None:
    asked = ("--structure", "naive", "--parameters", "free", "--effort", "default")
    out = tmp_path / "m.bncc"
    line = refused(
        "train", readings, "-o", out, *asked, "--engine", "native", "--lr", "1e38", "--epochs", 3
    )
    assert line == "gradient descent diverged with learning rate 1e+38; choose a smaller --lr"
