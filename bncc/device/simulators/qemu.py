"""QEMU: Cortex-M on Arm's MPS2 boards and RV32 on its virtual board, through semihosting."""

import subprocess
from dataclasses import dataclass

from bncc.device.image import Image
from bncc.device.machine import RUN_LIMIT, HarnessError
from bncc.toolchain.tools import Tool, find_tools, require


@dataclass(frozen=True)
class Board:
    """A board of QEMU and how its clock counts instructions."""

    program: str  # The command
    options: tuple[str, ...]  # Board and processor
    icount_shift: int  # An instruction takes ``2**icount_shift`` ns of virtual time
    ticks_per_instruction: float  # What the meter's counter counts in that time


def _mps2(board: str) -> Board:
    # A timer of 25 MHz counts 25.6 ticks in 1024 ns: rounding to whole instructions is exact.
    return Board("qemu-system-arm", ("-M", board), 10, 25.6)


_FAULT = 99
"""The status with which startup.c ends a program after a fault."""

BOARDS = {
    "cortex-m0": _mps2("mps2-an385"),  # a Cortex-M3: ARMv6-M is a subset of what it executes
    "cortex-m3": _mps2("mps2-an385"),
    "cortex-m4": _mps2("mps2-an386"),
    "cortex-m7": _mps2("mps2-an500"),
    "rv32": Board("qemu-system-riscv32", ("-M", "virt", "-bios", "none"), 0, 1.0),
}


class Qemu:
    """Runs images on the boards of QEMU."""

    name = "qemu"
    port = "port_semihosting.h"
    defines: tuple[str, ...] = ()

    def tool(self, target: str) -> Tool:
        """Return the command for a target, installed or not."""
        program = BOARDS[target].program
        return next(tool for tool in find_tools() if tool.name == program)

    def describe(self, target: str) -> str:
        """Return command, version and board, for people."""
        board = BOARDS[target]
        return f"{require(board.program)} {board.options[1]}"

    def per_unit(self, target: str) -> float:
        """Return how far the counter steps at every instruction."""
        return BOARDS[target].ticks_per_instruction

    def run(self, image: Image, request: bytes, *, is_metered: bool = False) -> bytes:
        """Run an image to its end."""
        board = BOARDS[image.target.name]
        folder = image.path.parent
        (folder / "request").write_bytes(request)
        (folder / "reply").unlink(missing_ok=True)
        clock = ("-icount", f"shift={board.icount_shift}") if is_metered else ()
        command = (
            *require(board.program).command, *board.options, "-display", "none",
            "-monitor", "none", "-serial", "none", "-nic", "none", "-no-reboot", *clock,
            "-semihosting-config", "enable=on,target=native", "-kernel", image.path.name,
        )  # fmt: skip
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, timeout=RUN_LIMIT, check=False,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise HarnessError(
                f"the program did not finish on {board.program} within {RUN_LIMIT:.0f} s; try "
                "fewer inputs"
            ) from None
        if done.returncode != 0:
            raise HarnessError(
                f"the program {_end(done)} on {board.program}; report this, it is a bug in bncc"
            )
        reply = folder / "reply"
        return reply.read_bytes() if reply.exists() else b""


def _end(done: "subprocess.CompletedProcess[bytes]") -> str:
    """Return in words how a program ended that did not end well."""
    if done.returncode == _FAULT:
        return "met a fault"
    lines = done.stderr.decode(errors="replace").splitlines()
    telling = [line.strip() for line in lines if line.strip() and "warning:" not in line]
    return f"was stopped ({telling[0]})" if telling else f"ended with status {done.returncode}"
