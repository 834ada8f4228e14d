"""``bncc train --repeats``: the first seed's model, and the errors of all seeds."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from bncc.model.file import load_model
from tests.cli.conftest import HEADER, sensor_rows, write_csv
from tests.cli.stops import stop_after

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]
QUICK = ("--parameters", "ml", "--bits", "2")


def test_every_seed_is_told_and_the_first_is_written(
    run_json: RunJson, readings: Path, tmp_path: Path
) -> None:
    held = write_csv(tmp_path / "t.csv", HEADER, sensor_rows(60, seed=1))
    options = (*QUICK, "--structure", "random", "--test", held)
    alone = [
        run_json("train", readings, "-o", tmp_path / f"{seed}", *options, "--seed", seed)
        for seed in (3, 4, 5)
    ]
    out = tmp_path / "m.bncc"
    found = run_json("train", readings, "-o", out, *options, "--seed", 3, "--repeats", 3)
    assert out.read_bytes() == (tmp_path / "3").read_bytes()
    keys = ("seed", "error_train", "error_validation", "error_test")
    assert found["repeats"] == [{key: facts[key] for key in keys} for facts in alone]
    for part in ("validation", "test"):
        errors = [facts[f"error_{part}"] for facts in alone]
        assert found[f"error_{part}_mean"] == sum(errors) / 3
    more = {"repeats", "error_validation_mean", "error_test_mean"}
    assert set(found) == set(alone[0]) | more
    same = set(alone[0]) - {"model", "seconds"}
    assert {key: found[key] for key in same} == {key: alone[0][key] for key in same}


def test_what_is_not_measured_has_no_mean(
    run_json: RunJson, readings: Path, tmp_path: Path
) -> None:
    options = (*QUICK, "--repeats", 2, "--validation", 0)
    found = run_json("train", readings, "-o", tmp_path / "m.bncc", *options)
    assert found["error_validation_mean"] is found["error_test_mean"] is None
    assert [facts["seed"] for facts in found["repeats"]] == [0, 1]


def test_a_repeat_that_is_asked_for_is_told(
    run_json: RunJson, readings: Path, tmp_path: Path
) -> None:
    """Scripts find the same keys for any number of repeats."""
    found = run_json("train", readings, "-o", tmp_path / "m.bncc", *QUICK, "--repeats", 1)
    assert len(found["repeats"]) == 1
    assert found["error_validation_mean"] == found["error_validation"]


def test_people_read_the_means(run: Run, readings: Path, tmp_path: Path) -> None:
    said = run("train", readings, "-o", tmp_path / "m", *QUICK, "--repeats", 2, "--seed", 7).stdout
    (line,) = (line for line in said.splitlines() if line.startswith("repeats"))
    assert "2 trainings with seeds from 7, " in line
    assert line.endswith(" % validation on average")
    assert "repeats" not in run("train", readings, "-o", tmp_path / "n", *QUICK).stdout


def test_a_note_is_told_once(run: Run, readings: Path, tmp_path: Path) -> None:
    options = (*QUICK, "--repeats", 3, "--epochs", 5)
    result = run("train", readings, "-o", tmp_path / "m.bncc", *options)
    assert result.stderr == "bncc: --epochs has no effect with --parameters ml\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--repeats", 2, "--checkpoint", "kept"], "drop it, or --repeats"),
        (["--repeats", 0], "0 is not in the range"),
        (["--repeats", 2, "--seed", 2**63 - 1], "--seed is 9223372036854775808"),
    ],
)
def test_what_cannot_be_repeated_is_one_line(
    refused: Refused, readings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    options: list[object], message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert message in refused("train", readings, "-o", tmp_path / "m.bncc", *options)
    assert [path.name for path in tmp_path.iterdir()] == ["readings.csv"]


def test_one_training_with_a_checkpoint_is_none_too_many(
    run: Run, readings: Path, tmp_path: Path
) -> None:
    kept = ("--checkpoint", tmp_path / "kept", "--repeats", 1, "--epochs", 1)
    run("train", readings, "-o", tmp_path / "m.bncc", *kept)


@pytest.mark.parametrize(("after", "done"), [(8, 1), (11, 1), (14, 1), (23, 2)])
def test_a_stop_behind_the_first_training_leaves_its_whole_model(
    run: Run, readings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int, done: int
) -> None:
    """Six epochs in each of two descents make a training; the twelfth is the last of the first."""
    whole, out = tmp_path / "whole.bncc", tmp_path / "m.bncc"
    run("train", readings, "-o", whole, "--epochs", 6, "--folds", 0)
    stop_after(monkeypatch, after)
    result = run("train", readings, "-o", out, "--epochs", 6, "--repeats", 3, code=130)
    if after < 11:
        assert load_model(out).training["interim"] is True
        told = f"after {after + 1} of 12 epochs in all"
        assert f"stopped {told}, of the first of 3 trainings; " in result.stderr
        assert f"stopped early, {told}" in run("inspect", out).stdout
        return
    assert result.stderr == (
        f"bncc: stopped after {done} of 3 trainings; '{out}' is the complete model of the "
        "first; repeat the command with --force for the others\n"
    )
    assert out.read_bytes() == whole.read_bytes()
    assert f"{done} training{'s' * (done > 1)} with seeds from 0" in result.stdout
