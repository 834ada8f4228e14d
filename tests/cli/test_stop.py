"""Ctrl-C and SIGTERM leave the model so far, and the command that resumes training."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from bncc.cli.console import Console
from bncc.locks import folder_locked
from bncc.model.file import load_model
from bncc.train import fit_network as fit
from bncc.train.checkpoint.folder import NAME
from tests.cli.conftest import sensor_rows, write_csv
from tests.cli.stops import stop_after

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]


@pytest.mark.parametrize(
    ("after", "done", "n_train"),
    [
        (3, 4, 216),  # the first descent, on all rows but the validation rows
        (23, 24, 216),  # at its last epoch
        (24, 24, 216),  # the second one has barely begun
        (29, 6, 240),
    ],
)
def test_the_best_model_so_far_is_written(
    run: Run, run_json: RunJson, readings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    after: int, done: int, n_train: int,
) -> None:  # fmt: skip
    out = tmp_path / "m.bncc"
    stop_after(monkeypatch, after)
    result = run("train", readings, "-o", out, "--epochs", 24, code=130)
    assert result.stderr == (
        f"bncc: stopped after {after + 1} of 48 epochs in all; '{out}' is the interim model; "
        "use --checkpoint to make training resumable\n"
    )
    record = load_model(out).training
    assert (record["interim"], record["epochs_done"], record["epochs"]) == (True, done, 24)
    assert record["n_train"] == n_train
    assert record["error_train"] < 0.2
    assert 0 <= record["error_validation"] < 0.4
    assert "error" in result.stdout
    told = f"stopped early, after {after + 1} of 48 epochs in all"
    told += ", before training on all rows" * (done == 24)
    assert f"{told}\n" in run("inspect", out).stdout
    facts = run_json("inspect", out)
    assert facts["epochs_in_all"] == [after + 1, 48]
    assert (facts["interim"], facts["epochs_done"], facts["epochs"]) == (True, done, 24)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_quiet_says_how_to_resume(
    run: Run, readings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, kept = tmp_path / "m.bncc", tmp_path / "kept"
    stop_after(monkeypatch, 3)
    words = ("train", readings, "-o", out, "--epochs", 24, "--checkpoint", kept, "--quiet")
    assert run(*words, code=130).stderr == (
        f"bncc: stopped after 4 of 48 epochs in all; '{out}' is the interim model; repeat the "
        f"command with --resume to continue from '{kept}'\n"
    )


def test_a_request_in_the_last_epoch_comes_too_late(
    run: Run, readings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "m.bncc"
    run("train", readings, "-o", out, "--epochs", 3, "--folds", 0)
    stop_after(monkeypatch, 5)
    result = run("train", readings, "-o", tmp_path / "n.bncc", "--epochs", 3, "--folds", 0)
    assert result.stderr == ""
    assert (tmp_path / "n.bncc").read_bytes() == out.read_bytes()


def test_a_stop_during_the_cross_validation_leaves_the_whole_model(
    run: Run, readings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "m.bncc"
    run("train", readings, "-o", out, "--epochs", 3, "--folds", 0)
    stop_after(monkeypatch, 9)
    result = run("train", readings, "-o", tmp_path / "n.bncc", "--epochs", 3, code=130)
    assert "cross-validation was stopped; " in result.stderr
    assert "is the complete model" in result.stderr
    assert (tmp_path / "n.bncc").read_bytes() == out.read_bytes()


def test_before_the_first_epoch_there_is_nothing_to_write(
    refused: Refused, readings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit, "fit_features", lambda *_, **__: signal.raise_signal(signal.SIGINT))
    options = ("--checkpoint", tmp_path / "kept")
    line = refused("train", readings, "-o", tmp_path / "m.bncc", *options, code=130)
    assert line == "interrupted; nothing was left half-written"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "readings.csv"]
    assert list((tmp_path / "kept").iterdir()) == []


def test_a_training_keeps_others_out_of_its_folder(
    run: Run, refused: Refused, readings: Path, tmp_path: Path
) -> None:
    arguments = ("train", readings, "-o", tmp_path / "m.bncc", "--epochs", 2)
    kept = ("--checkpoint", tmp_path / "kept")
    with folder_locked(tmp_path / "kept"):
        assert refused(*arguments, *kept).startswith("another bncc is training in")
    run(*arguments, *kept)


def test_nothing_is_kept_of_a_training_whose_model_is_written(
    run: Run, readings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Console, "result", interrupted)
    kept = ("--checkpoint", tmp_path / "kept")
    run("train", readings, "-o", tmp_path / "m.bncc", "--epochs", 2, *kept, code=130)
    assert (tmp_path / "m.bncc").exists()
    assert list((tmp_path / "kept").iterdir()) == []


def test_the_second_signal_stops_at_once_and_keeps_the_checkpoint(
    refused: Refused, readings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after(monkeypatch, 2, n_signals=2)
    options = ("--checkpoint", tmp_path / "kept")
    line = refused("train", readings, "-o", tmp_path / "m.bncc", *options, code=130)
    assert line == "interrupted; nothing was left half-written"
    assert [path.name for path in (tmp_path / "kept").iterdir()] == [NAME]
    assert not (tmp_path / "m.bncc").exists()


@pytest.mark.parametrize("parameters", ["hybrid", "ml"])
@pytest.mark.parametrize("after", [4, 11, 12, 17])
def test_a_stopped_training_goes_on_and_replaces_its_interim_model(
    run: Run, readings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    after: int, parameters: str,
) -> None:  # fmt: skip
    whole, out, folder = tmp_path / "whole.bncc", tmp_path / "m.bncc", tmp_path / "kept"
    options = ("--structure", "tan-subset", "--parameters", parameters, "--epochs", 12)
    run("train", readings, "-o", whole, *options)
    kept = ("--checkpoint", folder, "--resume")
    with monkeypatch.context() as patched:
        stop_after(patched, after)
        result = run("train", readings, "-o", out, *options, *kept, code=130)
    assert (
        f"'{folder}' contains no checkpoint yet; training started from the beginning"
        in result.stderr
    )
    assert f"repeat the command with --resume to continue from '{folder}'" in result.stderr
    assert out.read_bytes() != whole.read_bytes()
    result = run("train", readings, "-o", out, *options, *kept)
    assert result.stderr == f"bncc: training resumed after {after + 1} of 24 epochs\n"
    assert out.read_bytes() == whole.read_bytes()
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("other", [("--seed", 1), ("--drop", "color"), ("--epochs", 13)])
def test_the_interim_model_of_another_training_is_not_replaced(
    run: Run, refused: Refused, readings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    other: Sequence[object],
) -> None:  # fmt: skip
    out = tmp_path / "m.bncc"
    arguments = ("train", readings, "-o", out, "--epochs", 12, "--resume", "--checkpoint")
    with monkeypatch.context() as patched:
        stop_after(patched, 3)
        run(*arguments, tmp_path / "kept", code=130)
    interim = out.read_bytes()
    assert "use --force to overwrite it" in refused(*arguments, tmp_path / "more", *other)
    assert out.read_bytes() == interim
    run(*arguments, tmp_path / "more", *other, "--force")


@pytest.mark.cc
def test_an_engine_that_cannot_go_on_names_the_one_that_can(
    require_tool: Callable[[str], None], run: Run, refused: Refused, readings: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    require_tool("gcc")
    arguments = ("train", readings, "-o", tmp_path / "m.bncc", "--epochs", 6)
    kept = ("--checkpoint", tmp_path / "kept", "--resume")
    with monkeypatch.context() as patched:
        stop_after(patched, 3)
        run(*arguments, *kept, "--engine", "torch", code=130)
    advice = "which rounds differently from 'native'; resume with --engine torch"
    assert refused(*arguments, *kept).endswith(advice)
    assert "resumed after 4 of 12" in run(*arguments, *kept, "--engine", "torch").stderr


def test_a_finished_model_is_not_replaced(refused: Refused, readings: Path, model: Path) -> None:
    line = refused(
        "train", readings, "-o", model, "--checkpoint", model.with_name("kept"), "--resume"
    )
    assert "use --force to overwrite it" in line


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_from_outside_is_heard(tmp_path: Path, number: signal.Signals, code: int) -> None:
    data = write_csv(tmp_path / "d.csv", ("light", "slope", "color", "class"), sensor_rows())
    out, folder = tmp_path / "m.bncc", tmp_path / "kept"
    command_line = [sys.executable, "-m", "bncc", "train", str(data), "-o", str(out), "--quiet"]
    process = subprocess.Popen(
        [*command_line, "--epochs", "100000", "--checkpoint", str(folder)],
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    while process.poll() is None and not (folder / NAME).exists():
        time.sleep(0.01)
    time.sleep(0.2)
    process.send_signal(number)
    out_text, said = process.communicate(timeout=60)
    assert (out_text, said.count("\n")) == ("", 1)
    assert f"'{out}' is the interim model; repeat the command with --resume" in said
    assert process.returncode == code
    assert load_model(out).training["interim"] is True
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.csv", "kept", "m.bncc"]
