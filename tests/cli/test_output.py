"""Outputs appear whole or not at all, and never replace another file without `--force`."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bncc.cli.output import check_free, os_error_sentence, staged_directory, write_file
from bncc.errors import OptionError

Refused = Callable[..., str]


def names(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if not p.is_dir())


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    write_file(tmp_path / "a.txt", b"abc", force=False)
    assert (tmp_path / "a.txt").read_bytes() == b"abc"
    assert names(tmp_path) == ["a.txt"]


def test_an_existing_file_needs_force(tmp_path: Path) -> None:
    write_file(tmp_path / "a.txt", b"old", force=False)
    with pytest.raises(OptionError, match="--force"):
        write_file(tmp_path / "a.txt", b"new", force=False)
    assert (tmp_path / "a.txt").read_bytes() == b"old"
    write_file(tmp_path / "a.txt", b"new", force=True)
    assert (tmp_path / "a.txt").read_bytes() == b"new"


def test_a_file_has_no_place_in_an_absent_folder(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="does not exist; create it first"):
        check_free(tmp_path / "no" / "a.txt", force=True)


def test_a_file_cannot_replace_a_directory_or_a_device(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="is a directory"):
        check_free(tmp_path, force=True)
    with pytest.raises(OptionError, match="not a regular file"):
        check_free("/dev/null", force=True)


def test_a_directory_cannot_replace_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    with pytest.raises(OptionError, match="is not a directory"):
        check_free(tmp_path / "a", force=True, directory=True)


def test_an_unwritable_place_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    for path, directory in ((tmp_path / "a", False), (tmp_path, True)):
        with pytest.raises(OptionError, match="not writable"):
            check_free(path, force=False, directory=directory)


def fill(folder: Path, text: str) -> None:
    (folder / "a.c").write_text(text)
    (folder / "sub").mkdir()
    (folder / "sub" / "b.h").write_text(text)


def test_a_new_directory_appears_whole(tmp_path: Path) -> None:
    with staged_directory(tmp_path / "out", force=False) as stage:
        fill(stage, "1")
        assert not (tmp_path / "out").exists()
    assert names(tmp_path) == ["out/a.c", "out/sub/b.h"]


def test_a_failing_body_leaves_nothing(tmp_path: Path) -> None:
    def interrupted() -> None:
        with staged_directory(tmp_path / "o", force=False) as stage:
            fill(stage, "1")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_other_files_of_an_existing_directory_stay(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text("mine")
    with staged_directory(tmp_path, force=False) as stage:
        fill(stage, "1")
    assert names(tmp_path) == ["a.c", "main.c", "sub/b.h"]
    assert (tmp_path / "main.c").read_text() == "mine"


def test_one_taken_name_refuses_all(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("mine")
    with pytest.raises(OptionError, match="--force"), staged_directory(tmp_path, force=False) as s:
        fill(s, "1")
    assert names(tmp_path) == ["a.c"]
    assert (tmp_path / "a.c").read_text() == "mine"


def test_force_replaces_files(tmp_path: Path) -> None:
    for text in ("1", "2"):
        with staged_directory(tmp_path, force=True) as stage:
            fill(stage, text)
    assert names(tmp_path) == ["a.c", "sub/b.h"]
    assert (tmp_path / "sub" / "b.h").read_text() == "2"


def test_a_directory_in_the_way_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.c").mkdir()
    with (
        pytest.raises(OptionError, match="is a directory"),
        staged_directory(tmp_path, force=True) as stage,
    ):
        fill(stage, "1")
    assert (tmp_path / "a.c").is_dir()


def test_a_disk_that_fails_half_way_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second of two files cannot be moved: the first is restored too."""
    (tmp_path / "a.c").write_text("old")
    replace = Path.replace

    def failing(self: Path, target: Path) -> Path:
        if self.parts[-3:] == ("new", "sub", "b.h"):
            raise OSError(errno.ENOSPC, "No space left on device", str(target))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    with (
        pytest.raises(OSError, match="No space"),
        staged_directory(tmp_path, force=True) as stage,
    ):
        fill(stage, "new")
    assert names(tmp_path) == ["a.c"]
    assert (tmp_path / "a.c").read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.c"]


def test_a_full_disk_is_one_line_and_leaves_nothing(
    refused: Refused, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, *args: object, **rest: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", str(self))

    monkeypatch.setattr(Path, "write_text", full)
    assert "the disk is full" in refused("emit-c", model, "-o", tmp_path / "c")
    assert not (tmp_path / "c").exists()


def test_a_full_disk_leaves_no_half_model(
    refused: Refused, readings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    line = refused("train", readings, "-o", tmp_path / "m.bncc", "--parameters", "ml")
    assert "No space left on device" in line
    assert names(tmp_path) == ["readings.csv"]


def test_an_unknown_reason_is_told_with_a_remedy() -> None:
    assert os_error_sentence(OSError(errno.EIO, "Input/output error", "f")) == (
        "'f': Input/output error; check the path and the disk"
    )


SOURCES = {
    "features": ["features", "rows.csv", "--window", "1", "-o", "rows.csv"],
    "features, intervals": ["features", "other.csv", "--window", "1", "--intervals", "rows.csv",
                            "-o", "rows.csv"],
    "predict": ["predict", "m.bncc", "rows.csv", "-o", "rows.csv"],
    "predict, its model": ["predict", "m.bncc", "other.csv", "-o", "m.bncc"],
    "predict from a link": ["predict", "m.bncc", "rows.csv", "-o", "link.csv"],
    "train": ["train", "rows.csv", "-o", "rows.csv"],
    "train, tested": ["train", "other.csv", "--test", "rows.csv", "-o", "rows.csv"],
    "explain": ["explain", "m.bncc", "rows.csv", "--svg", "rows.csv"],
    "explain, its model": ["explain", "m.bncc", "rows.csv", "--svg", "m.bncc"],
    "inspect": ["inspect", "rows.csv", "--svg", "rows.csv"],
    "import-bif": ["import-bif", "rows.csv", "--class", "y", "-o", "rows.csv"],
    "export-bif": ["export-bif", "rows.csv", "-o", "rows.csv"],
    "report": ["report", "rows.csv", "-o", "rows.csv", "--format", "md"],
    "sweep": ["sweep", "rows.csv", "--study", "s.db", "--pick", "rows.csv"],
    "sweep, its study": ["sweep", "other.csv", "--study", "rows.csv", "--pick", "rows.csv"],
    "sweep, tested": ["sweep", "other.csv", "--test", "rows.csv", "--study", "s.db",
                      "--pick", "rows.csv"],
}  # fmt: skip


@pytest.mark.parametrize("force", [["--force"], []])
@pytest.mark.parametrize("command", SOURCES)
def test_no_source_is_replaced(
    command: str,
    force: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    refused: Refused,
) -> None:
    """``--force`` does not help and is not suggested: the rows may exist only in this file."""
    monkeypatch.chdir(tmp_path)
    files = [Path(name) for name in ("rows.csv", "other.csv", "m.bncc")]
    for file in files:
        file.write_text("x,class\n1,a\n", encoding="utf-8")
    Path("link.csv").symlink_to("rows.csv")
    message = refused(*SOURCES[command], *force)
    assert "is an input of the command; choose another output name" in message
    assert {file.read_text(encoding="utf-8") for file in files} == {"x,class\n1,a\n"}
