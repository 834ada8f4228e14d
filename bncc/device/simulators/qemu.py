"""QEMU: Cortex-M on Arm's MPS2 boards and RV32 on its virtual board, through semihosting."""

import subprocess

from bncc.device.image import Image
from bncc.device.machine import RUN_LIMIT, HarnessError
from bncc.targets import find_target
from bncc.targets.base import Board, Target
from bncc.toolchain.tools import Tool, find_tools, require

_FAULT = 99
"""Exit status of a program in startup.c after a fault."""


def board_of(target: Target) -> Board:
    """Return the board that represents a target."""
    return target.simulated(Board)


class Qemu:
    """Runs images on the boards of QEMU."""

    name = "qemu"
    port = "port_semihosting.h"
    defines: tuple[str, ...] = ()

    def tool(self, target: str) -> Tool:
        """Return the command for a target, installed or not."""
        name = board_of(find_target(target)).tool
        return next(tool for tool in find_tools() if tool.name == name)

    def describe(self, target: str) -> str:
        """Return command, version and board, for display."""
        board = board_of(find_target(target))
        return f"{require(board.tool)} {board.options[1]}"

    def per_unit(self, target: str) -> float:
        """Return the increment of the counter per instruction."""
        return board_of(find_target(target)).ticks_per_instruction

    def run(self, image: Image, request: bytes, *, is_metered: bool = False) -> bytes:
        """Run an image to its end."""
        board = board_of(image.target)
        folder = image.path.parent
        (folder / "request").write_bytes(request)
        (folder / "reply").unlink(missing_ok=True)
        clock = ("-icount", f"shift={board.icount_shift}") if is_metered else ()
        command = (
            *require(board.tool).command, *board.options, "-display", "none",
            "-monitor", "none", "-serial", "none", "-nic", "none", "-no-reboot", *clock,
            "-semihosting-config", "enable=on,target=native", "-kernel", image.path.name,
        )  # fmt: skip
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, timeout=RUN_LIMIT, check=False,
                stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise HarnessError(
                f"the program did not finish on {board.tool} within {RUN_LIMIT:.0f} s; "
                "try fewer inputs"
            ) from None
        if done.returncode != 0:
            raise HarnessError(
                f"the program {_end(done)} on {board.tool}; report this, it is a bug in bncc"
            )
        reply = folder / "reply"
        return reply.read_bytes() if reply.exists() else b""


def _end(done: "subprocess.CompletedProcess[bytes]") -> str:
    """Describe the abnormal end of a program."""
    if done.returncode == _FAULT:
        return "met a fault"
    lines = done.stderr.decode(errors="replace").splitlines()
    telling = [line.strip() for line in lines if line.strip() and "warning:" not in line]
    return f"was stopped ({telling[0]})" if telling else f"ended with status {done.returncode}"
