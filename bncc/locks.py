"""Locks on files and folders, which the kernel releases whenever a process ends."""

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bncc.errors import CheckpointError, StudyError


def kernel_locks() -> Any:
    """Return the module ``fcntl``, or None on Windows, which has none."""
    try:
        return importlib.import_module("fcntl")
    except ImportError:
        return None


def try_lock(descriptor: int) -> bool | None:
    """
    Lock an open file or folder.

    False if another process has locked it; None on a system or file system without locks, such as
    some network file systems.
    """
    fcntl = kernel_locks()
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


@contextmanager
def folder_locked(folder: Path) -> Iterator[None]:
    """
    Prevent other bncc processes from using a training folder.

    The lock is on the folder itself, so that it leaves no file. Without support for locks, nothing
    is locked.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = None if kernel_locks() is None else os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise CheckpointError(
            f"cannot keep a checkpoint in '{folder}' ({error.strerror or error}); name another "
            "folder with --checkpoint"
        ) from error
    if descriptor is None:
        yield
        return
    try:
        if try_lock(descriptor) is False:
            raise CheckpointError(
                f"another bncc is training in '{folder}'; wait until it ends, or name another "
                "folder with --checkpoint"
            )
        yield
    finally:
        os.close(descriptor)


@contextmanager
def file_claimed(path: Path) -> Iterator[None]:
    """
    Prevent other bncc processes from using a study file.

    The lock is on a hidden file that is removed at the end. Without support for locks, nothing is
    locked.
    """
    if kernel_locks() is None:
        yield
        return
    lock = path.with_name(f".{path.name}.lock")
    descriptor = _claim(lock, path)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        os.close(descriptor)


def _claim(lock: Path, path: Path) -> int:
    while True:
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise StudyError(
                f"cannot keep a study in '{path}' ({error.strerror or error}); name another --study"
            ) from error
        is_locked = try_lock(descriptor)
        if is_locked is None:
            return descriptor
        # Its last owner may have removed the file in the meantime.
        if is_locked and lock.exists() and lock.stat().st_ino == os.fstat(descriptor).st_ino:
            return descriptor
        os.close(descriptor)
        if not is_locked:
            raise StudyError(study_taken(str(path)))


def study_taken(name: str) -> str:
    """Return the message for a study that another process is using."""
    return (
        f"another bncc is using the study '{name}'; wait until it ends, or name another with "
        "--study"
    )
