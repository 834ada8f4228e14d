"""The emitted C as a shared library of this machine, called through cffi without Python headers."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import cffi
import numpy as np

from bncc._types import AnyArray, IntArray
from bncc.device.machine import Entry, Machine
from bncc.device.sources import Sources, check_raw_size, cost_dtype, sources, support_file
from bncc.errors import ToolchainError
from bncc.model.model import Model
from bncc.toolchain.tools import STRICT_C_FLAGS, STRICT_FLAGS, Tool, host_compilers, run

_DECLARATIONS = """
uint32_t bncc_cost_size(void);
uint32_t bncc_raw_size(void);
void bncc_predict(const void *x, int16_t *y, uint32_t n_rows);
void bncc_trusted(const void *x, int16_t *y, uint32_t n_rows);
void bncc_scores(const void *x, int16_t *y, void *s, uint32_t n_rows);
void bncc_raw(const void *x, int16_t *y, uint32_t n_rows);
void bncc_raw_checked(const void *x, int16_t *y, uint32_t n_rows);
void bncc_missing(const void *x, int16_t *y, uint32_t n_rows);
void bncc_raw_missing(const void *x, int16_t *y, uint32_t n_rows);
void bncc_stream(const void *x, int16_t *y, uint32_t n_rows);
void bncc_stream_raw(const void *x, int16_t *y, uint32_t n_rows);
"""


class HostLibrary(Machine):
    """An emitted model loaded into this process; answers arrays of inputs."""

    def __init__(self, model: Model, built: Sources, library: Path, toolchain: str) -> None:
        super().__init__(model, built.entries, toolchain)
        self._ffi: Any = cffi.FFI()
        self._ffi.cdef(_DECLARATIONS)
        self._library = _load(self._ffi, library, toolchain)
        if "scores" in self.entries:
            self._cost_dtype = cost_dtype(self._library.bncc_cost_size())
        if "raw" in self.entries:
            check_raw_size(model, self._library.bncc_raw_size())

    def close(self) -> None:
        """Unload the library; no call may follow."""
        self._ffi.dlclose(self._library)

    def _answer(self, entry: Entry, rows: AnyArray) -> tuple[IntArray, IntArray]:
        y = np.empty(len(rows), dtype=np.int16)
        buffer = self._ffi.from_buffer
        if entry != "scores":
            call = getattr(self._library, f"bncc_{entry}")
            call(buffer(rows), buffer("int16_t[]", y), len(rows))
            return y, np.empty((len(rows), 0), dtype=np.uint8)
        s = np.full((len(rows), self.n_classes), -1, dtype=np.int64).astype(self._cost_dtype)
        self._library.bncc_scores(buffer(rows), buffer("int16_t[]", y), buffer(s), len(rows))
        return y, s


def _load(ffi: Any, library: Path, toolchain: str) -> Any:
    try:
        return ffi.dlopen(str(library))
    except OSError:
        raise ToolchainError(
            f"this Python cannot load what {toolchain} built; choose another compiler"
        ) from None


def build_library(
    model: Model,
    files: Mapping[str, str],
    *,
    compiler: Tool | None = None,
    opt_level: str = "-O2",
) -> HostLibrary:
    """Compile an emission for this machine and load it."""
    tool = compiler or host_compilers()[0]
    built = sources(model, files)
    with TemporaryDirectory(prefix="bncc-") as folder:
        write_sources(Path(folder), built, "driver.c")
        flags = ("-std=c99", *STRICT_FLAGS, *STRICT_C_FLAGS, opt_level, "-fPIC", "-shared")
        run((*tool.command, *flags, built.main, "driver.c", "-o", "model.so"), Path(folder))
        return HostLibrary(model, built, Path(folder) / "model.so", f"{tool} {opt_level}")


def write_sources(folder: Path, built: Sources, *support: str) -> None:
    """Write a model's sources and some of the C that ships with bncc into a folder."""
    for name, text in built.files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    for name in support:
        (folder / name).write_text(support_file(name), encoding="utf-8", newline="\n")
