"""Folders for what is built once and used again."""

import atexit
import os
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory


def cache_folder(name: str) -> Path:
    """Return a folder in the user's cache, or a temporary one where that cannot be written.

    Parameters
    ----------
    name : str
        Of the folder.

    Returns
    -------
    Path
        It exists; a temporary one goes with the process.
    """
    try:
        cached = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(cached).absolute() / name
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # the latter from a user without a home
        return _temporary(name)
    return folder if os.access(folder, os.W_OK | os.X_OK) else _temporary(name)


@cache
def _temporary(name: str) -> Path:
    """Return a folder that lives as long as this process, so that all its builds share it."""
    folder = TemporaryDirectory(prefix=f"bncc-{name}-")
    atexit.register(folder.cleanup)
    return Path(folder.name)
