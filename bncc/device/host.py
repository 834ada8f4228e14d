"""
Emitted C on this computer: as a shared library, or as a program under sanitizers.

The library is called through cffi, without Python headers.
"""

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import cffi
import numpy as np

from bncc._types import AnyArray, IntArray
from bncc.device.machine import (
    OF_SUMS,
    RUN_LIMIT,
    Entry,
    Harness,
    HarnessError,
    Machine,
    check_raw_size,
    cost_dtype,
)
from bncc.device.sources import Sources, support_file
from bncc.errors import ToolchainError
from bncc.toolchain.tools import (
    SANITIZERS,
    STRICT_C_FLAGS,
    STRICT_FLAGS,
    Tool,
    host_compilers,
    run,
)

_DECLARATIONS = """
uint32_t bncc_cost_size(void);
uint32_t bncc_raw_size(void);
void bncc_predict(const void *x, int16_t *y, uint32_t n_rows);
void bncc_trusted(const void *x, int16_t *y, uint32_t n_rows);
void bncc_scores(const void *x, int16_t *y, void *s, uint32_t n_rows);
void bncc_scores_raw(const void *x, int16_t *y, void *s, uint32_t n_rows);
void bncc_raw(const void *x, int16_t *y, uint32_t n_rows);
void bncc_raw_checked(const void *x, int16_t *y, uint32_t n_rows);
void bncc_missing(const void *x, int16_t *y, uint32_t n_rows);
void bncc_raw_missing(const void *x, int16_t *y, uint32_t n_rows);
void bncc_stream(const void *x, int16_t *y, uint32_t n_rows);
void bncc_stream_raw(const void *x, int16_t *y, uint32_t n_rows);
void bncc_filter(const void *x, int16_t *y, uint32_t n_rows);
void bncc_confidence(const void *x, int16_t *y, uint32_t n_rows);
void bncc_unknown(const void *x, int16_t *y, uint32_t n_rows);
void bncc_counters(const void *x, int16_t *y, uint32_t n_rows);
void bncc_adaptation(const void *x, int16_t *y, uint32_t n_rows);
"""


class HostLibrary(Machine):
    """Emitted C loaded into this process; computes results of arrays of inputs."""

    def __init__(self, built: Sources, library: Path, toolchain: str) -> None:
        super().__init__(built.interface, built.entries, toolchain)
        self._ffi: Any = cffi.FFI()
        self._ffi.cdef(_DECLARATIONS)
        self._library = _load(self._ffi, library, toolchain)
        if "scores" in self.entries:
            self._cost_dtype = cost_dtype(self._library.bncc_cost_size())
        if "raw" in self.entries:
            check_raw_size(built.interface, self._library.bncc_raw_size())

    def close(self) -> None:
        """Unload the library; no call may follow."""
        self._ffi.dlclose(self._library)

    def _answer(self, entry: Entry, rows: AnyArray) -> tuple[IntArray, IntArray]:
        y = np.empty(len(rows), dtype=np.int16)
        buffer = self._ffi.from_buffer
        call = getattr(self._library, f"bncc_{entry}")
        if entry not in OF_SUMS:
            call(buffer(rows), buffer("int16_t[]", y), len(rows))
            return y, np.empty((len(rows), 0), dtype=np.uint8)
        s = np.full((len(rows), self.n_classes), -1, dtype=np.int64).astype(self._cost_dtype)
        call(buffer(rows), buffer("int16_t[]", y), buffer(s), len(rows))
        return y, s


def _load(ffi: Any, library: Path, toolchain: str) -> Any:
    try:
        return ffi.dlopen(str(library))
    except OSError:
        raise ToolchainError(
            f"this Python cannot load what {toolchain} built; choose another compiler"
        ) from None


