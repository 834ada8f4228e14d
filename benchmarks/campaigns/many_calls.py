"""
Calls of one function with thousands of inputs at a time, by a loop in the simulated processor.

`bncc.prove.replay` makes one call at a time and checks each access to memory. This loop only takes
the answers, without a call of Python for each input.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bncc._types import IntArray
from bncc.prove.code import Code
from bncc.targets.base import Core

_PAGE = 0x1000
_INPUTS, _ANSWERS, _STACK, _LOOP = 0x4000_0000, 0x5000_0000, 0x6000_0000, 0x6800_0000
"""Addresses that no program of a target uses."""
_STACK_SIZE = 0x1_0000
_SECONDS = 120
"""Seconds of a group after which a call is taken not to end."""


class _Loop(NamedTuple):
    """A loop that calls a function, as machine code."""

    code: bytes
    prefix: str  # of unicorn's constants
    function: str  # Registers, by unicorn's names
    input: str
    size: str
    end: str
    answer: str


_LOOPS = {
    "UC_ARCH_ARM": _Loop(
        bytes.fromhex(
            "2846"  # loop: mov r0, r5
            "a047"  # blx r4
            "3060"  # str r0, [r6]
            "0436"  # adds r6, #4
            "3d44"  # add r5, r7
            "4545"  # cmp r5, r8
            "f8d1"  # bne loop
        ),
        "UC_ARM_REG_", "R4", "R5", "R7", "R8", "R6",
    ),
    "UC_ARCH_RISCV": _Loop(
        bytes.fromhex(
            "13850400"  # loop: mv a0, s1
            "e7000400"  # jalr ra, s0
            "2320a900"  # sw a0, 0(s2)
            "13094900"  # addi s2, s2, 4
            "b3843401"  # add s1, s1, s3
            "e39644ff"  # bne s1, s4, loop
        ),
        "UC_RISCV_REG_", "S0", "S1", "S3", "S4", "S2",
    ),
}  # fmt: skip


class ManyCalls:
    """A function of a linked program, to be called with many inputs of one size."""

    def __init__(self, code: Code, symbol: str) -> None:
        import unicorn
        from unicorn import arm_const, riscv_const

        core = code.target.simulated(Core)
        self._core, self._loop = core, _LOOPS[core.architecture]
        self._constants = arm_const if core.architecture == "UC_ARCH_ARM" else riscv_const
        self._entry = code.entry(symbol) | core.entry_bit
        mode = 0
        for name in core.mode:
            mode |= getattr(unicorn, name)
        self._uc: Any = unicorn.Uc(getattr(unicorn, core.architecture), mode)
        if core.model is not None:
            self._uc.ctl_set_cpu_model(getattr(arm_const, core.model))
        pages = {
            page
            for start, data in code.sections
            for page in range(start // _PAGE, (start + len(data) - 1) // _PAGE + 1)
        }
        for page in sorted(pages):
            self._uc.mem_map(page * _PAGE, _PAGE, unicorn.UC_PROT_READ | unicorn.UC_PROT_EXEC)
        for start, data in code.sections:
            self._uc.mem_write(start, data)
        self._uc.mem_map(_STACK, _STACK_SIZE)
        self._uc.mem_map(_LOOP, _PAGE)
        self._uc.mem_write(_LOOP, self._loop.code)
        self._global = code.symbols.get("__global_pointer$")
        self._mapped = 0

    def answers(self, inputs: Sequence[bytes]) -> IntArray | None:
        """Return what the function returns for each input; None if a call breaks off."""
        import unicorn

        size, n = len(inputs[0]), len(inputs)
        stride = -(-size // 8) * 8
        self._map(n * max(stride, 4))
        self._uc.mem_write(_INPUTS, b"".join(one.ljust(stride, b"\0") for one in inputs))
        loop = self._loop
        values = {
            loop.function: self._entry,
            loop.input: _INPUTS,
            loop.size: stride,
            loop.end: _INPUTS + n * stride,
            loop.answer: _ANSWERS,
            "SP": _STACK + _STACK_SIZE,
        }
        if self._global is not None:
            values["GP"] = self._global
        for name, value in values.items():
            self._uc.reg_write(getattr(self._constants, loop.prefix + name), value)
        end = _LOOP + len(loop.code)
        try:
            self._uc.emu_start(_LOOP | self._core.entry_bit, end, timeout=_SECONDS * 1_000_000)
        except unicorn.UcError:
            return None
        pc = self._uc.reg_read(getattr(self._constants, loop.prefix + "PC"))
        if pc & ~self._core.entry_bit != end:
            return None
        return np.frombuffer(self._uc.mem_read(_ANSWERS, 4 * n), dtype="<i4").astype(np.int64)

    def _map(self, size: int) -> None:
        size = -(-size // _PAGE) * _PAGE
        if size > self._mapped:
            for start in (_INPUTS, _ANSWERS):
                if self._mapped:
                    self._uc.mem_unmap(start, self._mapped)
                self._uc.mem_map(start, size)
            self._mapped = size
