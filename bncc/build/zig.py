"""Where the compiler of the ziglang wheel keeps what it builds for itself."""

import atexit
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory


def zig_environment() -> Mapping[str, str]:
    """Return the variables that zig is started with besides those of this process.

    zig builds a runtime library for each machine, which takes seconds, and keeps it in the user's
    cache; it gives up where that cannot be written. What it makes of a model it would keep there
    too, and for ever: that goes into the folder it runs in, which is temporary.

    Returns
    -------
    mapping of str to str
        Both folders. One that the user has chosen stays.
    """
    chosen = os.environ.get
    return {
        "ZIG_GLOBAL_CACHE_DIR": chosen("ZIG_GLOBAL_CACHE_DIR") or _kept(),
        "ZIG_LOCAL_CACHE_DIR": chosen("ZIG_LOCAL_CACHE_DIR") or ".zig-cache",
    }


def _kept() -> str:
    """Return zig's folder in the user's cache, or a temporary one where it cannot be written."""
    try:
        cached = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(cached).absolute() / "zig"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # the latter from a user without a home
        return _temporary()
    return str(folder) if os.access(folder, os.W_OK | os.X_OK) else _temporary()


@cache
def _temporary() -> str:
    """Return a folder that lives as long as this process, so that all its builds share it."""
    folder = TemporaryDirectory(prefix="bncc-zig-")
    atexit.register(folder.cleanup)
    return folder.name