def build_library(
    built: Sources, *, compiler: Tool | None = None, opt_level: str = "-O2"
) -> HostLibrary:
    """Compile emitted C for this computer and load it."""
    tool = compiler or host_compilers()[0]
    with TemporaryDirectory(prefix="bncc-") as folder:
        write_sources(Path(folder), built, "driver.c")
        flags = ("-std=c99", *STRICT_FLAGS, *STRICT_C_FLAGS, opt_level, "-fPIC", "-shared")
        run((*tool.command, *flags, built.main, "driver.c", "-o", "model.so"), Path(folder))
        return HostLibrary(built, Path(folder) / "model.so", f"{tool} {opt_level}")


def write_sources(folder: Path, built: Sources, *support: str) -> None:
    """Write a model's sources and some of the C that ships with bncc into a folder."""
    for name, text in built.files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    for name in support:
        (folder / name).write_text(support_file(name), encoding="utf-8", newline="\n")


class HostHarness(Harness):
    """A harness built for this computer, in a temporary folder that `close` removes."""

    def __init__(
        self,
        built: Sources,
        tool: Tool,
        flags: tuple[str, ...],
        *,
        launcher: tuple[str, ...] = (),
        is_one_unit: bool = False,
    ) -> None:
        self._launcher = launcher
        self._folder = TemporaryDirectory(prefix="bncc-")
        folder = Path(self._folder.name)
        write_sources(folder, built, "harness.c")
        write_sources(folder, built, "port_host.h")
        (folder / "port_host.h").rename(folder / "bncc_port.h")
        strict = ("-std=c99", *STRICT_FLAGS, *STRICT_C_FLAGS, *flags)
        units = [built.main, "harness.c"]
        if is_one_unit:
            (folder / "whole.c").write_text("".join(f'#include "{unit}"\n' for unit in units))
            units = ["whole.c"]
        try:
            run((*tool.command, *strict, *units, "-o", "harness"), folder)
        except ToolchainError:
            self.close()
            raise
        words = (str(tool), *flags, *launcher)
        super().__init__(built.interface, built.entries, self._run, " ".join(words))

    def close(self) -> None:
        """Remove the program; no call may follow."""
        self._folder.cleanup()

    def _run(self, request: bytes) -> bytes:
        program = Path(self._folder.name) / "harness"
        return run_program(program, request, self.toolchain, self._launcher)


def run_program(
    program: Path, request: bytes, toolchain: str, launcher: Sequence[str] = ()
) -> bytes:
    """Run a program of this computer in its folder, and return its output."""
    options = {"ASAN_OPTIONS": "detect_leaks=0:color=never", "UBSAN_OPTIONS": "color=never"}
    try:
        done = subprocess.run(
            [*launcher, program], input=request, capture_output=True, timeout=RUN_LIMIT,
            check=False, env={**os.environ, **options}, cwd=program.parent, start_new_session=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise HarnessError(
            f"the program built by {toolchain} did not finish within {RUN_LIMIT:.0f} s; try fewer "
            "inputs"
        ) from None
    if done.returncode != 0:
        report = done.stderr.decode(errors="replace").splitlines()
        telling = [line for line in report if "error" in line.lower()] or ["it crashed"]
        # Process numbers, addresses and folders vary between runs and are irrelevant.
        reason = re.sub(r"^=+\d+=+ *ERROR: | on .*address .*|\S*/", "", telling[0]).rstrip(". ")
        raise HarnessError(f"the program built by {toolchain} was stopped: {reason}")
    return done.stdout


def build_harness(
    built: Sources,
    *,
    compiler: Tool | None = None,
    opt_level: str = "-O2",
    sanitize: bool = True,
    flags: Sequence[str] = (),
    launcher: Sequence[str] = (),
    is_one_unit: bool = False,
) -> HostHarness:
    """Compile emitted C as a program of this computer."""
    tool = compiler or host_compilers()[0]
    return HostHarness(
        built,
        tool,
        (opt_level, *(SANITIZERS if sanitize else ()), *flags),
        launcher=tuple(launcher),
        is_one_unit=is_one_unit,
    )
