"""The emitted C as a program that answers inputs on a stream: under sanitizers, and on targets."""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bncc._types import AnyArray, IntArray
from bncc.device.host import write_sources
from bncc.device.machine import RUN_LIMIT, ByteOrder, Entry, Exchange, HarnessError, Layout, Machine
from bncc.device.sources import cost_dtype, sources
from bncc.errors import ToolchainError
from bncc.model.model import Model
from bncc.toolchain.tools import (
    SANITIZERS,
    STRICT_C_FLAGS,
    STRICT_FLAGS,
    Tool,
    host_compilers,
    run,
)

CODES: Mapping[Entry, str] = {
    "predict": "p", "trusted": "t", "scores": "s", "raw": "r", "raw_checked": "c", "missing": "m",
    "raw_missing": "n", "stream": "f", "stream_raw": "g",
}  # fmt: skip
"""What the harness and the meter call each entry point."""


def request(entry: Entry, rows: AnyArray) -> bytes:
    """
    Return what the harness and the meter read: an entry, a number of rows, the rows.

    Shapes: `rows` (n, ...) array.
    """
    return CODES[entry].encode() + len(rows).to_bytes(4, "little") + rows.tobytes()


class Harness(Machine):
    """An emitted model as a program; the same methods as `bncc.device.host.HostLibrary`."""

    def __init__(
        self,
        model: Model,
        entries: frozenset[str],
        exchange: Exchange,
        toolchain: str,
        *,
        packed: bool = False,
        byte_order: ByteOrder = "=",
    ) -> None:
        super().__init__(model, entries, toolchain, packed=packed, byte_order=byte_order)
        self._exchange = exchange
        self._order = byte_order

    def close(self) -> None:
        """Give back nothing: whoever made the program keeps it."""

    def _answer(self, entry: Entry, rows: AnyArray) -> tuple[IntArray, IntArray]:
        reply = self._exchange(request(entry, rows))
        if len(reply) < 5:
            raise HarnessError(f"the program built by {self.toolchain} printed nothing")
        raw_size = int.from_bytes(reply[1:5], "little")
        if (
            entry in ("raw", "raw_checked", "raw_missing", "stream_raw")
            and raw_size != self.row_dtype.itemsize
        ):
            raise HarnessError(
                f"a raw row has {raw_size} bytes in the C and {self.row_dtype.itemsize} in "
                "Python; report this, it is a bug in bncc"
            )
        fields: list[tuple[str, Layout, tuple[int, ...]]] = [
            ("y", np.dtype(np.int16).newbyteorder(self._order), ())
        ]
        if entry == "scores":
            cost = cost_dtype(reply[0]).newbyteorder(self._order)
            fields.append(("scores", cost, (self.n_classes,)))
        layout = np.dtype(fields)
        if len(reply) - 5 != layout.itemsize * len(rows):
            raise HarnessError(
                f"the program built by {self.toolchain} answered "
                f"{(len(reply) - 5) // layout.itemsize} of {len(rows)} inputs"
            )
        answers = np.frombuffer(reply, dtype=layout, offset=5)
        y = answers["y"].astype(np.int16)
        none = np.empty((len(rows), 0), dtype=np.uint8)
        return y, answers["scores"] if entry == "scores" else none


class HostHarness(Harness):
    """A harness built for this machine, in a temporary folder that `close` removes."""

    def __init__(
        self,
        model: Model,
        files: Mapping[str, str],
        tool: Tool,
        flags: tuple[str, ...],
        *,
        launcher: tuple[str, ...] = (),
        is_one_unit: bool = False,
    ) -> None:
        built = sources(model, files)
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
        super().__init__(model, built.entries, self._run, " ".join(words))

    def close(self) -> None:
        """Remove the program; no call may follow."""
        self._folder.cleanup()

    def _run(self, request: bytes) -> bytes:
        program = Path(self._folder.name) / "harness"
        options = {"ASAN_OPTIONS": "detect_leaks=0:color=never", "UBSAN_OPTIONS": "color=never"}
        try:
            done = subprocess.run(
                [*self._launcher, program], input=request, capture_output=True,
                timeout=RUN_LIMIT, check=False, env={**os.environ, **options},
                cwd=self._folder.name,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise HarnessError(
                f"the program built by {self.toolchain} did not finish within {RUN_LIMIT:.0f} s; "
                "try fewer inputs"
            ) from None
        if done.returncode != 0:
            report = done.stderr.decode(errors="replace").splitlines()
            telling = [line for line in report if "error" in line.lower()] or ["it crashed"]
            # Process numbers, addresses and folders differ from run to run and say nothing.
            reason = re.sub(r"^=+\d+=+ *ERROR: | on .*address .*|\S*/", "", telling[0]).rstrip(". ")
            raise HarnessError(f"the program built by {self.toolchain} was stopped: {reason}")
        return done.stdout


def build_harness(
    model: Model,
    files: Mapping[str, str],
    *,
    compiler: Tool | None = None,
    opt_level: str = "-O2",
    sanitize: bool = True,
    flags: Sequence[str] = (),
    launcher: Sequence[str] = (),
    is_one_unit: bool = False,
) -> HostHarness:
    """Compile an emission as a program of this machine."""
    tool = compiler or host_compilers()[0]
    return HostHarness(
        model,
        files,
        tool,
        (opt_level, *(SANITIZERS if sanitize else ()), *flags),
        launcher=tuple(launcher),
        is_one_unit=is_one_unit,
    )
