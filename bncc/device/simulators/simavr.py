"""simavr: an AVR whose cycles and stack are counted exactly, one by one."""

import atexit
import re
import subprocess
from functools import cache
from importlib.resources import files as package_files
from pathlib import Path
from tempfile import TemporaryDirectory

from bncc.device.image import Image
from bncc.device.machine import RUN_LIMIT, HarnessError
from bncc.errors import ToolchainError
from bncc.targets import TARGETS, find_target
from bncc.targets.base import Mcu
from bncc.toolchain import tools as toolchain
from bncc.toolchain.tools import Tool

INSTALL_HINT = "apt install libsimavr-dev libelf-dev"
"""The command that installs the build dependencies of the runner."""

_DATA_SPACE = 0x800000
"""Address of the data space in an AVR's ELF file, which keeps symbol addresses distinct."""

CYCLE_LIMIT = 2**40
"""Number of cycles that exceeds every timeout."""

# Exit statuses of simavr_runner.c; those below are the program's own.
_CANNOT_START, _TOO_LONG = 100, 104


class Simavr:
    """Runs images on the AVR of simavr."""

    name = "simavr"
    port = "port_doorbell.h"
    defines: tuple[str, ...] = ()

    def tool(self, target: str) -> Tool:
        """Return simavr's library, installed or not."""
        here = is_available()
        path = "libsimavr" if here else None
        served = tuple(each.name for each in TARGETS.values() if "simavr" in each.tools)
        return Tool("simavr", path, version(), served, INSTALL_HINT, "simulator")

    def describe(self, target: str) -> str:
        """Return name, version and processor, for display."""
        return f"{self.tool(target)} {find_target(target).simulated(Mcu).name}"

    def per_unit(self, target: str) -> float:
        """Return the increment of the counter per cycle."""
        return 1.0

    def run(self, image: Image, request: bytes, *, is_metered: bool = False) -> bytes:
        """Run an image to its end."""
        at = image.symbols["bncc_request"]
        mcu = image.target.simulated(Mcu).name
        return run(image.path, mcu, request, at, cycle_limit=CYCLE_LIMIT)


def run(elf: Path, mcu: str, request: bytes, request_address: int, *, cycle_limit: int) -> bytes:
    """Run a program that communicates through ``port_doorbell.h`` on a simulated AVR."""
    command = (_runner(), mcu, elf, f"{request_address % _DATA_SPACE:x}", str(cycle_limit))
    try:
        done = subprocess.run(
            command, input=request, capture_output=True, timeout=RUN_LIMIT, check=False,
            start_new_session=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise HarnessError(
            f"the program did not finish on the simulated {mcu} within {RUN_LIMIT:.0f} s; try "
            "fewer inputs"
        ) from None
    if done.returncode == 0:
        return done.stdout
    said = (done.stderr.decode(errors="replace").splitlines() or ["the program crashed simavr"])[-1]
    if done.returncode == _CANNOT_START:
        raise ToolchainError(f"simavr cannot run a program for '{mcu}': {said}; report this")
    if 0 < done.returncode < _CANNOT_START:
        said = f"the program quit with status {done.returncode}"
    remedy = "try fewer inputs" if done.returncode == _TOO_LONG else "report this"
    raise HarnessError(f"{said}, on the simulated {mcu}; {remedy}")


def is_available() -> bool:
    """Return whether programs can be run: simavr's library and a compiler are available."""
    return _build() is not None


def version() -> str | None:
    """
    Return the version of simavr's library, or None if it is missing or unknown.

    simavr has no option for it; its headers, with which the runner is built, have the version.
    """
    program = _build()
    if program is None:
        return None
    found = re.match(r"v?(\d[\w.]*)", toolchain.run((str(program), "--version"), program.parent))
    return found[1] if found else None


def _runner() -> Path:
    program = _build()
    if program is None:
        toolchain.host_compilers()  # raises a clear error if a compiler is missing
        raise ToolchainError(f"simavr's library is not installed; run `{INSTALL_HINT}`")
    return program


def calls_library() -> Path:
    """Return the library that calls single functions of a program, built once per process."""
    library = _build("simavr_calls.c", ("-shared", "-fPIC"))
    if library is None:
        toolchain.host_compilers()  # raises a clear error if a compiler is missing
        raise ToolchainError(f"simavr's library is not installed; run `{INSTALL_HINT}`")
    return library


@cache
def _build(name: str = "simavr_runner.c", flags: tuple[str, ...] = ()) -> Path | None:
    """Build a program or a library of ``runtime/``, once per process; None if that fails."""
    try:
        compilers = toolchain.host_compilers("all")
    except ToolchainError:
        return None
    folder = TemporaryDirectory(prefix="bncc-simavr-")
    atexit.register(folder.cleanup)
    source = package_files("bncc.device").joinpath("runtime", name)
    program = Path(folder.name) / Path(name).stem
    program.with_suffix(".c").write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    every = ("-std=gnu11", "-O2", *flags, name, "-o", program.name, "-lsimavr", "-lelf")
    for compiler in compilers:
        try:
            toolchain.run((*compiler.command, *every), program.parent)
        except ToolchainError:
            continue
        return program
    return None
