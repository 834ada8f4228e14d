"""``bncc train --effort``: its result, its cross-validation, and searches within a budget."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bncc.train import effort_search

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
    monkeypatch.setattr(effort_search, "MOST", 6)
    found = run_json(
        "train", readings, "--structure", "naive", "--effort", effort, "--epochs", "2",
        *asked, "-o", tmp_path / "m.bncc",
    )  # fmt: skip
    assert found["folds"] == folds
    assert found["epochs"] == 2


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
