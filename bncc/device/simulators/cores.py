"""The processors of unicorn, by names of its constants, and how long their instructions are."""

import sys
from collections.abc import Callable
from dataclasses import dataclass


def _thumb_length(code: bytes, at: int) -> int:
    return 4 if code[at + 1] >> 3 in (0b11101, 0b11110, 0b11111) else 2


def _riscv_length(code: bytes, at: int) -> int:
    return 4 if code[at] & 3 == 3 else 2


def _mips_length(code: bytes, at: int) -> int:
    return 4


@dataclass(frozen=True)
class Core:
    """A processor of unicorn."""

    architecture: str  # architecture and mode: Names of unicorn's constants
    mode: tuple[str, ...]
    # Module and constant of the processor model; None for the default
    model: tuple[str, str] | None
    # Bytes of the instruction at a place of some code; None counts one by one
    length: Callable[[bytes, int], int] | None
    entry_bit: int = 0  # Added to the entry's address
    most: int = 0  # Instructions it may execute; 0 for any number, which then are not counted


def _cortex(model: str) -> Core:
    constant = f"UC_CPU_ARM_CORTEX_{model}"
    mode = ("UC_MODE_THUMB", "UC_MODE_MCLASS")
    return Core("UC_ARCH_ARM", mode, ("arm_const", constant), _thumb_length, 1)


CORES = {
    "x86": Core("UC_ARCH_X86", ("UC_MODE_64",), None, None),
    "cortex-m0": _cortex("M0"),
    "cortex-m3": _cortex("M3"),
    "cortex-m4": _cortex("M4"),
    "cortex-m7": _cortex("M7"),
    "rv32": Core("UC_ARCH_RISCV", ("UC_MODE_RISCV32",), None, _riscv_length),
    # Where it counts it translates 290 instructions at once or fewer. From about 370 in a line,
    # which are a kernel without a loop, its buffer overflows and the whole process crashes
    # (github.com/unicorn-engine/unicorn/issues/2240).
    "big-endian": Core(
        "UC_ARCH_MIPS",
        ("UC_MODE_MIPS32", "UC_MODE_BIG_ENDIAN"),
        None,
        _mips_length,
        most=sys.maxsize,
    ),
}
