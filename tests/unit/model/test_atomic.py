"""Atomic writes: a name always leads to the old file or to the complete new one."""

import errno
import fcntl
import os
import sys
import time
from pathlib import Path

import pytest

from bncc.model import atomic
from bncc.model.atomic import write_all, write_whole


def test_a_file_is_written_or_replaced_and_nothing_else_remains(tmp_path):
    path = tmp_path / "m.bncc"
    for content in (b"first", b"second"):
        write_whole(path, content)
        assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_follow_the_umask(tmp_path):
    write_whole(tmp_path / "m", b"")
    (tmp_path / "plain").write_bytes(b"")
    assert (tmp_path / "m").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_keeps_pointing_at_the_new_content(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def _full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _interrupted(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("owner", "step"), [(os, "fsync"), (Path, "replace")], ids=["write", "rename"]
)
@pytest.mark.parametrize(
    ("failure", "raised"), [(_full, OSError), (_interrupted, KeyboardInterrupt)]
)
def test_a_failure_leaves_the_old_file_and_no_other(
    tmp_path, monkeypatch, owner, step, failure, raised
):
    path = tmp_path / "m.bncc"
    path.write_bytes(b"old")
    monkeypatch.setattr(owner, step, failure)
    with pytest.raises(raised):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_an_os_error(tmp_path, monkeypatch):
    real_open = Path.open
    monkeypatch.setattr(Path, "open", lambda self, mode: real_open(Path("/dev/full"), "wb"))
    with pytest.raises(OSError, match="No space left"):
        write_whole(tmp_path / "m", b"new")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "no" / "m", b"")


def test_several_files_are_written_into_a_new_folder(tmp_path):
    paths = write_all(tmp_path / "a" / "b", {"m.c": "\u00e9\n", "src/m.h": ""})
    assert paths == [tmp_path / "a/b/m.c", tmp_path / "a/b/src/m.h"]
    assert paths[0].read_bytes() == b"\xc3\xa9\n"
    assert paths[1].read_bytes() == b""


def test_nothing_is_written_when_one_of_several_files_exists(tmp_path):
    (tmp_path / "m.h").write_text("old")
    with pytest.raises(FileExistsError, match=r"overwrite=True is not given: .*m\.h"):
        write_all(tmp_path, {"m.c": "new", "m.h": "new"})
    assert [path.name for path in tmp_path.iterdir()] == ["m.h"]
    write_all(tmp_path, {"m.c": "new", "m.h": "new"}, overwrite=True)
    assert (tmp_path / "m.h").read_text() == "new"


LEFT = ".bncc-0123456789abcdef.tmp"
AGE = 10 * atomic.YOUNG


def left(folder, name=LEFT):
    """Make the remains of a process that was killed a while ago."""
    path = folder / name
    path.write_bytes(b"half")
    os.utime(path, (time.time() - AGE,) * 2)
    return path


def test_what_killed_processes_left_is_removed_by_the_next(tmp_path):
    left(tmp_path)
    others = [left(tmp_path, ".bncc-mine.tmp"), left(tmp_path, "notes.tmp")]
    young = tmp_path / LEFT.replace("0", "1")
    young.write_bytes(b"half")
    (tmp_path / LEFT.replace("0", "2")).mkdir()
    write_whole(tmp_path / "m", b"new")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["m", young.name, LEFT.replace("0", "2"), *(path.name for path in others)]
    )


def test_what_another_process_is_writing_stays(tmp_path):
    """A lock belongs to an open file: being in the same process makes no difference."""
    path = left(tmp_path)
    with path.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        write_whole(tmp_path / "m", b"new")
        assert path.exists()
    write_whole(tmp_path / "m", b"new")
    assert not path.exists()


def test_a_file_is_locked_until_it_has_its_name(tmp_path, monkeypatch):
    replace = Path.replace

    def late(self, target):
        os.utime(self, (time.time() - AGE,) * 2)
        atomic.remove_leftovers(tmp_path)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", late)
    write_whole(tmp_path / "m", b"new")
    assert (tmp_path / "m").read_bytes() == b"new"


def test_where_there_are_no_locks_nothing_is_removed(tmp_path, monkeypatch):
    path = left(tmp_path)
    monkeypatch.setattr(atomic, "kernel_locks", lambda: None)
    write_whole(tmp_path / "m", b"new")
    assert (tmp_path / "m").read_bytes() == b"new"
    assert path.exists()


def test_a_file_is_held_until_its_descriptor_is_closed(tmp_path, monkeypatch):
    """Every file counts as held on a system without locks."""
    path = tmp_path / "lock"
    hold = atomic.hold_file(path)
    assert hold is not None
    assert atomic.is_held(path)
    os.close(hold)
    assert not atomic.is_held(path)
    monkeypatch.setattr(atomic, "kernel_locks", lambda: None)
    assert atomic.is_held(path)


def test_without_fcntl_there_are_no_locks(tmp_path, monkeypatch):
    """As on Windows."""
    monkeypatch.setitem(sys.modules, "fcntl", None)
    assert atomic.hold_file(tmp_path / "lock") is None
