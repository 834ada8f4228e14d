"""
Decoder of RV32IMC: the meaning of each instruction, from capstone's reading of its bytes.

Registers have their names in the ABI. ``zero`` is the constant 0, and what is written to it
vanishes. All instructions of I, M and C are known except fences, calls of the system and those for
status registers: these, floats and atomics raise `UnknownInstruction`.

A jump with a link sets the link register to the next address by an effect before it, and is a call.
``ret`` is ``Jump("ra")``: bit 0 of an address that a call sets is 0. Any other jump to a register
clears it, as the processor does. An odd address has no instruction.

A linker may address variables and constants relative to ``gp``, which start-up code sets to the
symbol ``__global_pointer$``. Proofs do not use its value, and a compiler never changes it.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from bncc.prove.code import Code
from bncc.prove.instructions import Effect, Expr, Instruction, Jump, Load, Set, Store
from bncc.prove.instructions import UnknownInstruction as Unknown

Operand: TypeAlias = "int | str"
_WORD = 0xFFFF_FFFF
_TARGET = "tmp0"
"""Temporary of a jump whose link register may also be its target."""

REGISTERS = (
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", *(f"a{i}" for i in range(8)),
    *(f"s{i}" for i in range(2, 12)), "t3", "t4", "t5", "t6",
)  # fmt: skip
"""Registers by their numbers."""

_SHORT_FORMS = """
    nop             addi zero zero 0
    mv a b          addi a b 0
    not a b         xori a b -1
    neg a b         sub a zero b
    seqz a b        sltiu a b 1
    snez a b        sltu a zero b
    sltz a b        slt a b zero
    sgtz a b        slt a zero b
    beqz a b        beq a zero b
    bnez a b        bne a zero b
    bltz a b        blt a zero b
    bgez a b        bge a zero b
    blez a b        bge zero a b
    bgtz a b        blt zero a b
    j a             jal zero a
    jal a           jal ra a
    jr a            jalr zero a 0
    jalr a          jalr ra a 0
    ret             jalr zero ra 0
    c.nop           addi zero zero 0
    c.mv a b        add a zero b
    c.li a b        addi a zero b
    c.lui a b       lui a b
    c.add a b       add a a b
    c.sub a b       sub a a b
    c.and a b       and a a b
    c.or a b        or a a b
    c.xor a b       xor a a b
    c.addi a b      addi a a b
    c.andi a b      andi a a b
    c.slli a b      slli a a b
    c.srli a b      srli a a b
    c.srai a b      srai a a b
    c.addi16sp a b  addi a a b
    c.addi4spn a b c  addi a b c
    c.beqz a b      beq a zero b
    c.bnez a b      bne a zero b
    c.j a           jal zero a
    c.jal a         jal ra a
    c.jr a          jalr zero a 0
    c.jalr a        jalr ra a 0
    c.lw a b c      lw a b c
    c.lwsp a b c    lw a b c
    c.sw a b c      sw a b c
    c.swsp a b c    sw a b c
