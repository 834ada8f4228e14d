"""Meaning of single instructions of AVR, and of arithmetic on numbers of several bytes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bncc.prove.instructions import Effect, Expr, Jump, Load, Set, Store
from bncc.prove.instructions import UnknownInstruction as Unknown

DATA = 0x80_0000
RAM = DATA + 0x100
FLAGS = "CZNVSHTI"
"""Flags by their bits in the status register."""
REGISTERS = (*(f"r{k}" for k in range(32)), "sp", *FLAGS)
SPL, SPH, SREG = 0x3D, 0x3E, 0x3F

Operands: TypeAlias = Mapping[str, int]
Effects: TypeAlias = tuple[Effect, ...]


@dataclass(frozen=True)
class Read:
    """One instruction as read from its bits."""

    name: str
    operands: Operands
    size: int  # Bytes

    @property
    def text(self) -> str:
        """Name and operands, for messages."""
        return " ".join([self.name, *(f"{key}={value}" for key, value in self.operands.items())])

    @property
    def to(self) -> str:
        """The register that it changes, or its left operand."""
        return f"r{self.operands.get('d', 0)}"

    @property
    def right(self) -> Expr:
        """The right operand: a register or a constant."""
        if "K" in self.operands:
            return self.operands["K"]
        return f"r{self.operands.get('r', 0)}"


def meaning(read: Read, at: int, skipped: int = 0) -> Effects:
    """Return the effects of the instruction at an address; `skipped` are the bytes of the next."""
    name, operands, following = read.name, read.operands, at + read.size
    kind, _, pointer = name.partition(".")
    d, to, right = operands.get("d", 0), read.to, read.right
    if kind in ("ld", "ldd", "lds", "st", "std", "sts", "lpm"):
        return _transfer(kind, pointer, to, operands)
    if kind in _ARITHMETIC:
        return _ARITHMETIC[kind](to, right)
    if kind in ("adiw", "sbiw"):
        return _wide(kind, 24 + 2 * d, operands["K"])
    if kind in ("sbrc", "sbrs", "cpse"):
        bit: Expr = _bit(to, operands.get("b", 0))
        holds = {"sbrc": ("eq", bit, 0), "sbrs": ("eq", bit, 1), "cpse": ("eq", to, right)}
        return (Jump(following + skipped, holds[kind]),)
    if kind in ("brbs", "brbc"):
        flag = FLAGS[operands["s"]]
        return (Jump(_target(operands["k"], 7, following), ("eq", flag, int(kind == "brbs"))),)
    if kind in ("rjmp", "rcall", "jmp", "call", "ijmp", "icall"):
        return _jump(kind, operands, following)
    if kind == "ret":
        address: Expr = ("shl", ("cat", "tmp1", "tmp0"), 1)
        return (*_pop("tmp0"), *_pop("tmp1"), Jump(address))
    if kind in ("in", "out"):
        return _port(kind, operands["A"], to)
    if kind in ("bset", "bclr"):
        return (Set(FLAGS[operands["s"]], int(kind == "bset")),)
    if kind == "movw":
        source = 2 * operands["r"]
        return (Set(f"r{2 * d}", f"r{source}"), Set(f"r{2 * d + 1}", f"r{source + 1}"))
    if kind == "bld":
        b = operands["b"]
        return (Set(to, ("or", ("and", to, 0xFF ^ 1 << b), ("shl", "T", b))),)
    return {
        "nop": (),
        "mov": (Set(to, right),),
        "ldi": (Set(to, right),),
        "push": _push(to),
        "pop": _pop(to),
        "swap": (Set(to, ("or", ("shl", ("and", to, 15), 4), ("shr", to, 4))),),
        "bst": (Set("T", _bit(to, operands.get("b", 0))),),
    }[kind]


def cat(parts: Sequence[Expr]) -> Expr:
    """Return bytes as one number, the least significant first."""
    if all(isinstance(part, int) for part in parts):
        return sum(int(str(part)) << 8 * k for k, part in enumerate(parts))
    return ("cat", *parts)


def spread(registers: Sequence[str | None], value: Expr) -> Effects:
    """Set registers to the bytes of a number; None where no register takes one."""
    return tuple(Set(r, ("byte", value, k)) for k, r in enumerate(registers) if r is not None)


def _bit(value: Expr, number: Expr) -> Expr:
    return ("and", ("shr", value, number), 1)


def _target(k: int, bits: int, following: int) -> int:
    """Return the target of a relative jump, in words of `bits` bits with a sign."""
    sign = 1 << bits - 1
    return following + 2 * ((k ^ sign) - sign) & 0x1_FFFF


def _pair(low: int) -> Expr:
    return ("cat", f"r{low}", f"r{low + 1}")


def _set_pair(low: int, value: Expr) -> Effects:
    return spread((f"r{low}", f"r{low + 1}"), value)


def _word(value: Expr) -> Expr:
    return ("zext", value, 16)


def _push(value: Expr) -> Effects:
    return (Store(("add", "sp", DATA), value, 1), Set("sp", _word(("sub", "sp", 1))))


def _pop(to: str) -> Effects:
    return (Set("sp", _word(("add", "sp", 1))), Load(to, ("add", "sp", DATA), 1))


def _jump(kind: str, operands: Operands, following: int) -> Effects:
    if kind in ("jmp", "call") and operands["k"] >> 16:
        raise Unknown(f"{kind} to word {operands['k']:#x}, beyond a counter of 16 bits")
    target: Expr = 2 * operands.get("k", 0)
    if kind in ("rjmp", "rcall"):
        target = _target(operands["k"], 12, following)
    elif kind in ("ijmp", "icall"):
        target = ("shl", _word(_pair(30)), 1)
    if "call" not in kind:
        return (Jump(target),)
    pushed = (*_push(following >> 1 & 0xFF), *_push(following >> 9))
    if target == following:
        return pushed  # Compilers make room for two bytes of a frame
    return (*pushed, Jump(target, is_call=True))


def _transfer(kind: str, pointer: str, to: str, operands: Operands) -> Effects:
    """Return the effects of a load or a store."""
    low = {"X": 26, "Y": 28, "Z": 30}.get(pointer.strip("+-"), 0)
    steps = "+" in pointer or "-" in pointer
    if steps and to in (f"r{low}", f"r{low + 1}"):
        raise Unknown(f"{kind} {pointer} of a part of its pointer is not defined")
    address: Expr = _word(_pair(low))
    before: Effects = ()
    after: Effects = ()
    if kind in ("lds", "sts"):
        address = operands["k"]
    elif "q" in operands:
        address = _word(("add", address, operands["q"]))
    elif pointer.startswith("-"):
        before = (Set("tmp0", _word(("sub", address, 1))), *_set_pair(low, "tmp0"))
        address = "tmp0"
    elif steps:
        before = (Set("tmp0", address),)
        after = _set_pair(low, ("add", "tmp0", 1))
        address = "tmp0"
    if kind != "lpm":
        address = ("add", address, DATA)
    move: Effect = Store(address, to, 1) if kind.startswith("st") else Load(to, address, 1)
    return (*before, move, *after)


def _port(kind: str, port: int, register: str) -> Effects:
    """Return the effects of ``in`` and ``out`` for the stack pointer and the flags."""
    if port == SREG:
        if kind == "out":
            return tuple(Set(flag, _bit(register, k)) for k, flag in enumerate(FLAGS))
        return (Set(register, ("pack", *FLAGS)),)
    if port not in (SPL, SPH):
        raise Unknown(f"{kind} of port {port:#x}, which is neither the stack pointer nor the flags")
    if kind == "in":
        return (Set(register, ("byte", "sp", port - SPL)),)
    if port == SPL:
        return (Set("sp", ("cat", register, ("byte", "sp", 1))),)
    return (Set("sp", ("cat", ("byte", "sp", 0), register)),)


def _signs(result: Expr, overflow: Expr, top: int = 7) -> Effects:
    """Set N and Z by a result, V, and S from N and V."""
    return (
        Set("N", _bit(result, top)),
        Set("Z", ("eq", result, 0)),
        Set("V", overflow),
        Set("S", ("xor", "N", "V")),
    )


def _half(n: int) -> Effects:
    """Set H of the last of n bits: the carry into the fourth bit from the top."""
    return (Set("H", _bit(("xor", ("xor", "tmp0", "tmp1"), "tmp2"), n - 4)),)


def added(left: Sequence[str], right: Sequence[Expr], *, has_carry: bool) -> Effects:
    """Return the sum of numbers of as many bytes, with the carry if it has one."""
    n = 8 * len(left)
    start = (Set("tmp0", cat(left)), Set("tmp1", cat(right)))
    if has_carry:
        total: Expr = ("add", ("add", "tmp0", "tmp1"), "C")
        exact: Expr = ("add", ("add", ("zext", "tmp0", n), ("zext", "tmp1", n)), "C")
        carry: Expr = _bit(exact, n)
    else:
        total = ("add", "tmp0", "tmp1")
        carry = ("ult", ("zext", "tmp2", n), ("zext", "tmp0", n))
    overflow: Expr = _bit(("and", ("xor", "tmp0", "tmp2"), ("xor", "tmp1", "tmp2")), n - 1)
    return (
        *start, Set("tmp2", total), *_half(n), Set("C", carry), Set("N", _bit("tmp2", n - 1)),
        Set("Z", ("eq", ("zext", ("shr", "tmp2", n - 8), 8), 0)), Set("V", overflow),
        Set("S", ("xor", "N", "V")), *spread(left, "tmp2"),
    )  # fmt: skip


def subtracted(
    left: Sequence[Expr], right: Sequence[Expr], to: Sequence[str | None], *, has_carry: bool
) -> Effects:
    """Return the difference of numbers of as many bytes, less the borrow if it has one."""
    n = 8 * len(left)
    first, second = cat(left), cat(right)
    if first == second:
        first = second = 0  # Registers that may have any value
    difference: Expr = ("sub", "tmp0", "tmp1")
    a: Expr = ("zext", "tmp0", n)
    b: Expr = ("zext", "tmp1", n)
    is_zero: Expr = ("eq", a, b)
    is_less: Expr = ("slt", ("shl", "tmp0", 32 - n), ("shl", "tmp1", 32 - n))
    if has_carry:
        difference, b = ("sub", difference, "C"), ("add", b, "C")
        is_zero = ("and", "Z", ("eq", ("zext", "tmp2", n), 0))
        # Numbers without a sign, by the distance from the smallest one
        half = 1 << n - 1
        is_less = ("ult", ("xor", a, half), ("add", ("xor", ("zext", "tmp1", n), half), "C"))
    return (
        Set("tmp0", first), Set("tmp1", second), Set("tmp2", difference), *_half(n),
        Set("Z", is_zero), Set("S", is_less), Set("N", _bit("tmp2", n - 1)),
        Set("V", ("xor", "N", "S")), Set("C", ("ult", a, b)), *spread(to, "tmp2"),
    )  # fmt: skip


def _adding(has_carry: bool) -> Callable[[str, Expr], Effects]:
    return lambda to, right: added((to,), (right,), has_carry=has_carry)


def _subtracting(has_carry: bool, keeps: bool = True) -> Callable[[str, Expr], Effects]:
    """Return subtraction, or comparison that keeps no result."""
    return lambda to, right: subtracted(
        (to,), (right,), (to if keeps else None,), has_carry=has_carry
    )


def _logic(operation: str) -> Callable[[str, Expr], Effects]:
    def effects(to: str, right: Expr) -> Effects:
        if to == right:
            kept: Effects = (Set(to, 0),) if operation == "xor" else ()
            return (*kept, *_signs(0 if operation == "xor" else to, 0))
        return (Set(to, (operation, to, right)), *_signs(to, 0))

    return effects


def shifted_right(top: Expr, registers: Sequence[str]) -> Effects:
    """Return a shift by one bit; `top` becomes the highest: 0, the carry, or ``sign``."""
    n = 8 * len(registers)
    highest: Expr = _bit("tmp0", n - 1) if top == "sign" else top
    inside: Expr = ("zext", "tmp0", n)
    total: Expr = ("shr", inside, 1)
    if top != 0:
        total = ("or", total, ("shl", highest, n - 1))
    # Flags are those of the least significant byte, the last one.
    return (
        Set("tmp0", cat(registers)), Set("tmp1", total), *spread(registers, "tmp1"),
        Set("C", ("and", "tmp0", 1)), Set("N", _bit("tmp1", 7)),
        Set("Z", ("eq", ("zext", "tmp1", 8), 0)), Set("V", ("xor", "N", "C")),
        Set("S", "C"),
    )  # fmt: skip


def _shifting(top: Expr) -> Callable[[str, Expr], Effects]:
    return lambda to, _: shifted_right(top, (to,))


def _counting(step: int, overflow: int) -> Callable[[str, Expr], Effects]:
    def effects(to: str, _: Expr) -> Effects:
        return (Set(to, ("zext", ("add", to, step), 8)), *_signs(to, ("eq", to, overflow)))

    return effects


def _complement(to: str, _: Expr) -> Effects:
    return (Set(to, ("sub", 0xFF, to)), *_signs(to, 0), Set("C", 1))


def _multiply(to: str, right: Expr) -> Effects:
    product = Set("tmp0", ("mul", to, right))
    return (
        product, *_set_pair(0, "tmp0"), Set("C", _bit("tmp0", 15)), Set("Z", ("eq", "tmp0", 0)),
    )  # fmt: skip


def _wide(kind: str, low: int, k: int) -> Effects:
    """Return ``adiw`` or ``sbiw``, which leave H."""
    registers = (f"r{low}", f"r{low + 1}")
    if kind == "sbiw":
        effects = subtracted(registers, (k, 0), registers, has_carry=False)
    else:
        effects = added(registers, (k, 0), has_carry=False)
    is_zero: Expr = ("eq", ("zext", "tmp2", 16), 0)
    kept = (one for one in effects if not (isinstance(one, Set) and one.register == "H"))
    return tuple(
        Set("Z", is_zero) if isinstance(one, Set) and one.register == "Z" else one for one in kept
    )


_ARITHMETIC: Mapping[str, Callable[[str, Expr], Effects]] = {
    "add": _adding(has_carry=False),
    "adc": _adding(has_carry=True),
    "sub": _subtracting(has_carry=False),
    "subi": _subtracting(has_carry=False),
    "sbc": _subtracting(has_carry=True),
    "sbci": _subtracting(has_carry=True),
    "cp": _subtracting(has_carry=False, keeps=False),
    "cpi": _subtracting(has_carry=False, keeps=False),
    "cpc": _subtracting(has_carry=True, keeps=False),
    "neg": lambda to, _: subtracted((0,), (to,), (to,), has_carry=False),
    "and": _logic("and"),
    "andi": _logic("and"),
    "or": _logic("or"),
    "ori": _logic("or"),
    "eor": _logic("xor"),
    "com": _complement,
    "inc": _counting(1, 0x80),
    "dec": _counting(0xFF, 0x7F),
    "lsr": _shifting(0),
    "asr": _shifting("sign"),
    "ror": _shifting("C"),
    "mul": _multiply,
}
