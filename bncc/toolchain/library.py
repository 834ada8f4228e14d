"""Native engines as shared libraries: built on first use, then loaded from the user's cache."""

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
"""No flags that reorder sums: the trainers' logarithms depend on the order as written."""
NATIVE = "-march=native"


@dataclass(frozen=True)
class CParts:
    """C sources of one library."""

    package: str  # Package with the sources
    types: str  # Header that CFFI reads too
    headers: tuple[str, ...]  # Other headers
    sources: tuple[str, ...]  # Files to compile

    def texts(self) -> dict[str, str]:
        """Return the text of each file, the types header first."""
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
        except OSError:  # built by another computer that shares this home directory
            path.unlink(missing_ok=True)
    _build(tool, texts, parts.sources, path)
    return ffi, ffi.dlopen(str(path))


def _build(tool: Tool, texts: dict[str, str], sources: tuple[str, ...], path: Path) -> None:
    """Compile in the same folder, so that the finished library is renamed into place."""
    with TemporaryDirectory(dir=path.parent, prefix="engine-") as name:
        folder = Path(name)
        for file, text in texts.items():
            (folder / file).write_text(text, encoding="utf-8")
        command = (*tool.command, *FLAGS, *sources, "-lm", "-o", "engine.so")
        try:
            run((*command, NATIVE), folder)
        except ToolchainError:
            run(command, folder)  # a compiler that does not recognize the local processor
        (folder / "engine.so").chmod(0o700)  # independent of the umask; otherwise it is not reused
        _digest_path(path).write_text(_digest(folder / "engine.so"), encoding="utf-8")
        _digest_path(path).chmod(0o600)
        (folder / "engine.so").replace(path)


def _digest_path(path: Path) -> Path:
    return path.with_suffix(".sha256")


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def _is_whole(path: Path) -> bool:
    """Return whether a library is the user's own and complete: a partial one would crash."""
    try:
        return (
            is_ours(path)
            and is_ours(_digest_path(path))
            and _digest_path(path).read_text("utf-8") == _digest(path)
        )
    except (OSError, ValueError):
        return False


def _processor() -> str:
    """Return an identifier of this processor among those that may share the cache."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    features = next((line for line in lines if line.lower().startswith(("flags", "features"))), "")
    return f"{platform.machine()} {platform.processor()} {features}"
