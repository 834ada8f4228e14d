"""Instructions of RV32IMC."""

import re
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import capstone
import numpy as np

from bncc.checker.machine import State
from bncc.checker.model import Program
from bncc.checker.values import UNKNOWN, WORD, Algebra, RejectedError, Value, require, signed

Action: TypeAlias = Callable[[State], Value | None]
"""The meaning of an instruction: it changes a path, and may return where it jumps."""

COMPRESSED = {"addi16sp": "addi", "addi4spn": "addi", "lwsp": "lw", "swsp": "sw"}
LOADS = {"lb": (1, True), "lh": (2, True), "lw": (4, False), "lbu": (1, False), "lhu": (2, False)}
STORES = {"sb": 1, "sh": 2, "sw": 4}
JUMPS = ("j", "jal", "jr", "jalr", "ret")
ONES = Value(WORD - 1)


class Riscv:
    """Decodes with capstone, and gives each instruction its meaning."""

    # What registers have when a function is called
    registers: ClassVar[dict[str, str]] = {
        **{name: f"initial {name}" for name in ("gp", "tp")},
        **{f"t{k}": f"initial t{k}" for k in range(7)},
        **{f"s{k}": f"initial s{k}" for k in range(12)},
        **{f"a{k}": f"initial a{k}" for k in range(8)},
        **{"a0": "input", "a1": "output", "sp": "stack", "ra": "return"},
    }
    kept = ("sp", "gp", "tp", *(f"s{k}" for k in range(12)))
    stack, result, stack_alignment = "sp", "a0", 16

    def __init__(self, program: Program, target: str = "rv32") -> None:
        self._program = program
        self._known: dict[int, tuple[str, int, Action]] = {}
        mode = capstone.CS_MODE_RISCV32 | capstone.CS_MODE_RISCVC
        self._capstone: Any = capstone.Cs(capstone.CS_ARCH_RISCV, mode)

    def execute(self, path: State) -> Value:
        """Execute an instruction on a path; return where it leads."""
        text, after, action = self.decode(path.at)
        try:
            return action(path) or Value(after)
        except RejectedError as error:
            raise RejectedError(f"{error}, {text}") from None

    def decode(self, address: int) -> tuple[str, int, Action]:
        """Return the instruction at an address as text, the address after it, and its meaning."""
        if address not in self._known:
            size = 4 if self._program.read(address, 1)[0] & 3 == 3 else 2
            found = list(self._capstone.disasm(self._program.read(address, size), address))
            is_one = len(found) == 1 and found[0].size == size and address % 2 == 0
            require(is_one, f"no instruction at {address:#x}")
            text = f"{found[0].mnemonic} {found[0].op_str}".strip()
            self._known[address] = text, address + size, _action(found[0], text)
        return self._known[address]


def _action(one: Any, text: str) -> Action:
    name, x = one.mnemonic, [part for part in re.split(r"[,()\s]+", one.op_str) if part]
    if name.startswith("c."):
        name = COMPRESSED.get(name[2:], name[2:])
        # Two operands stand for three, of which the first is also the second.
        is_short = name in BINARY or (name.endswith("i") and name[:-1] in BINARY)
        if is_short and len(x) == 2:
            x = [x[0], *x]
    if (name == "lui" and _number(x[1]) == 0) or (
        name in ("slli", "srli", "srai") and not 0 <= _number(x[2]) < 32
    ):
        raise RejectedError(f"a reserved encoding: {text}")
    after = one.address + one.size
    if name in BRANCHES:
        condition, reads = BRANCHES[name]
        to = Value((one.address + _number(x[-1])) % WORD)
        operands = [x[k] if k < 2 else "zero" for k in reads]

        def action(path: State) -> Value | None:
            values = (_value(path, name) for name in operands)
            return to if path.number(condition(path, *values)) else None

        return action
    if name in JUMPS:
        return lambda path: _jump(path, name, x, one.address, after)
    if name in LOADS or name in STORES:
        return lambda path: _transfer(path, name, x)
    if name in ("nop", "fence"):
        return lambda _: None
    if name in ("lui", "auipc"):
        upper = Value((_number(x[1]) << 12) + one.address * (name == "auipc") & WORD - 1)
        return lambda path: _set(path, x[0], upper)
    is_known = name in UNARY or name in BINARY or name in ("li", "sltiu")
    if not is_known and not (name.endswith("i") and name[:-1] in BINARY):
        raise RejectedError(f"no meaning is known of {text}")
    return lambda path: _set(path, x[0], _computed(path, name, x))


def _computed(path: State, name: str, x: list[str]) -> Value:
    """Return the result of arithmetic."""
    try:
        if name == "li":
            return Value(_number(x[1]) % WORD)
        if name in UNARY:
            return UNARY[name](path, _value(path, x[1]))
        if name in BINARY:
            return BINARY[name](path, _value(path, x[1]), _value(path, x[2]))
        f = BINARY["sltu" if name == "sltiu" else name[:-1]]
        return f(path, _value(path, x[1]), Value(_number(x[2]) % WORD))
    except RejectedError:
        return UNKNOWN


