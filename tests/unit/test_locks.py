"""A folder or file has one user at a time, for as long as that one lives."""

import errno
import fcntl
import subprocess
import sys

import pytest

from bncc import locks
from bncc.errors import CheckpointError, StudyError
from bncc.locks import file_claimed, folder_locked

HOLD = """
import sys
from pathlib import Path
from bncc.locks import folder_locked
with folder_locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_another_process_is_kept_out_until_the_first_is_killed(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path / "kept")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout.readline() == "held\n"
        with (
            pytest.raises(CheckpointError, match="another bncc is training in"),
            folder_locked(tmp_path / "kept"),
        ):
            pass
        first.kill()
    with folder_locked(tmp_path / "kept"):
        pass


def test_a_folder_is_let_go_of_after_an_error_and_nothing_is_left_in_it(tmp_path):
    with pytest.raises(KeyboardInterrupt), folder_locked(tmp_path):
        raise KeyboardInterrupt
    with folder_locked(tmp_path):
        assert list(tmp_path.iterdir()) == []


def test_where_there_are_no_locks_nothing_is_locked(tmp_path, monkeypatch):
    def unable(*_):
        raise OSError(errno.EBADF, "not for folders")

    with monkeypatch.context() as patched:
        patched.setattr(fcntl, "flock", unable)
        with folder_locked(tmp_path), folder_locked(tmp_path):
            entered = 1
    monkeypatch.setattr(locks, "kernel_locks", lambda: None)
    with folder_locked(tmp_path), folder_locked(tmp_path):
        entered += 1
    assert entered == 2


def test_windows_has_no_fcntl(monkeypatch):
    assert locks.kernel_locks() is fcntl
    monkeypatch.setitem(sys.modules, "fcntl", None)
    assert locks.kernel_locks() is None


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(
            CheckpointError, match=r"cannot keep a checkpoint in .*; name another folder"
        ),
        folder_locked(tmp_path / "file" / "kept"),
    ):
        pass


def test_a_file_is_kept_from_others_and_nothing_is_left(tmp_path):
    path = tmp_path / "s.db"
    with file_claimed(path):
        with pytest.raises(StudyError, match="another bncc is using the study"), file_claimed(path):
            pass
        with file_claimed(tmp_path / "t.db"):
            pass
    assert list(tmp_path.iterdir()) == []
    with file_claimed(path):
        pass


def test_a_lock_whose_owner_was_killed_is_free(tmp_path):
    (tmp_path / ".s.db.lock").touch()
    is_claimed = False
    with file_claimed(tmp_path / "s.db"):
        is_claimed = True
    assert is_claimed
