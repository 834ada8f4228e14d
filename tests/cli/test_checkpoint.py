"""The folder of ``bncc train --checkpoint``: checkpoints that are resumed or refused."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from bncc.errors import CheckpointError
from bncc.model.file import load_model
from bncc.train import effort
from bncc.train.checkpoint import callbacks as course
from bncc.train.checkpoint.folder import NAME, Checkpoint, Saved
from bncc.train.settings import TrainSettings
from tests.cli.stops import stop_after

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]


def kept(run: Run, monkeypatch: pytest.MonkeyPatch, readings: Path, folder: Path) -> bytes:
    """Return the checkpoint of a training that was stopped."""
    with monkeypatch.context() as patched:
        stop_after(patched, 3)
        run(
            "train", readings, "-o", folder.with_name("interim.bncc"), "--epochs", 9,
            "--checkpoint", folder, code=130,
        )  # fmt: skip
    return (folder / NAME).read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--resume"], "add --checkpoint"),
        (["--checkpoint", "FOLDER"], "use --resume to continue it, --force to start over"),
        (["--checkpoint", "FOLDER/train.checkpoint"], "is not a directory"),
        (["--checkpoint", "FOLDER", "--resume", "--lr", "0.1"], "lr is 0.1 here and None there"),
        (["--checkpoint", "FOLDER", "--resume", "--drop", "color"], "the rows differ"),
    ],
)
def test_what_cannot_go_on_says_why(
    run: Run, refused: Refused, readings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    options: Sequence[str], message: str,
) -> None:  # fmt: skip
    folder = tmp_path / "kept"
    content = kept(run, monkeypatch, readings, folder)
    given = [option.replace("FOLDER", str(folder)) for option in options]
    for output in (tmp_path / "m.bncc", tmp_path / "interim.bncc"):  # that of the other training
        line = refused("train", readings, "-o", output, "--epochs", 9, *given)
        assert message in line
    assert (folder / NAME).read_bytes() == content


def test_a_checkpoint_of_another_training_is_refused_before_a_search(
    run: Run, refused: Refused, readings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(run, monkeypatch, readings, tmp_path / "kept")
    searches: list[object] = []

    def searched(*given: object) -> TrainSettings:
        searches.append(given)
        return TrainSettings(epochs=9)

    monkeypatch.setattr(effort, "searched", searched)
    place = ("--checkpoint", tmp_path / "kept", "--resume", "-o", tmp_path / "m.bncc")
    line = refused("train", readings, "--epochs", 9, "--effort", "thorough", *place)
    assert "effort is thorough here and default there" in line
    assert not searches


def test_a_training_that_is_not_kept_leaves_what_another_has_there(
    run: Run, readings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "kept"
    content = kept(run, monkeypatch, readings, folder)
    place = ("--checkpoint", folder, "--resume")
    found = run("train", readings, "-o", tmp_path / "m.bncc", "--parameters", "ml", *place)
    assert "--checkpoint has no effect" in found.stderr
    assert (folder / NAME).read_bytes() == content


def test_what_keeps_no_checkpoint_refuses_it_before_it_reads(
    refused: Refused, tmp_path: Path
) -> None:
    """The refusal comes at the start, not at the end of a long training."""
    place = ("--checkpoint", tmp_path / "kept", "--resume", "-o", tmp_path / "m.bncc")
    line = refused("train", tmp_path / "absent.csv", "--structure", "tables", *place)
    assert "--checkpoint" in line
    assert "leave" in line
    assert not (tmp_path / "kept").exists()


def test_a_checkpoint_is_given_up_on_request(
    run: Run, readings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "kept"
    kept(run, monkeypatch, readings, folder)
    options = ("--checkpoint", folder, "--force", "--epochs", 2)
    assert run("train", readings, "-o", tmp_path / "m.bncc", *options).stderr == ""
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "text", "folder"])
def test_a_damaged_checkpoint_is_one_sentence(
    run: Run, refused: Refused, readings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    damage: str,
) -> None:  # fmt: skip
    folder = tmp_path / "kept"
    content = kept(run, monkeypatch, readings, folder)
    middle = len(content) // 2
    damaged = {
        "cut": content[:middle],
        "flipped": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        "empty": b"",
        "text": b"a checkpoint",
    }
    (folder / NAME).unlink()
    if damage == "folder":
        (folder / NAME).mkdir()
    else:
        (folder / NAME).write_bytes(damaged[damage])
    options = ("--epochs", 9, "--checkpoint", folder, "--resume")
    line = refused("train", readings, "-o", tmp_path / "m.bncc", *options)
    assert "is truncated or corrupt" in line
    assert "remove it, or use another --checkpoint" in line
    assert not (tmp_path / "m.bncc").exists()


def test_a_full_disk_leaves_the_checkpoint_before_it(
    run: Run, refused: Refused, readings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "kept"
    content = kept(run, monkeypatch, readings, folder)
    real_open = Path.open

    def full(path: Path, mode: str = "r", **options: Any) -> Any:
        return real_open(Path("/dev/full") if mode == "xb" else path, mode.replace("x", "w"))

    monkeypatch.setattr(Path, "open", full)
    options = ("--epochs", 9, "--checkpoint", folder, "--resume")
    line = refused("train", readings, "-o", tmp_path / "m.bncc", *options)
    assert "No space left on device); free some space" in line
    assert (folder / NAME).read_bytes() == content


@pytest.mark.parametrize("is_stopped", [False, True])
def test_a_disk_that_fills_up_costs_no_training(
    run: Run, readings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_stopped: bool
) -> None:
    out, folder = tmp_path / "m.bncc", tmp_path / "kept"
    options = ("--epochs", 9, "--checkpoint", folder)
    save, saved = Checkpoint.save, []

    def fills_up(place: Checkpoint, moment: Saved) -> None:
        saved.append(moment)
        if len(saved) > 1:
            raise CheckpointError("the disk is full; make room")
        save(place, moment)

    monkeypatch.setattr(Checkpoint, "save", fills_up)
    monkeypatch.setattr(course, "INTERVAL", 0.0)
    monkeypatch.setattr(course, "LARGEST_SHARE", float("inf"))
    if is_stopped:
        stop_after(monkeypatch, 3)
    stderr = run("train", readings, "-o", out, *options, code=130 if is_stopped else 0).stderr
    assert len(saved) == (4 if is_stopped else 18)
    assert ("interim" in load_model(out).training) == is_stopped
    assert stderr.startswith("bncc: the disk is full; make room\nbncc: stopped") == is_stopped
    assert (folder / NAME).exists() == is_stopped


def test_counting_needs_no_checkpoint(run: Run, readings: Path, tmp_path: Path) -> None:
    options = ("--parameters", "ml", "--checkpoint", tmp_path / "kept", "--resume")
    result = run("train", readings, "-o", tmp_path / "m.bncc", *options)
    assert result.stderr == "bncc: --checkpoint has no effect with --parameters ml\n"
    assert not (tmp_path / "kept").exists()