"""
"""Short forms with their operands, and the instruction that each stands for."""


def _is_negative(a: Expr) -> Expr:
    return ("slt", a, 0)


def _negated_if(condition: Expr, a: Expr) -> Expr:
    return ("ite", condition, ("sub", 0, a), a)


def _magnitude(a: Expr) -> Expr:
    return _negated_if(_is_negative(a), a)


def _or_one(b: Expr) -> Expr:
    """Return a divisor that is never 0."""
    return ("ite", ("eq", b, 0), 1, b)


def _add(a: Expr, b: Expr) -> Expr:
    if a == 0 or b == 0:
        return b if a == 0 else a
    return ("add", a, b)


def _mulh(a: Expr, b: Expr) -> Expr:
    """Return the upper half of the signed product, from that of a signed and an unsigned factor."""
    return ("sub", _mulhsu(a, b), ("ite", _is_negative(b), a, 0))


def _mulhsu(a: Expr, b: Expr) -> Expr:
    return ("sub", ("umulh", a, b), ("ite", _is_negative(a), b, 0))


def _div(a: Expr, b: Expr) -> Expr:
    differ: Expr = ("xor", _is_negative(a), _is_negative(b))
    quotient: Expr = ("udiv", _magnitude(a), _or_one(_magnitude(b)))
    return ("ite", ("eq", b, 0), _WORD, _negated_if(differ, quotient))


def _rem(a: Expr, b: Expr) -> Expr:
    remainder: Expr = ("urem", _magnitude(a), _or_one(_magnitude(b)))
    return ("ite", ("eq", b, 0), a, _negated_if(_is_negative(a), remainder))


def _plain(operation: str) -> Callable[[Expr, Expr], Expr]:
    return lambda a, b: (operation, a, b)


def _shift(operation: str) -> Callable[[Expr, Expr], Expr]:
    """Return a shift by the lowest five bits."""
    return lambda a, b: (operation, a, b & 31 if isinstance(b, int) else ("and", b, 31))


_BINARY: Mapping[str, Callable[[Expr, Expr], Expr]] = {
    "add": _add,
    "sub": _plain("sub"),
    "and": _plain("and"),
    "or": _plain("or"),
    "xor": _plain("xor"),
    "sll": _shift("shl"),
    "srl": _shift("shr"),
    "sra": _shift("sar"),
    "slt": _plain("slt"),
    "sltu": _plain("ult"),
    "mul": _plain("mul"),
    "mulh": _mulh,
    "mulhsu": _mulhsu,
    "mulhu": _plain("umulh"),
    "div": _div,
    "divu": lambda a, b: ("ite", ("eq", b, 0), _WORD, ("udiv", a, _or_one(b))),
    "rem": _rem,
    "remu": lambda a, b: ("ite", ("eq", b, 0), a, ("urem", a, _or_one(b))),
}
"""Functions of two registers."""
_IMMEDIATE = {
    "addi": "add", "andi": "and", "ori": "or", "xori": "xor", "slti": "slt", "sltiu": "sltu",
    "slli": "sll", "srli": "srl", "srai": "sra",
}  # fmt: skip
"""Those of a register and a constant."""
_LOADS = {"lb": (1, True), "lh": (2, True), "lw": (4, False), "lbu": (1, False), "lhu": (2, False)}
_STORES = {"sb": 1, "sh": 2, "sw": 4}
_BRANCHES: Mapping[str, tuple[str, bool]] = {
    "beq": ("eq", True),
    "bne": ("eq", False),
    "blt": ("slt", True),
    "bge": ("slt", False),
    "bltu": ("ult", True),
    "bgeu": ("ult", False),
}
"""Comparison, and its result at which a branch jumps."""


def _short_forms() -> dict[tuple[str, int], tuple[str, ...]]:
    forms: dict[tuple[str, int], tuple[str, ...]] = {}
    for line in _SHORT_FORMS.strip().splitlines():
        short, _, full = line.strip().partition("  ")
        name, *operands = short.split()
        forms[name, len(operands)] = tuple(
            str("abc".index(word)) if word in operands else f"={word}" for word in full.split()
        )
    return forms


_FORMS = _short_forms()


class Decoder:
    """Instructions of a linked program by their addresses."""

    def __init__(self, code: Code) -> None:
        import capstone

        self._code = code
        mode = capstone.CS_MODE_RISCV32 | capstone.CS_MODE_RISCVC
        self._capstone = capstone.Cs(capstone.CS_ARCH_RISCV, mode)
        self._capstone.detail = True
        self._cache: dict[int, Instruction] = {}

    def decode(self, address: int) -> Instruction:
        """Return the instruction at an address."""
        if address not in self._cache:
            self._cache[address] = self._decoded(address)
        return self._cache[address]

    def _decoded(self, address: int) -> Instruction:
        content = self._code.bytes_at(address, 2)
        if content is not None and content[0] & 3 == 3:
            content = self._code.bytes_at(address, 4)
        if content is None or address % 2:
            raise Unknown(f"no instruction can be at {address:#x}")
        read = next(self._capstone.disasm(content, address), None)
        if read is None or read.size != len(content):
            raise Unknown(f"unknown instruction {content.hex()} at {address:#x}")
        text = f"{read.mnemonic} {read.op_str}".strip()
        try:
            name, operands = _full(read.mnemonic, _operands(read))
            effects = _effects(name, operands, address, address + read.size)
        except (KeyError, TypeError, ValueError):
            raise Unknown(f"unknown instruction '{text}' at {address:#x}") from None
        return Instruction(address, read.size, text, effects)


def register_shifts(code: Code) -> Iterator[tuple[int, int]]:
    """
    Yield the address of every shift by a register, and the number of that register.

    Data may read as one too, and so may the middle of another instruction.
    """
    for start, data in code.sections:
        for k in range(start % 2, len(data) - 3, 2):
            if data[k] & 0x7F == 0x33:
                word = int.from_bytes(data[k : k + 4], "little")
                if word >> 12 & 7 in (1, 5) and word >> 25 in (0, 0x20):
                    yield start + k, word >> 20 & 31


def _operands(read: Any) -> list[Operand]:
    """Return registers and numbers, and for an address in memory its offset and its register."""
    from capstone import riscv

    found: list[Operand] = []
    for operand in read.operands:
        if operand.type == riscv.RISCV_OP_REG:
            found.append(read.reg_name(operand.reg))
        elif operand.type == riscv.RISCV_OP_IMM:
            found.append(operand.imm)
        else:
            found += [operand.mem.disp, read.reg_name(operand.mem.base)]
    return found


def _full(name: str, operands: list[Operand]) -> tuple[str, list[Operand]]:
    """Return the instruction that a short form stands for, or the same if it is none."""
    if name == "c.lui" and operands[1] == 0:
        raise ValueError(operands)  # capstone reads the reserved encoding
    form = _FORMS.get((name, len(operands)))
    if form is None:
        return name, operands
    full: list[Operand] = []
    for word in form[1:]:
        if word.startswith("="):
            full.append(word[1:] if word[1:] in REGISTERS else int(word[1:]))
        else:
            full.append(operands[int(word)])
    return form[0][1:], full


def _effects(name: str, operands: list[Operand], at: int, following: int) -> tuple[Effect, ...]:
    """Return the effects of an instruction that is no short form."""
    if name in _BINARY or name in _IMMEDIATE:
        to, left, right = operands
        value = _number(right) if name in _IMMEDIATE else _value(right)
        if name in ("slli", "srli", "srai") and right not in range(32):
            raise ValueError(right)  # capstone reads these reserved encodings
        return _set(to, _BINARY[_IMMEDIATE.get(name, name)](_value(left), value))
    if name in ("lui", "auipc"):
        to, upper = operands
        return _set(to, ((_number(upper) << 12) + (at if name == "auipc" else 0)) & _WORD)
    if name in _LOADS:
        to, offset, base = operands
        register = _TARGET if to == "zero" else _register(to)
        return (Load(register, _add(_value(base), _number(offset)), *_LOADS[name]),)
    if name in _STORES:
        what, offset, base = operands
        return (Store(_add(_value(base), _number(offset)), _value(what), _STORES[name]),)
    if name in _BRANCHES:
        left, right, offset = operands
        comparison, jumps_at = _BRANCHES[name]
        holds: Expr = (comparison, _value(left), _value(right))
        condition = holds if jumps_at else ("eq", holds, 0)
        return (Jump((at + _number(offset)) & _WORD, condition),)
    if name == "jal":
        link, offset = operands
        target = (at + _number(offset)) & _WORD
        return (*_set(link, following), Jump(target, is_call=link != "zero"))
    if name == "jalr":
        link, base, offset = operands
        if operands == ["zero", "ra", 0]:
            return (Jump("ra"),)
        address: Expr = ("and", _add(_value(base), _number(offset)), _WORD - 1)
        jump = Jump(_TARGET, is_call=link != "zero")
        return (Set(_TARGET, address), *_set(link, following), jump)
    raise KeyError(name)


def _set(register: Operand, value: Expr) -> tuple[Effect, ...]:
    return () if register == "zero" else (Set(_register(register), value),)


def _value(operand: Operand) -> Expr:
    return 0 if operand == "zero" else _register(operand)


def _register(operand: Operand) -> str:
    if operand not in REGISTERS:
        raise ValueError(operand)
    return str(operand)


def _number(operand: Operand) -> int:
    if isinstance(operand, str):
        raise TypeError(operand)
    return operand & _WORD
