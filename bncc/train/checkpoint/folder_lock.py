"""One process at a time in a folder: a lock that the kernel lets go of when a process ends."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bncc.errors import CheckpointError
from bncc.model.atomic import locks


@contextmanager
def folder_locked(folder: Path) -> Iterator[None]:
    """
    Keep other processes of bncc out of a folder.

    The lock is on the folder itself, so that no file is left of it. Where a system or a file system
    has no such locks, nothing is locked.
    """
    fcntl = locks()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = None if fcntl is None else os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise CheckpointError(
            f"cannot keep a training in '{folder}' ({error.strerror or error}); name another "
            "folder with --checkpoint"
        ) from error
    if fcntl is None or descriptor is None:
        yield
        return
    try:
        _lock(fcntl, descriptor, folder)
        yield
    finally:
        os.close(descriptor)


def _lock(fcntl: Any, descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise CheckpointError(
            f"another bncc is training in '{folder}'; wait until it ends, or name another folder "
            "with --checkpoint"
        ) from error
    except OSError:
        return  # some network file systems lock no folders
