"""C of the native engines as a library: built at first use, then taken from the user's cache."""

import platform
import re
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import cffi

from bncc.errors import ToolchainError
from bncc.toolchain.tools import Tool, cache_folder, host_compilers, is_ours, run

FLAGS = (
    "-std=gnu99", "-O3", "-fPIC", "-shared",
    "-fno-math-errno", "-fno-trapping-math", "-fno-signed-zeros", "-ffinite-math-only",
)  # fmt: skip
"""Nothing that sorts sums: the logarithms of the trainers need theirs as they stand."""
NATIVE = "-march=native"


@dataclass(frozen=True)
class CParts:
    """The C of one library."""

    package: str  # Whose folder it lies in
    types: str  # The header that CFFI reads too
    headers: tuple[str, ...]  # The other headers
    sources: tuple[str, ...]  # What is compiled

    def texts(self) -> dict[str, str]:
        """Return the text of each file, the types' first."""
        names = (self.types, *self.headers, *self.sources)
        return {name: (files(self.package) / name).read_text("utf-8") for name in names}


@cache
def native_library(parts: CParts) -> tuple[Any, Any]:
    """Return the library."""
    texts = parts.texts()
    tool = host_compilers()[0]
    key = sha256("\n".join([*texts.values(), *FLAGS, str(tool), _processor()]).encode())
    path = cache_folder("bncc-engines") / f"engine-{key.hexdigest()[:16]}.so"
    ffi: Any = cffi.FFI()
    ffi.cdef(re.sub(r"^#.*$", "", texts[parts.types], flags=re.MULTILINE))
    if path.exists() and _is_whole(path):
        try:
            return ffi, ffi.dlopen(str(path))
        except OSError:  # of another machine that shares this home
            path.unlink(missing_ok=True)
    _build(tool, texts, parts.sources, path)
    return ffi, ffi.dlopen(str(path))


def _build(tool: Tool, texts: dict[str, str], sources: tuple[str, ...], path: Path) -> None:
    """Compile beside the place, so that the library appears there whole."""
    with TemporaryDirectory(dir=path.parent, prefix="engine-") as name:
        folder = Path(name)
        for file, text in texts.items():
            (folder / file).write_text(text, encoding="utf-8")
        command = (*tool.command, *FLAGS, *sources, "-lm", "-o", "engine.so")
        try:
            run((*command, NATIVE), folder)
        except ToolchainError:
            run(command, folder)  # a compiler that does not know the machine it runs on
        (folder / "engine.so").chmod(0o700)  # whatever the umask, or it is not used again
        _digest_path(path).write_text(_digest(folder / "engine.so"), encoding="utf-8")
        _digest_path(path).chmod(0o600)
        (folder / "engine.so").replace(path)


def _digest_path(path: Path) -> Path:
    return path.with_suffix(".sha256")


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def _is_whole(path: Path) -> bool:
    """Return whether a library is the user's, and as it was built: a part would end the process."""
    try:
        return (
            is_ours(path)
            and is_ours(_digest_path(path))
            and _digest_path(path).read_text("utf-8") == _digest(path)
        )
    except (OSError, ValueError):
        return False


def _processor() -> str:
    """Return what tells this processor from others that may share the cache."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    features = next((line for line in lines if line.lower().startswith(("flags", "features"))), "")
    return f"{platform.machine()} {platform.processor()} {features}"
