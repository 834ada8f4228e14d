"""Where the compiler of the ziglang wheel keeps what it builds for itself."""

import os
from collections.abc import Mapping

from bncc.toolchain.cache import cache_folder


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
