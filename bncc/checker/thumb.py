"""Instructions of Thumb, as Cortex-M0, M3, M4 and M7 execute them."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import capstone
import numpy as np

from bncc.checker.machine import State
from bncc.checker.model import Program
from bncc.checker.values import UNKNOWN, WORD, RejectedError, Value, require, signed

NAMES = {"sb": "r9", "sl": "r10", "fp": "r11", "ip": "r12"}
ZERO, ONE, ONES = Value(0), Value(1), Value(WORD - 1)
OPPOSITES = {"ne": "eq", "cc": "cs", "lo": "cs", "pl": "mi", "vc": "vs", "ls": "hi", "lt": "ge",
             "le": "gt"}  # fmt: skip
V7E = ("uxtab", "uxtah", "sxtab", "sxtah", "uxtb16", "vldr", "vstr", "vpush", "vpop", "vmov")
CONDITIONS = ("eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le")


@dataclass(frozen=True)
class Instruction:
    """A decoded instruction; its action may return where it jumps."""

    size: int
    text: str
    action: Callable[[State], Value | None]
    at: int | None = None  # Its own address if only the instruction before it leads to it
    then: int | None = None  # The address of such an instruction that follows


class Thumb:
    """Decodes with capstone, and gives each instruction its meaning."""

    # What registers have when a function is called
    registers: ClassVar[dict[str, str]] = {
        **{f"{x}{k}": f"initial {x}{k}" for x, n in (("r", 13), ("s", 32)) for k in range(n)},
        **{"r0": "input", "r1": "output", "sp": "stack", "lr": "return"},
    }
    kept = (*(f"r{k}" for k in range(4, 12)), "sp", *(f"s{k}" for k in range(16, 32)))
    stack, result, stack_alignment = "sp", "r0", 8

    def __init__(self, program: Program, target: str = "cortex-m0") -> None:
        self._program = program
        # It has all instructions here, and loads or stores a single word or halfword anywhere.
        self.is_v7 = target in ("cortex-m3", "cortex-m4", "cortex-m7")
        self.is_v7e = target in ("cortex-m4", "cortex-m7")
        self._known: dict[int, Instruction] = {}
        mode = capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS
        self._capstone: Any = capstone.Cs(capstone.CS_ARCH_ARM, mode)
        self._capstone.detail = True

    def execute(self, path: State) -> Value:
        """Execute an instruction on a path; return where it leads."""
        one = self.decode(path.at)
        try:
            to = one.action(path) or Value(path.at + one.size)
        except RejectedError as error:
            raise RejectedError(f"{error}, {one.text}") from None
        at = None if to.base else self.decode(path.number(to)).at
        require(at == one.then, "a jump into or out of a block")
        return to

    def decode(self, address: int) -> Instruction:
        """Return the instruction at an address; those of an IT block are decoded with it."""
        if address not in self._known:
            size, n = self._size(address), 0
            low, high = self._program.read(address, 2)
            if high == 0xBF and low & 15:
                n = 4 - ((low & -low).bit_length() - 1)
            for _ in range(n):
                size += self._size(address + size)
            found = list(self._capstone.disasm(self._program.read(address, size), address))
            is_whole = sum(one.size for one in found) == size and len(found) == n + 1
            is_new = not any(one.address in self._known for one in found)
            require(is_whole and is_new, f"no instruction at {address:#x}, or one of two blocks")
            places = [None, *(one.address for one in found[1:]), None]
            for x, at, then in zip(found, places, places[1:], strict=False):
                self._known[x.address] = replace(self._instruction(x, bool(at)), at=at, then=then)
        return self._known[address]

    def _size(self, address: int) -> int:
        return 4 if self._program.read(address, 2)[1] >> 3 >= 0b11101 else 2

    def _instruction(self, one: Any, in_block: bool) -> Instruction:
        text = f"{one.mnemonic} {one.op_str}".strip()
        cc = CONDITIONS[one.cc - 1] if 1 <= one.cc <= 14 else ""
        name = "nop" if text == "nop" else self._capstone.insn_name(one.id)
        head = int.from_bytes(one.bytes[:2], "little")
        sets = one.update_flags if one.size == 2 else bool(head & 0x10)
        decoded = Decoded(one, name, _operands(one.op_str), sets)
        require(not in_block or (cc and name != "it"), f"no condition in an IT block: {text}")
        is_narrow = one.size == 2 and name not in ("it", "cbz", "cbnz")
        require(self.is_v7 or is_narrow or name == "bl", f"v6-M has no instruction {text}")
        require(self.is_v7e or name not in V7E, f"v7-M has no instruction {text}")
        if name in ("cbz", "cbnz"):
            to = Value(_number(decoded.operands[1]) & ~1)
            return Instruction(
                one.size, text, lambda path: to if path.number(decoded.compared(path)) else None
            )
        is_known = name in MEANINGS and not has_reserved_bits(one.bytes, name)
        require(is_known, f"no meaning is known of {text}")

        def action(path: State) -> Value | None:
            is_taken = not cc or name == "it" or path.number(holds(path, cc))
            return MEANINGS[name](decoded, path) if is_taken else None

        return Instruction(one.size, text, action)


class Decoded:
    """An instruction with its operands as text."""

    def __init__(self, one: Any, name: str, operands: list[str], sets: bool) -> None:
        self.name, self.operands, self.sets = name, operands, sets
        self.address, self.size, self.bytes = one.address, one.size, one.bytes
        # A shift that follows a register belongs to it.
        self.shift: str | None = None
        if operands and re.match(r"(lsl|lsr|asr|ror|rrx)\b", operands[-1]):
            self.shift = self.operands.pop()

    def register(self, k: int) -> str:
        """Return the name of a register operand, pc excluded."""
        name = NAMES.get(self.operands[k], self.operands[k])
        if name not in Thumb.registers:
            raise RejectedError(f"an operand {name} of {self.name}")
        return name

    def value(self, path: State, k: int) -> Value:
        """Return an operand, shifted if it is the last one."""
        text = self.operands[k]
        if text.startswith("#"):
            return Value(_number(text) % WORD)
        if text == "pc":
            aligned = self.name in ("add", "sub") and any(o[0] == "#" for o in self.operands)
            return Value(self.address + 4 & (~3 if aligned else ~0))
        x = path.registers[self.register(k)]
        if self.shift and k in (-1, len(self.operands) - 1):
            kind, amount = self.shift.split()
            return attempt(shifted, path, kind, x, _number(amount))
        return x

    def set(self, path: State, value: Value, k: int = 0) -> None:
        """Assign the register of an operand."""
        path.registers[self.register(k)] = value

    def compared(self, path: State) -> Value:
        """Return the condition of a jump that compares with zero."""
        zero = path.equal(self.value(path, 0), ZERO)
        return zero if self.name == "cbz" else path.sub(ONE, zero)


def has_reserved_bits(data: bytes, name: str) -> bool:
    """Return whether an instruction sets a bit that must be zero, which capstone ignores."""
    if len(data) == 2:
        return name in ("bx", "blx") and bool(data[0] & 7)
    low, high, third, last = data
    if name in ("tbb", "tbh"):
        return bool(third & 0xE0) or last != 0xF0
    if high in (0xEA, 0xEB):  # Shifted registers
        return bool(last & 0x80)
    if high & 0xFB == 0xF3 and low >> 4 in (4, 6, 0xC) and not last & 0x80:  # Bit fields
        return bool(high & 4 or third & 0x20)
    return high == 0xFA and low & 0x80 == 0 and third & 0xC0 == 0xC0  # Extensions


def _operands(text: str) -> list[str]:
    """Split operands at commas that are not in brackets or braces."""
    return [one.strip() for one in re.findall(r"(?:\[[^\]]*\]!?|\{[^}]*\}|[^,\[{])+", text)]


def _number(text: str) -> int:
    return int(text.lstrip("#"), 0)


def attempt(f: Callable[..., Value], *operands: Any) -> Value:
    """Return a value, or the unknown one where it has no representation."""
    try:
        return f(*operands)
    except RejectedError:
        return UNKNOWN


def shifted(path: State, kind: str, x: Value, k: int) -> Value:
    """Return a value shifted by a constant from 1 to 32."""
    if kind == "lsl":
        return path.scaled(x, 1 << k) if k < 32 else ZERO
    if kind == "lsr":
        return path.field(x, k, 32 - k)
    if kind == "asr":
        return path.split(path.sext(x, 32), min(k, 31))[1]
    if kind == "ror" and 0 < k < 32:
        return path.add(path.field(x, k, 32 - k), path.scaled(x, 1 << 32 - k))
    raise RejectedError(f"no meaning is known of {kind} {k}")


# Flags: what each part is computed from is kept under names such as "nz sub 0"


OPERANDS = {"sub": 2, "add": 2, "adc": 3, "value": 1, "bit": 1}
"""Number of values of each kind of record."""


def record(path: State, part: str, kind: str, *operands: Value) -> None:
    """Note what a part of the flags is computed from."""
    for name in [name for name in path.registers if name.startswith(f"{part} ")]:
        del path.registers[name]
    path.registers.update({f"{part} {kind} {k}": x for k, x in enumerate(operands)})


def recorded(path: State, part: str) -> tuple[str, list[Value]]:
    """Return what a part of the flags is computed from."""
    for kind, n in OPERANDS.items():
        if f"{part} {kind} 0" in path.registers:
            names = [f"{part} {kind} {k}" for k in range(n)]
            return kind, [path.registers.get(name, UNKNOWN) for name in names]
    return "bit", [UNKNOWN]


def compare(path: State, kind: str, *operands: Value) -> None:
    """Set all flags by an addition, a subtraction or one with a carry."""
    for part in ("nz", "c", "v"):
        record(path, part, kind, *operands)


def logic(path: State, result: Value, carry: Value | None = None) -> None:
    """Set N and Z by a result, and maybe C."""
    record(path, "nz", "value", result)
    if carry is not None:
        record(path, "c", "bit", carry)


def holds(path: State, name: str) -> Value:
    """Return 1 where a condition holds."""
    if name in OPPOSITES:
        return path.sub(ONE, holds(path, OPPOSITES[name]))
    part = {"cs": "c", "hi": "c", "vs": "v"}.get(name, "nz")
    kind, operands = recorded(path, part)
    x, y = operands[0], operands[-1] if kind in ("add", "sub") else ZERO
    if any(one.base == "?" for one in operands):
        raise RejectedError("a condition of what is not known")
    if kind == "bit" and name == "cs":
        return x
    if name in ("eq", "mi"):
        if kind == "sub" and name == "eq":
            return path.equal(x, y)
        result = {"value": x, "sub": path.sub(x, y) if kind == "sub" else x,
                  "add": path.add(x, y) if kind == "add" else x}[kind]  # fmt: skip
        return path.less(result, ZERO, is_signed=True) if name == "mi" else path.equal(result, ZERO)
    if name == "cs" and kind == "sub":
        return path.sub(ONE, path.less(x, y))
    if name == "cs" and kind in ("add", "adc"):
        # x + y + c >= 2^32 where c + x - (2^32 - 1 - y) > 0
        c = operands[2] if kind == "adc" else ZERO
        rest = path.field(path.sub(ONES, operands[1]), 0, 32)
        for one in (x, c):
            rest = path.sub(rest, path.field(one, 0, 32))
        return path.negative(rest)
    if name in ("hi", "ge", "gt") and kind == "sub" and recorded(path, "nz") == recorded(path, "c"):
        if name == "ge":
            return path.sub(ONE, path.less(x, y, is_signed=True))
        return path.less(y, x, is_signed=name == "gt")
    # Paths that met may have added different numbers: the inputs are divided by them.
    if name in ("ge", "gt") and kind == "add" and (added := path.number(y)) != 1 << 31:
        limit = Value(-added % WORD)
        if name == "gt":
            return path.less(limit, x, is_signed=True)
        return path.sub(ONE, path.less(x, limit, is_signed=True))
    raise RejectedError(f"the condition {name} after {kind}")


# Meanings


def _sum(d: Decoded, path: State) -> None:
    x, y, kind = d.value(path, -2), d.value(path, -1), d.name
    if kind in ("add", "sub") and len(d.operands) == 2:
        x = d.value(path, 0)
    if kind == "rsb":
        x, y, kind = y, x, "sub"
    if kind in ("adc", "sbc"):
        carry = holds(path, "cs")
        y = attempt(path.sub, ONES, y) if kind == "sbc" else y
        total = attempt(path.add, attempt(path.add, x, y), carry)
        if d.sets:
            record(path, "nz", "value", total)
            record(path, "c", "adc", x, y, carry)
            record(path, "v", "bit", UNKNOWN)
    else:
        total = attempt(path.add if kind == "add" else path.sub, x, y)
        if d.sets:
            compare(path, kind, x, y)
    d.set(path, total)


def _compare(d: Decoded, path: State) -> None:
    compare(path, "sub" if d.name == "cmp" else "add", d.value(path, 0), d.value(path, 1))


def _adr(d: Decoded, path: State) -> None:
    d.set(path, Value((d.address + 4 & ~3) + _number(d.operands[1])))


def _move(d: Decoded, path: State) -> Value | None:
    x = d.value(path, 1)
    if d.operands[0] == "pc":  # Unlike other jumps, it stays in Thumb
        return x if x.base else Value(path.number(x) & ~1)
    if d.sets:
        logic(path, x, UNKNOWN if d.size == 4 else None)
    d.set(path, x)
    return None


def _movt(d: Decoded, path: State) -> None:
    low = attempt(path.field, d.value(path, 0), 0, 16)
    d.set(path, attempt(path.add, low, Value(_number(d.operands[1]) << 16)))


def _logic(d: Decoded, path: State) -> None:
    y, x = d.value(path, -1), d.value(path, 0 if len(d.operands) == 2 else -2)
    if d.name in ("bic", "orn", "mvn"):
        y = attempt(path.sub, ONES, y)
    f = {"and": path.bits_and, "bic": path.bits_and, "tst": path.bits_and, "orr": path.bits_or,
         "orn": path.bits_or, "eor": path.bits_xor, "teq": path.bits_xor}  # fmt: skip
    result = y if d.name == "mvn" else attempt(f[d.name], x, y)
    if d.sets or d.name in ("tst", "teq"):
        logic(path, result, UNKNOWN if d.size == 4 else None)
    if d.name not in ("tst", "teq"):
        d.set(path, result)


def _shift(d: Decoded, path: State) -> None:
    x, n = d.value(path, 0 if len(d.operands) == 2 else -2), d.value(path, -1)
    carry, by_register = UNKNOWN, not d.operands[-1].startswith("#")
    n = attempt(path.field, n, 0, 8)
    if n.terms or n.base or n.const > 32:
        result = attempt(path.pointwise, SHIFTS[d.name], x, n)
    else:
        result = attempt(shifted, path, d.name, x, n.const) if n.const else x
    if n.const and not by_register:
        carry = attempt(path.field, x, 32 - n.const if d.name == "lsl" else n.const - 1, 1)
    if d.sets:
        logic(path, result, carry)
    d.set(path, result)


SHIFTS: dict[str, Callable[..., Any]] = {
    "lsl": lambda x, n: x << n.clip(0, 32), "asr": lambda x, n: signed(x) >> n.clip(0, 32),
    "lsr": lambda x, n: x >> n.clip(0, 32), "ror": lambda x, n: (x | x << 32) >> n % 32,
}  # fmt: skip
"""Shifts of words by a number of bits from 0 to 255."""


def _extend(d: Decoded, path: State) -> None:
    n = 8 if d.name[-1] == "b" else 16
    x, is_signed = d.value(path, -1), d.name[0] == "s"
    value = attempt(path.sext, x, n) if is_signed else attempt(path.field, x, 0, n)
    d.set(path, attempt(path.add, d.value(path, 1), value) if d.name[3] == "a" else value)


def _extend_two(d: Decoded, path: State) -> None:
    d.set(path, attempt(path.bits_and, d.value(path, 1), Value(0x00FF00FF)))


def _extract(d: Decoded, path: State) -> None:
    low, width = _number(d.operands[2]), _number(d.operands[3])
    value = attempt(path.field, d.value(path, 1), low, width)
    d.set(path, attempt(path.sext, value, width) if d.name == "sbfx" else value)


def _insert(d: Decoded, path: State) -> None:
    low, width = _number(d.operands[-2]), _number(d.operands[-1])
    mask = (1 << width) - 1 << low
    kept = attempt(path.bits_and, d.value(path, 0), Value(mask ^ (WORD - 1)))
    if d.name == "bfi":
        new = attempt(path.field, d.value(path, 1), 0, width)
        kept = attempt(path.add, kept, attempt(path.scaled, new, 1 << low))
    d.set(path, kept)


def _product(path: State, x: Value, y: Value) -> Value:
    if x.terms and y.terms:
        return path.pointwise(np.multiply, x, y)
    (k, many) = (y, x) if x.terms else (x, y)
    require(k.base is None, "a multiple by an address")
    return path.scaled(many, k.const)


def _multiply(d: Decoded, path: State) -> None:
    x, y = (d.value(path, k) for k in ((0, 1) if len(d.operands) == 2 else (1, 2)))
    product = attempt(_product, path, x, y)
    if d.name in ("mla", "mls"):
        product = attempt(path.add if d.name == "mla" else path.sub, d.value(path, 3), product)
    elif d.sets and d.size == 2:
        logic(path, product)
    d.set(path, product)


def _address(d: Decoded, path: State, k: int) -> tuple[Value, str | None, Value]:
    """Return the address of an operand, the register that is updated, and its new value."""
    found = re.fullmatch(r"\[(.*)\](!?)", d.operands[k])
    if found is None:
        raise RejectedError(f"no address in {d.name}")
    parts = [part.strip() for part in found[1].split(",")]
    pc = parts[0] == "pc"
    base_name = NAMES.get(parts[0], parts[0])
    address = base = Value(d.address + 4 & ~3) if pc else path.registers[base_name]
    if len(parts) > 1:
        if parts[1].startswith("#"):
            address = path.add(base, Value(_number(parts[1]) % WORD))
        else:
            index = path.registers[NAMES.get(parts[1], parts[1])]
            if len(parts) > 2:
                kind, amount = parts[2].split()
                index = shifted(path, kind, index, _number(amount))
            address = path.add(base, index)
    if k + 1 < len(d.operands) and d.operands[k + 1].startswith("#"):
        return base, base_name, path.add(base, Value(_number(d.operands[k + 1]) % WORD))
    return address, base_name if found[2] else None, address


def _transfer(d: Decoded, path: State) -> Value | None:
    """Load or store one register or two."""
    two = d.name.endswith("d") and d.name[:3] in ("ldr", "str")
    k = 2 if two else 1
    address, updated, new = _address(d, path, k)
    size = {"b": 1, "h": 2}.get(d.name[-1], 4)
    target = None
    names = [NAMES.get(name, name) for name in d.operands[:k]]
    is_single = d.name[0] != "v" and not two and names != ["pc"]
    multiple = 1 if is_single and path.machine.isa.is_v7 else size
    values = []
    for j, name in enumerate(names):
        require(name in (*Thumb.registers, "pc"), f"an operand {name} of {d.name}")
        at = path.add(address, Value(4 * j))
        if "str" in d.name:
            path.store(at, size, multiple, path.registers[name])
        else:
            values.append((name, path.load(at, size, multiple, is_signed=d.name[3:4] == "s")))
    require(updated not in (*names, "pc"), f"an unpredictable {d.name}")
    if updated:
        path.registers[updated] = new
    for name, value in values:
        if name == "pc":
            target = _target(path, value)
        else:
            path.registers[name] = value
    return target


def _multiple(d: Decoded, path: State) -> Value | None:
    """Load or store several registers at consecutive words."""
    names = [NAMES.get(n.strip(), n.strip()) for n in d.operands[-1].strip("{}").split(",")]
    if d.name in ("push", "pop", "vpush", "vpop"):
        base, updates = "sp", True
    else:
        base = NAMES.get(d.operands[0].rstrip("!"), d.operands[0].rstrip("!"))
        updates = d.operands[0].endswith("!")
    if names[0][0] == "d":
        names = [f"s{2 * int(n[1:]) + k}" for n in names for k in (0, 1)]
    size, old = 4 * len(names), path.registers[base]
    down = d.name in ("push", "vpush", "stmdb", "ldmdb")
    start = path.add(old, Value(-size % WORD)) if down else old
    if not {*names} <= {*Thumb.registers, "pc"} or "sp" in names or (updates and base in names):
        raise RejectedError(f"an unpredictable {d.name}")
    target = None
    for k, name in enumerate(names):
        at = path.add(start, Value(4 * k))
        if d.name in ("push", "vpush", "stm", "stmdb"):
            path.store(at, 4, 4, path.registers[name])
        elif name == "pc":
            target = _target(path, path.load(at, 4, 4))
        else:
            path.registers[name] = path.load(at, 4, 4)
    if updates:
        path.registers[base] = start if down else path.add(old, Value(size))
    return target


def _target(path: State, x: Value) -> Value:
    """Return an address that a register or memory gives: its lowest bit must be set."""
    require(x.base or path.number(x) & 1, "a jump out of Thumb")
    return x if x.base else Value(path.number(x) & ~1)


def _branch(d: Decoded, path: State) -> Value | None:
    x = d.value(path, 0)
    if d.name in ("bl", "blx"):
        path.registers["lr"] = Value(d.address + d.size | 1)
    return x if d.name in ("b", "bl") else _target(path, x)


def _branch_by_table(d: Decoded, path: State) -> Value | None:
    """Jump over as many halfwords as a table of bytes or halfwords has at an index."""
    base, index = (NAMES.get(x, x) for x in re.findall(r"[a-z]+[0-9]*", d.operands[0])[:2])
    require("sp" not in (base, index), f"an unpredictable {d.name}")
    start, size = Value(d.address + 4), 1 if d.name == "tbb" else 2
    at = path.add(path.registers.get(base, start), path.scaled(path.registers[index], size))
    return path.add(start, Value(2 * path.number(path.load(at, size, size))))


def _nothing(d: Decoded, path: State) -> None:
    """Do nothing, as far as results depend on it."""


def _float_move(d: Decoded, path: State) -> None:
    if len(d.operands) != 2 or any("[" in o or o[0] not in "rsifl" for o in d.operands):
        raise RejectedError("a move of floats")
    d.set(path, d.value(path, 1))


MEANINGS: dict[str, Callable[[Decoded, State], Value | None]] = {
    **dict.fromkeys(("add", "sub", "rsb", "adc", "sbc"), _sum),
    **dict.fromkeys(("cmp", "cmn"), _compare),
    "adr": _adr, **dict.fromkeys(("mov", "movs", "movw"), _move), "movt": _movt,
    **dict.fromkeys(("and", "bic", "orr", "orn", "eor", "mvn", "tst", "teq"), _logic),
    **dict.fromkeys(("lsl", "lsr", "asr", "ror"), _shift),
    **dict.fromkeys(("uxtb", "uxth", "sxtb", "sxth", "uxtab", "uxtah", "sxtab", "sxtah"), _extend),
    "uxtb16": _extend_two, "ubfx": _extract, "sbfx": _extract, "bfi": _insert, "bfc": _insert,
    **dict.fromkeys(("mul", "mla", "mls"), _multiply),
    **dict.fromkeys(("ldr", "ldrb", "ldrh", "ldrsb", "ldrsh", "str", "strb", "strh", "ldrd", "strd",
                     "vldr", "vstr"), _transfer),
    **dict.fromkeys(("push", "pop", "ldm", "ldmdb", "stm", "stmdb", "vpush", "vpop"), _multiple),
    **dict.fromkeys(("b", "bl", "bx", "blx"), _branch),
    **dict.fromkeys(("tbb", "tbh"), _branch_by_table),
    **dict.fromkeys(("nop", "it", "dmb", "dsb", "isb"), _nothing),
    "vmov": _float_move,
}  # fmt: skip