def _number(text: str) -> int:
    return int(text, 0)


def _value(path: State, name: str) -> Value:
    return Value(0) if name == "zero" else path.registers[name]


def _set(path: State, name: str, value: Value) -> None:
    if name not in ("zero", *Riscv.registers):
        raise RejectedError(f"a register {name}")
    if name != "zero":
        path.registers[name] = value


def _jump(path: State, name: str, x: list[str], at: int, after: int) -> Value:
    """Return where a jump leads, and set its link register."""
    if name == "ret":
        return _value(path, "ra")
    if name in ("j", "jal"):
        target = Value((at + _number(x[-1])) % WORD)
    else:
        target = _value(path, x[0] if len(x) == 1 else x[1])
        if len(x) == 3:
            target = path.add(target, Value(_number(x[2]) % WORD))
        if not target.base:
            target = Value(target.const & ~1, target.terms)
    if name in ("jal", "jalr"):
        _set(path, "ra" if len(x) == 1 else x[0], Value(after))
    return target


def _transfer(path: State, name: str, x: list[str]) -> None:
    register, offset, base = x
    address = path.add(_value(path, base), Value(_number(offset) % WORD))
    if name in STORES:
        path.store(address, STORES[name], STORES[name], _value(path, register))
    else:
        size, is_signed = LOADS[name]
        _set(path, register, path.load(address, size, size, is_signed=is_signed))


def _product(a: Algebra, x: Value, y: Value) -> Value:
    if x.terms and y.terms:
        return a.pointwise(np.multiply, x, y)
    (k, many) = (y, x) if x.terms else (x, y)
    require(k.base is None, "a multiple by an address")
    return a.scaled(many, k.const)


def _sll(a: Algebra, x: Value, y: Value) -> Value:
    if y.terms or y.base:
        return a.pointwise(lambda p, q: p << (q & 31), x, y)
    return a.scaled(x, 1 << (y.const & 31))


def _srl(a: Algebra, x: Value, y: Value) -> Value:
    if y.terms or y.base:
        return a.pointwise(lambda p, q: p >> (q & 31), x, y)
    return a.field(x, y.const & 31, 32)


def _sra(a: Algebra, x: Value, y: Value) -> Value:
    if y.terms or y.base:
        return a.pointwise(lambda p, q: signed(p) >> (q & 31), x, y)
    return a.split(a.sext(x, 32), y.const & 31)[1]


UNARY: dict[str, Callable[[Algebra, Value], Value]] = {
    "mv": lambda a, x: x,
    "not": lambda a, x: a.sub(ONES, x),
    "neg": lambda a, x: a.sub(Value(0), x),
    "seqz": lambda a, x: a.equal(x, Value(0)),
    "snez": lambda a, x: a.sub(Value(1), a.equal(x, Value(0))),
    "sltz": lambda a, x: a.less(x, Value(0), is_signed=True),
    "sgtz": lambda a, x: a.less(Value(0), x, is_signed=True),
}
BINARY: dict[str, Callable[[Algebra, Value, Value], Value]] = {
    "add": lambda a, x, y: a.add(x, y),
    "sub": lambda a, x, y: a.sub(x, y),
    "and": lambda a, x, y: a.bits_and(x, y),
    "or": lambda a, x, y: a.bits_or(x, y),
    "xor": lambda a, x, y: a.bits_xor(x, y),
    "slt": lambda a, x, y: a.less(x, y, is_signed=True),
    "sltu": lambda a, x, y: a.less(x, y),
    "mul": _product,
    "sll": _sll,
    "srl": _srl,
    "sra": _sra,
}


def _not(f: Callable[[Algebra, Value, Value], Value]) -> Callable[[Algebra, Value, Value], Value]:
    return lambda a, x, y: a.sub(Value(1), f(a, x, y))


def _equal(a: Algebra, x: Value, y: Value) -> Value:
    return a.equal(x, y)


# Condition, and which operands it compares: 2 stands for zero.
BRANCHES: dict[str, tuple[Callable[[Algebra, Value, Value], Value], tuple[int, int]]] = {
    "beq": (_equal, (0, 1)), "bne": (_not(_equal), (0, 1)),
    "blt": (BINARY["slt"], (0, 1)), "bge": (_not(BINARY["slt"]), (0, 1)),
    "bltu": (BINARY["sltu"], (0, 1)), "bgeu": (_not(BINARY["sltu"]), (0, 1)),
    "beqz": (_equal, (0, 2)), "bnez": (_not(_equal), (0, 2)),
    "bltz": (BINARY["slt"], (0, 2)), "bgez": (_not(BINARY["slt"]), (0, 2)),
    "bgtz": (BINARY["slt"], (2, 0)), "blez": (_not(BINARY["slt"]), (2, 0)),
}  # fmt: skip
