"""Instruction sets: their decoders and calling conventions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from bncc.prove.code import Code
from bncc.prove.instructions import Instruction


@dataclass(frozen=True)
class Machine:
    """Registers of an instruction set by their role in its calling convention."""

    registers: tuple[str, ...]
    stack: str
    link: str
    arguments: tuple[str, ...]
    result: str
    kept: tuple[str, ...]  # Registers that a function must restore
    constants: Mapping[str, int]  # Contents that start-up code sets
    stack_alignment: int = 1  # The stack pointer is a multiple of it at a call
    stack_multiple: int = 1  # The processor clears lower bits of the stack pointer
    returned: int = 0  # Offset of the stack pointer after a return
    result_bits: int = 32
    has_far_jumps: bool = True  # A call into the middle of a function is a jump


class Decoder(Protocol):
    """Decodes the instructions of a program."""

    def decode(self, address: int) -> Instruction:
        """Return the instruction at an address."""


CORTEX_M = Machine(
    registers=(*(f"r{k}" for k in range(13)), *(f"s{k}" for k in range(32))),
    stack="sp",
    link="lr",
    arguments=("r0", "r1"),
    result="r0",
    kept=(*(f"r{k}" for k in range(4, 12)), *(f"s{k}" for k in range(16, 32))),
    constants={},
    stack_alignment=8,
    stack_multiple=4,
)
RISCV = Machine(
    registers=(
        *(f"t{k}" for k in range(7)),
        *(f"s{k}" for k in range(12)),
        *(f"a{k}" for k in range(8)),
        "gp",
        "tp",
    ),
    stack="sp",
    link="ra",
    arguments=("a0", "a1"),
    result="a0",
    kept=("gp", "tp", *(f"s{k}" for k in range(12))),
    constants={},
    stack_alignment=16,
)
AVR = Machine(
    registers=tuple(f"r{k}" for k in range(32)),
    stack="sp",
    link="",  # The return address is on the stack
    arguments=("r24", "r22"),
    result="r24",
    kept=("r1", *(f"r{k}" for k in range(2, 18)), "r28", "r29"),
    constants={"r1": 0},
    returned=1,
    result_bits=16,
    has_far_jumps=False,
)


def decoder_of(code: Code) -> Decoder:
    """Return a decoder of a program."""
    if code.target.name.startswith("cortex-m"):
        from bncc.prove.thumb import Decoder as Thumb

        return Thumb(code)
    if code.target.name == "avr":
        from bncc.prove.avr import Decoder as Avr

        return Avr(code)
    from bncc.prove.riscv import Decoder as Riscv

    return Riscv(code)


def machine_of(code: Code) -> Machine:
    """Return the calling convention of a program's target."""
    if code.target.name == "avr":
        return AVR
    return CORTEX_M if code.target.name.startswith("cortex-m") else RISCV
