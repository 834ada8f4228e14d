"""The operands of a Thumb instruction, as expressions."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from bncc.prove.instructions import CONDITIONS, Effect, Expr, Set, UnknownInstruction

WORD = 0xFFFF_FFFF
REGISTERS = {f"r{k}": f"r{k}" for k in range(9)} | {
    "sb": "r9", "sl": "r10", "fp": "r11", "ip": "r12", "sp": "sp", "lr": "lr", "pc": "pc",
}  # fmt: skip
"""Names of capstone and ours."""
CORE = frozenset(REGISTERS.values())
SINGLES = frozenset(f"s{k}" for k in range(32))
SHIFTS = {1: "sar", 2: "shl", 3: "shr", 4: "ror"}
"""Capstone's kinds of shifts by a constant. The one by carry is not emitted, and unknown here."""


class Parsed:
    """An instruction of capstone, and its operands by their positions."""

    def __init__(self, insn: Any, name: str, register_name: Callable[[int], str]) -> None:
        self.name = name
        self.text = f"{insn.mnemonic} {insn.op_str}".strip()
        self.address: int = insn.address
        self.size: int = insn.size
        # Arithmetic and logic: capstone 5 is wrong for `adc.w`, which sets none.
        self.sets_flags = bool(insn.update_flags if insn.size == 2 else insn.bytes[0] & 0x10)
        always = not 1 <= insn.cc <= len(CONDITIONS)
        self.condition: Expr | None = None if always else ("flag", CONDITIONS[insn.cc - 1])
        self.is_updating: bool = insn.writeback  # The base register is
        self.loads_anywhere = False  # A single word or halfword may be at any address
        self._insn = insn
        self._operands: list[Any] = list(insn.operands)
        self._register_name = register_name

    def unknown(self) -> UnknownInstruction:
        """Return the error for this instruction."""
        return UnknownInstruction(f"{self.text} at {self.address:#x}")

    def require_zeros(self, mask: int) -> None:
        """Refuse bits of the first byte that are not zero, which capstone ignores."""
        if self._insn.bytes[0] & mask:
            raise self.unknown()

    @property
    def has_reserved_bits(self) -> bool:
        """True if a wide instruction sets a bit that must be zero, which capstone ignores."""
        if self.size == 2:
            return False
        low, high, third, last = self._insn.bytes
        if high in (0xEA, 0xEB):  # Shifted registers
            return bool(last & 0x80)
        if high & 0xFB == 0xF3 and low >> 4 in (4, 6, 0xC) and not last & 0x80:  # Bit fields
            return bool(high & 4 or third & 0x20)
        return bool(high == 0xFA and low & 0x80 == 0 and third & 0xC0 == 0xC0)  # Extensions

    @property
    def has_source_twice(self) -> bool:
        """True if the two places of the source register of a wide instruction are equal."""
        return self.size == 2 or self._insn.bytes[0] & 15 == self._insn.bytes[2] & 15

    def __len__(self) -> int:
        return len(self._operands)

    def is_immediate(self, k: int) -> bool:
        """Return whether an operand is a constant."""
        return bool(self._operands[k].type == 2)

    def immediate(self, k: int) -> int:
        """Return a constant operand."""
        if not self.is_immediate(k):
            raise self.unknown()
        return int(self._operands[k].imm) & WORD

    def float_constant(self, k: int) -> float:
        """Return an operand that is a constant of the floating-point unit."""
        if self._operands[k].type != 4:
            raise self.unknown()
        return float(self._operands[k].fp)

    def name_of(self, k: int) -> str:
        """Return the register of an operand, by capstone's name if it is none of the core's."""
        operand = self._operands[k]
        if operand.type != 1:
            raise self.unknown()
        name = self._register_name(operand.reg)
        return REGISTERS.get(name, name)

    def target(self, k: int = 0) -> str:
        """Return the core register that an operand assigns, except for pc."""
        name = self.name_of(k)
        if name == "pc" or name not in CORE:
            raise self.unknown()
        return name

    def register(self, k: int) -> Expr:
        """Return the value of a core register, without its shift."""
        return self.pc if self.name_of(k) == "pc" else self.target(k)

    @property
    def pc(self) -> int:
        """The value of pc as an operand: rounded down to a multiple of 4 with a constant."""
        value = self.address + 4
        has_constant = any(operand.type in (2, 3) for operand in self._operands)
        return value & ~3 if has_constant else value

    def value(self, k: int) -> Expr:
        """Return the value of a register or constant, shifted."""
        if self.is_immediate(k):
            return self.immediate(k)
        x = self.register(k)
        shift = self._operands[k].shift
        if shift.type == 0:
            return x
        if shift.type not in SHIFTS or shift.value == 0:
            raise self.unknown()
        return (SHIFTS[shift.type], x, int(shift.value))

    def carry(self, k: int) -> Expr | None:
        """Return the carry of a shifted or rotated operand; None if the flag stays as it is."""
        if self.is_immediate(k):
            if self.size == 2:
                return None
            low, high = self._insn.bytes[1], self._insn.bytes[3]
            # A constant of 8 bits that is rotated, not repeated
            return self.immediate(k) >> 31 if low & 4 or high & 0x40 else None
        shifted = self.value(k)
        if isinstance(shifted, tuple):
            return last_bit_out(str(shifted[0]), shifted[1], self._operands[k].shift.value)
        return None

    def memory(self) -> tuple[str | None, Expr, list[Effect]]:
        """Return the base register that is updated, the address, and the update, if any."""
        (at,) = (k for k, operand in enumerate(self._operands) if operand.type == 3)
        memory = self._operands[at].mem
        name = REGISTERS[self._register_name(memory.base)]
        base: Expr = self.pc if name == "pc" else name
        if memory.index:
            index = REGISTERS[self._register_name(memory.index)]
            shift = self._operands[at].shift
            if index == "pc" or name == "pc" or shift.type not in (0, 2):
                raise self.unknown()
            return None, ("add", base, ("shl", index, shift.value) if shift.value else index), []
        address = plus(base, memory.disp)
        if not self.is_updating:
            return None, address, []
        step = memory.disp
        if at + 1 < len(self):
            step = int(self._operands[at + 1].imm)
        if name == "pc":
            raise self.unknown()
        return name, address, [Set(name, plus(name, step))]

    def table(self) -> tuple[Expr, str]:
        """Return the start of a table of jumps and the index, both registers."""
        memory = self._operands[0].mem
        base, index = (REGISTERS[self._register_name(one)] for one in (memory.base, memory.index))
        _, _, third, last = self._insn.bytes
        if base == "sp" or index in ("sp", "pc") or third & 0xE0 or last != 0xF0:
            raise self.unknown()
        return (self.address + 4 if base == "pc" else base), index


Meaning: TypeAlias = Callable[[Parsed], Sequence[Effect]]


def plus(x: Expr, n: int) -> Expr:
    """Return an expression plus a constant, which may be negative."""
    if isinstance(x, int):
        return x + n & WORD
    if isinstance(x, tuple) and x[0] in ("add", "sub") and isinstance(x[2], int):
        return plus(x[1], n + (x[2] if x[0] == "add" else -x[2]))
    if n == 0:
        return x
    return ("add", x, n) if n > 0 else ("sub", x, -n)


def bit(x: Expr, k: int) -> Expr:
    """Return a bit of an expression."""
    if k == 31:
        return ("shr", x, 31)
    return ("and", ("shr", x, k) if k else x, 1)


def last_bit_out(shift: str, x: Expr, n: int) -> Expr:
    """Return the carry of a shift by a constant from 1 to 32."""
    return bit(x, 32 - n if shift == "shl" else n - 1)


def inverted(x: Expr) -> Expr:
    """Return an expression with every bit changed."""
    return x ^ WORD if isinstance(x, int) else ("xor", x, WORD)
