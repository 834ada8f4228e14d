"""Execution of instructions on numbers: the same meaning that the abstract run interprets."""

import operator
from collections.abc import Callable, Mapping
from ctypes import c_float
from math import isnan
from struct import pack, unpack
from typing import Protocol

from bncc.prove.instructions import Effect, Expr, Flags, Instruction, Load, Set, Store

WORD = 0xFFFF_FFFF


class Memory(Protocol):
    """Bytes by address."""

    def read(self, address: int, size: int) -> int:
        """Return an unsigned number, least significant byte first."""

    def write(self, address: int, size: int, value: int) -> None:
        """Write the lowest bytes of a number."""


class Bytes:
    """Memory as a dictionary; a byte that was never written is an error."""

    def __init__(self, content: Mapping[int, int] | None = None) -> None:
        self.content = dict(content or {})

    def read(self, address: int, size: int) -> int:
        """Return an unsigned number, least significant byte first."""
        return sum(self.content[address + k & WORD] << 8 * k for k in range(size))

    def write(self, address: int, size: int, value: int) -> None:
        """Write the lowest bytes of a number."""
        for k in range(size):
            self.content[address + k & WORD] = value >> 8 * k & 0xFF


class State:
    """Registers, flags (0 or 1) and memory of a processor."""

    def __init__(
        self,
        registers: Mapping[str, int],
        memory: Memory,
        n: int = 0,
        z: int = 0,
        c: int = 0,
        v: int = 0,
    ) -> None:
        self.registers = dict(registers)
        self.memory = memory
        self.n, self.z, self.c, self.v = n, z, c, v


def execute(instruction: Instruction, state: State) -> int:
    """Execute an instruction; return the address that follows, as a jump has it."""
    following = instruction.address + instruction.size
    if instruction.condition is not None and not evaluate(instruction.condition, state):
        return following
    for effect in instruction.effects:
        target = _apply(effect, state)
        if target is not None:
            return target
    return following


def _apply(effect: Effect, state: State) -> int | None:
    """Apply an effect; return the target of a jump that is taken."""
    if isinstance(effect, Set):
        state.registers[effect.register] = evaluate(effect.value, state)
    elif isinstance(effect, Load):
        value = state.memory.read(evaluate(effect.address, state), effect.size)
        if effect.is_signed:
            value = _extended(value, 8 * effect.size)
        state.registers[effect.register] = value
    elif isinstance(effect, Store):
        value = evaluate(effect.value, state)
        state.memory.write(evaluate(effect.address, state), effect.size, value)
    elif isinstance(effect, Flags):
        _set_flags(effect, state)
    elif effect.condition is None or evaluate(effect.condition, state):
        return evaluate(effect.target, state)
    return None


def _set_flags(flags: Flags, state: State) -> None:
    left, right = evaluate(flags.left, state), evaluate(flags.right, state)
    if flags.kind == "logic":
        if flags.carry is not None:
            state.c = evaluate(flags.carry, state)
        state.n, state.z = left >> 31, int(left == 0)
    elif flags.kind == "float":
        state.n, state.z = _less(left, right), _equal(left, right)
        state.v = int(isnan(_float(left)) or isnan(_float(right)))
        state.c = 1 - state.n
    else:
        if flags.kind in ("sub", "sbc"):
            right ^= WORD  # left - right is left + ~right + 1.
        carry = {"add": 0, "sub": 1}.get(flags.kind, state.c)
        total = left + right + carry
        result = total & WORD
        state.n, state.z, state.c = result >> 31, int(result == 0), total >> 32
        state.v = ((left ^ result) & (right ^ result)) >> 31


def evaluate(expression: Expr, state: State) -> int:
    """Return the value of an expression; of ``ite`` only the chosen one is evaluated."""
    if isinstance(expression, int):
        return expression
    if isinstance(expression, str):
        return state.registers[expression]
    operation = expression[0]
    if operation == "flag":
        return int(FLAGS[str(expression[1])](state))
    if operation == "ite":
        return evaluate(expression[2 if evaluate(expression[1], state) else 3], state)
    if operation in _STEPS:
        parts = (evaluate(part, state) for part in expression[1:])
        return sum(part << _STEPS[str(operation)] * k for k, part in enumerate(parts))
    a, b = evaluate(expression[1], state), evaluate(expression[2], state)
    return OPERATIONS[str(operation)](a, b) & WORD


_STEPS = {"cat": 8, "pack": 1}
"""Bits from one operand to the next of operations that put their operands side by side."""
FLAGS: Mapping[str, Callable[[State], int]] = {
    "eq": lambda s: s.z,
    "ne": lambda s: 1 - s.z,
    "cs": lambda s: s.c,
    "cc": lambda s: 1 - s.c,
    "mi": lambda s: s.n,
    "pl": lambda s: 1 - s.n,
    "vs": lambda s: s.v,
    "vc": lambda s: 1 - s.v,
    "hi": lambda s: s.c & (1 - s.z),
    "ls": lambda s: (1 - s.c) | s.z,
    "ge": lambda s: s.n == s.v,
    "lt": lambda s: s.n != s.v,
    "gt": lambda s: s.z == 0 and s.n == s.v,
    "le": lambda s: s.z == 1 or s.n != s.v,
}


def _extended(x: int, bits: int) -> int:
    """Return the lowest bits of a number, extended by their sign."""
    sign = 1 << bits - 1
    return ((x & (1 << bits) - 1 ^ sign) - sign) & WORD


def _signed(x: int) -> int:
    return x - (1 << 32) if x >> 31 else x


def _ror(a: int, b: int) -> int:
    return (a << 32 | a) >> (b & 31)


def _float(bits: int) -> float:
    return float(unpack("<f", pack("<I", bits))[0])


def _sum(a: int, b: int) -> int:
    """Return the sum of two floats: a double holds enough bits to be rounded once more."""
    total = c_float(_float(a) + _float(b)).value
    return 0x7FC0_0000 if isnan(total) else int(unpack("<I", pack("<f", total))[0])


def _equal(a: int, b: int) -> int:
    return int(_float(a) == _float(b))


def _less(a: int, b: int) -> int:
    return int(_float(a) < _float(b))


OPERATIONS: Mapping[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "shl": operator.lshift,
    "shr": operator.rshift,
    "sar": lambda a, b: _signed(a) >> b,
    "ror": _ror,
    "byte": lambda a, k: a >> 8 * k & 0xFF,
    "zext": lambda a, n: a & (1 << n) - 1,
    "sext": _extended,
    "eq": operator.eq,
    "ult": operator.lt,
    "slt": lambda a, b: _signed(a) < _signed(b),
    "umulh": lambda a, b: a * b >> 32,
    "udiv": operator.floordiv,
    "urem": operator.mod,
    "fadd": _sum,
    "feq": _equal,
    "flt": _less,
    "fle": lambda a, b: int(_float(a) <= _float(b)),
}
"""Operations on two numbers; the result is taken modulo 2^32."""
