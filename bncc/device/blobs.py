"""The C runtime of blobs on this computer and on simulated targets: answers and footprint."""

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bncc._types import IntArray
from bncc.device.cross import Toolchain
from bncc.device.host import run_program
from bncc.device.image import Builder
from bncc.device.sources import support_file
from bncc.toolchain.tools import (
    SANITIZERS,
    STRICT_C_FLAGS,
    STRICT_FLAGS,
    Tool,
    host_compilers,
    run,
)

RUNTIME = "bncc_runtime.c"
MOST_BYTES = 8192
"""Bytes of two blobs on a simulated target."""


@dataclass(frozen=True, eq=False)
class Request:
    """A blob, or one in each of two slots, and readings to decide for if one is accepted."""

    blob: bytes
    readings: IntArray  # (n_rows, n_features) int, in 32 bits
    other: bytes | None = None  # The second slot

    @property
    def encoded(self) -> bytes:
        """Bytes that ``blobs.c`` reads."""
        n_rows, n = self.readings.shape
        assert self.other is None or len(self.other) == len(self.blob), "slots are of one size"
        head = struct.pack("<IIII", len(self.blob), n, n_rows, 1 if self.other is None else 2)
        return head + self.blob + (self.other or b"") + self.readings.astype("<i4").tobytes()


@dataclass(frozen=True, eq=False)
class Answer:
    """Answer of a firmware to a request."""

    opened: int  # Return value of ``bncc_open``, or the slot of ``bncc_open_newer``
    classes: IntArray  # (n_rows,) int: Decisions; none if it was refused


class BlobRunner:
    """A firmware that opens blobs, in a temporary folder that `close` removes."""

    def __init__(self, folder: TemporaryDirectory[str], answer: Callable[[bytes], bytes]) -> None:
        self._folder, self._answer = folder, answer

    def __enter__(self) -> "BlobRunner":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the program; no call may follow."""
        self._folder.cleanup()

    def answers(self, requests: Sequence[Request]) -> list[Answer]:
        """Open every blob and decide."""
        output = self._answer(b"".join(each.encoded for each in requests))
        numbers = np.frombuffer(output, dtype="<i2").astype(np.int64)
        found, at = [], 0
        for each in requests:
            opened = int(numbers[at])
            n_rows = 0 if opened < 0 else len(each.readings)
            found.append(Answer(opened, numbers[at + 1 : at + 1 + n_rows]))
            at += 1 + n_rows
        assert at == len(numbers), "answers of other requests"
        return found


def host_runner(
    files: Mapping[str, str],
    *defines: str,
    compiler: Tool | None = None,
    opt_level: str = "-O2",
    sanitize: bool = True,
) -> BlobRunner:
    """Build the runtime for this computer, under sanitizers."""
    tool = compiler or host_compilers()[0]
    home = TemporaryDirectory(prefix="bncc-")
    folder = Path(home.name)
    _write(folder, {**files, "bncc_port.h": support_file("port_host.h")})
    checks = SANITIZERS if sanitize else ()
    flags = ("-std=c99", *STRICT_FLAGS, *STRICT_C_FLAGS, opt_level, *checks)
    macros = (f"-D{define}" for define in ("BLOBS_ON_HEAP", *defines))
    try:
        run((*tool.command, *flags, *macros, RUNTIME, "blobs.c", "-o", "blobs"), folder)
    except BaseException:
        home.cleanup()
        raise
    name = f"{tool} {opt_level}"
    return BlobRunner(home, lambda request: run_program(folder / "blobs", request, name))


def target_runner(
    files: Mapping[str, str], bench: Toolchain, *defines: str, opt_level: str = "-Os"
) -> BlobRunner:
    """Build the runtime for a simulated target; blobs are in its memory."""
    home = TemporaryDirectory(prefix="bncc-")
    try:
        builder = Builder(Path(home.name), bench.target, bench.compiler)
        simulator = bench.simulator
        _write(builder.folder, {**files, "bncc_port.h": support_file(simulator.port)})
        macros = (*simulator.defines, f"BLOBS_MOST_BYTES={MOST_BYTES}U", *defines)
        objects = [
            builder.compile(RUNTIME, "runtime.o", opt_level, *defines),
            builder.compile("blobs.c", "blobs.o", "-O2", *macros),
        ]
        image = builder.link("blobs.elf", *objects)
    except BaseException:
        home.cleanup()
        raise
    return BlobRunner(home, lambda request: simulator.run(image, request))


FOOTPRINT = """#include "bncc_runtime.h"

static bncc_model_t m;
static bncc_reading_t x[BNCC_MAX_FEATURES];
static volatile int16_t answer;
static const uint8_t *volatile blob;

int main(void)
{
    @CALLS@
    return answer + (m.cuts == 0) + (x[0] != 0);
}
"""
"""A program that calls some functions; its flash, less that with a stub of them, is theirs."""
STUB = """#include "bncc_runtime.h"

#define STUB __attribute__((section(".stub"), noinline))

STUB int16_t bncc_open(bncc_model_t *m, const void *blob, uint32_t size)
{
    return (int16_t)((m != 0) + (blob != 0) + (size != 0U));
}

STUB int16_t bncc_open_newer(bncc_model_t *m, const void *slot0, const void *slot1, uint32_t size)
{
    return (int16_t)((m != 0) + (slot0 != 0) + (slot1 != 0) + (size != 0U));
}

STUB int16_t bncc_predict_raw(const bncc_model_t *m, const bncc_reading_t *x)
{
    return (int16_t)((m != 0) + (x != 0));
}
"""
CALLS = {
    "loader and kernel": (
        "answer = bncc_open(&m, blob, 4096U);",
        "answer = bncc_predict_raw(&m, x);",
    ),
    "with slots": (
        "answer = bncc_open_newer(&m, blob, blob, 4096U);",
        "answer = bncc_predict_raw(&m, x);",
    ),
}
"""Calls of the entry points by what they need."""


def footprints(
    files: Mapping[str, str], bench: Toolchain, opt_level: str = "-Os"
) -> Mapping[str, int]:
    """Return the flash of the runtime, with all library routines that it links."""
    with TemporaryDirectory(prefix="bncc-") as home:
        builder = Builder(Path(home), bench.target, bench.compiler)
        _write(builder.folder, files)
        builder.write({"stub.c": STUB})
        runtime = builder.compile(RUNTIME, "runtime.o", opt_level)
        stub = builder.compile("stub.c", "stub.o", opt_level)
        return {what: _flash_of(builder, calls, runtime, stub) for what, calls in CALLS.items()}


def _flash_of(builder: Builder, calls: Iterable[str], runtime: str, stub: str) -> int:
    builder.write({"calls.c": FOOTPRINT.replace("@CALLS@", "\n    ".join(calls))})
    main = builder.compile("calls.c", "calls.o", "-O2")
    images = [builder.link(f"{k}.elf", main, each) for k, each in enumerate((runtime, stub))]
    return images[0].flash - images[1].flash


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in {**files, "blobs.c": support_file("blobs.c")}.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
