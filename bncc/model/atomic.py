"""Output files appear whole or not at all."""

import errno
import os
import re
import secrets
import stat
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from bncc._types import StrPath
from bncc.locks import kernel_locks, try_lock

YOUNG = 0.1
"""Seconds after which a process has surely locked the file that it has made."""
_LEFTOVER = re.compile(r"\.bncc-[0-9a-f]{16}\.tmp")


def write_whole(path: StrPath, data: bytes, *, half: str | None = None) -> None:
    """Write a file so that its name always refers to the whole old or the whole new content."""
    target = Path(os.path.realpath(path))
    temporary = target.with_name(half or f".bncc-{secrets.token_hex(8)}.tmp")
    if half is not None:
        temporary.unlink(missing_ok=True)
    else:
        remove_leftovers(target.parent)
    hold = None
    try:
        with temporary.open("xb") as file:
            hold = _held(file)
            file.write(data)
            file.flush()
            # Without it a power cut after the rename could leave an empty file.
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        if hold is not None:
            os.close(hold)


def remove_leftovers(folder: Path) -> None:
    """
    Remove what killed processes have left of files that they were writing.

    A process locks what it writes: a file that can be locked has none any more. Files younger than
    `YOUNG` stay, as one may be about to lock them; where a system has no locks, all do.
    """
    if kernel_locks() is None:
        return
    with suppress(OSError):
        for path in [path for path in folder.iterdir() if _LEFTOVER.fullmatch(path.name)]:
            _remove_unlocked(path)


def _remove_unlocked(path: Path) -> None:
    with suppress(OSError):
        if not stat.S_ISREG(path.lstat().st_mode) or not is_old(path):
            return
        with path.open("r+b") as file:
            if try_lock(file.fileno()):
                path.unlink()


def _held(file: IO[bytes]) -> int | None:
    """Lock a file; return a descriptor that holds the lock, or None where there are none."""
    if kernel_locks() is None:
        return None
    hold = os.dup(file.fileno())
    try_lock(hold)
    return hold


def is_old(path: Path) -> bool:
    """Return whether a file or folder is older than the time that it takes to lock it."""
    return abs(time.time() - path.lstat().st_mtime) >= YOUNG


def hold_file(path: Path) -> int | None:
    """Make a file that says that this process lives; return a descriptor to close in the end."""
    with path.open("xb") as file:
        return _held(file)


def is_held(path: Path) -> bool:
    """Return whether a process lives that holds a file; where a system has no locks, True."""
    if kernel_locks() is None:
        return True
    with path.open("r+b") as file:
        return try_lock(file.fileno()) is not True


def write_all(
    directory: StrPath, files: Mapping[str, str], *, overwrite: bool = False
) -> list[Path]:
    """Write text files into a folder, each whole."""
    paths = [Path(directory) / name for name in files]
    for path in paths:
        if path.exists() and not overwrite:
            reason = f"{os.strerror(errno.EEXIST)}, and overwrite=True is not given"
            raise FileExistsError(errno.EEXIST, reason, str(path))
    for path, text in zip(paths, files.values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode("utf-8"))
    return paths
