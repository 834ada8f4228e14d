"""Folders for what is built once and used again, which nobody else can write."""

import atexit
import os
import stat
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory


def cache_folder(name: str) -> Path:
    """
    Return a folder in the user's cache, or a temporary one where that is not safe or writable.

    What it holds is loaded as code, so it must be the user's, and nobody else's to write.
    """
    try:
        cached = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(cached).absolute() / name
        folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.mkdir(exist_ok=True, mode=0o700)
        is_usable = is_ours(folder) and os.access(folder, os.W_OK | os.X_OK)
    except (OSError, RuntimeError):  # the latter from a user without a home
        return _temporary(name)
    return folder if is_usable and not _is_replaceable(folder) else _temporary(name)


def is_ours(path: Path) -> bool:
    """Return whether a file or folder belongs to the user, and nobody else can write it."""
    about = path.lstat()
    if stat.S_ISLNK(about.st_mode):
        return False
    if not hasattr(os, "geteuid"):  # Windows, whose permissions are no bits
        return True
    return about.st_uid == os.geteuid() and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _is_replaceable(folder: Path) -> bool:
    """Return whether another user can rename a folder and put one of theirs in its place."""
    about = folder.parent.stat()
    is_shared = about.st_mode & stat.S_IWOTH and not about.st_mode & stat.S_ISVTX
    return bool(is_shared) and hasattr(os, "geteuid")


@cache
def _temporary(name: str) -> Path:
    """Return a folder that lives as long as this process, so that all its builds share it."""
    folder = TemporaryDirectory(prefix=f"bncc-{name}-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


def zig_environment() -> Mapping[str, str]:
    """
    Return the variables that zig is started with besides those of this process.

    zig builds a runtime library for each machine, which takes seconds, and keeps it in the user's
    cache; it gives up where that cannot be written. What it makes of a model it would keep there
    too, and for ever: that goes into the folder it runs in, which is temporary.
    """
    chosen = os.environ.get
    return {
        "ZIG_GLOBAL_CACHE_DIR": chosen("ZIG_GLOBAL_CACHE_DIR") or str(cache_folder("bncc-zig")),
        "ZIG_LOCAL_CACHE_DIR": chosen("ZIG_LOCAL_CACHE_DIR") or ".zig-cache",
    }
