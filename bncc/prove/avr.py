"""
Decoder of AVR with a 16-bit program counter: the meaning of each instruction, from its bits.

``r0`` to ``r31`` hold 8 bits, ``sp`` 16. The flags ``C``, ``Z``, ``N``, ``V``, ``S``, ``H``, ``T``
and ``I`` are registers of one bit. Data space begins at `DATA`, as in ELF files, flash at 0;
addresses of code are in bytes. The run must not let an address of data space fall below `RAM`,
where a processor has its registers and ports: their instructions have other effects.

A number of several bytes is compared or subtracted by a chain such as ``cp``, ``cpc``, ``cpc``, in
which each byte takes the borrow of the one before. So that the comparison of the whole numbers is
seen, ``left`` and ``right`` hold the bytes compared so far, `width` bits of each, and always
``C == (left < right)``: a step of a chain puts the next bytes before them. Every other instruction
that sets ``C`` makes them 0 and ``C``. The invariant holds at an entry if they are 0, ``C`` and 8.
Chains over more than 32 bits start again from their borrow.

Instructions of ports other than the stack pointer and the flags, and those that compilers do not
use for a classifier, raise `UnknownInstruction`.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from bncc.prove.code import Code
from bncc.prove.instructions import Effect, Expr, Instruction, Jump, Load, Set, Store
from bncc.prove.instructions import UnknownInstruction as Unknown

DATA = 0x80_0000
RAM = DATA + 0x100
FLAGS = "CZNVSHTI"
"""Flags by their bits in the status register."""
REGISTERS = (*(f"r{k}" for k in range(32)), "sp", *FLAGS, "left", "right", "width")

Operands: TypeAlias = Mapping[str, int]
Effects: TypeAlias = tuple[Effect, ...]
_SPL, _SPH, _SREG = 0x3D, 0x3E, 0x3F

_PATTERNS = """
    nop    0000000000000000
    movw   00000001ddddrrrr
    cpc    000001rdddddrrrr
    sbc    000010rdddddrrrr
    add    000011rdddddrrrr
    cpse   000100rdddddrrrr
    cp     000101rdddddrrrr
    sub    000110rdddddrrrr
    adc    000111rdddddrrrr
    and    001000rdddddrrrr
    eor    001001rdddddrrrr
    or     001010rdddddrrrr
    mov    001011rdddddrrrr
    cpi    0011KKKKddddKKKK
    sbci   0100KKKKddddKKKK
    subi   0101KKKKddddKKKK
    ori    0110KKKKddddKKKK
    andi   0111KKKKddddKKKK
    ldd.Z  10q0qq0ddddd0qqq
    ldd.Y  10q0qq0ddddd1qqq
    std.Z  10q0qq1ddddd0qqq
    std.Y  10q0qq1ddddd1qqq
    lds    1001000ddddd0000
    ld.Z+  1001000ddddd0001
    ld.-Z  1001000ddddd0010
    lpm.Z  1001000ddddd0100
    lpm.Z+ 1001000ddddd0101
    ld.Y+  1001000ddddd1001
    ld.-Y  1001000ddddd1010
    ld.X   1001000ddddd1100
    ld.X+  1001000ddddd1101
    ld.-X  1001000ddddd1110
    pop    1001000ddddd1111
    sts    1001001ddddd0000
    st.Z+  1001001ddddd0001
    st.-Z  1001001ddddd0010
    st.Y+  1001001ddddd1001
    st.-Y  1001001ddddd1010
    st.X   1001001ddddd1100
    st.X+  1001001ddddd1101
    st.-X  1001001ddddd1110
    push   1001001ddddd1111
    com    1001010ddddd0000
    neg    1001010ddddd0001
    swap   1001010ddddd0010
    inc    1001010ddddd0011
    asr    1001010ddddd0101
    lsr    1001010ddddd0110
    ror    1001010ddddd0111
    dec    1001010ddddd1010
    bset   100101000sss1000
    bclr   100101001sss1000
    jmp    1001010kkkkk110k
    call   1001010kkkkk111k
    ret    1001010100001000
    ijmp   1001010000001001
    icall  1001010100001001
    adiw   10010110KKddKKKK
    sbiw   10010111KKddKKKK
    mul    100111rdddddrrrr
    in     10110AAdddddAAAA
    out    10111AAdddddAAAA
    rjmp   1100kkkkkkkkkkkk
    rcall  1101kkkkkkkkkkkk
    ldi    1110KKKKddddKKKK
    brbs   111100kkkkkkksss
    brbc   111101kkkkkkksss
    bld    1111100ddddd0bbb
    bst    1111101ddddd0bbb
    sbrc   1111110ddddd0bbb
    sbrs   1111111ddddd0bbb
"""
"""Bits of each instruction; a letter gathers the bits of an operand, the highest first."""
_LONG = ("lds", "sts", "jmp", "call")
_HIGH = ("cpi", "sbci", "subi", "ori", "andi", "ldi")
"""Those that know the registers from r16 on."""


def _table() -> tuple[tuple[str, int, int, str], ...]:
    """Return name, mask of the fixed bits, their values, and pattern."""
    rows = (line.split() for line in _PATTERNS.strip().splitlines())
    return tuple(
        (
            name,
            int("".join("1" if bit in "01" else "0" for bit in pattern), 2),
            int("".join(bit if bit in "01" else "0" for bit in pattern), 2),
            pattern,
        )
        for name, pattern in rows
    )


_TABLE = _table()


class Decoder:
    """Instructions of a linked program by their addresses."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._cache: dict[int, Instruction] = {}

    def decode(self, address: int) -> Instruction:
        """Return the instruction at an address in bytes."""
        if address not in self._cache:
            name, operands, size = self._read(address)
            skipped = self._read(address + 2)[2] if name in ("cpse", "sbrc", "sbrs") else 0
            effects = _effects(name, operands, address, address + size, skipped)
            text = " ".join([name, *(f"{key}={value}" for key, value in operands.items())])
            self._cache[address] = Instruction(address, size, text, effects)
        return self._cache[address]

    def _read(self, address: int) -> tuple[str, Operands, int]:
        """Return name, operands and bytes of the instruction at an address."""
        word = self._word(address)
        for name, mask, value, pattern in _TABLE:
            if word & mask == value:
                operands = _operands(pattern, word)
                if name not in _LONG:
                    return name, operands, 2
                after = self._word(address + 2)
                return name, {**operands, "k": operands.get("k", 0) << 16 | after}, 4
        raise Unknown(f"unknown instruction {word:04x} at {address:#x}")

    def _word(self, address: int) -> int:
        content = None if address % 2 else self._code.bytes_at(address, 2)
        if content is None:
            raise Unknown(f"no instruction can be at {address:#x}")
        return int.from_bytes(content, "little")


def _operands(pattern: str, word: int) -> dict[str, int]:
    operands: dict[str, int] = {}
    for k, bit in enumerate(pattern):
        if bit not in "01":
            operands[bit] = operands.get(bit, 0) << 1 | word >> (15 - k) & 1
    return operands


def _effects(name: str, operands: Operands, at: int, following: int, skipped: int) -> Effects:
    """Return the effects of an instruction; `skipped` are the bytes of the next."""
    kind, _, pointer = name.partition(".")
    d = operands.get("d", 0)
    if name in _HIGH:
        d += 16
    to = f"r{d}"
    right: Expr = operands["K"] if "K" in operands else f"r{operands.get('r', 0)}"
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
    if kind in ("jmp", "call") and operands["k"] >> 16:
        raise Unknown(f"{kind} to word {operands['k']:#x}, beyond a counter of 16 bits")
    if kind in ("rjmp", "rcall", "jmp", "call", "ijmp", "icall"):
        target: Expr = 2 * operands.get("k", 0)
        if kind in ("rjmp", "rcall"):
            target = _target(operands["k"], 12, following)
        elif kind in ("ijmp", "icall"):
            target = ("shl", _pair(30), 1)
        if "call" not in kind:
            return (Jump(target),)
        return (*_push(following >> 1 & 0xFF), *_push(following >> 9), Jump(target, is_call=True))
    if kind == "ret":
        address: Expr = ("shl", ("or", ("shl", "tmp0", 8), "tmp1"), 1)
        return (*_pop("tmp0"), *_pop("tmp1"), Jump(address))
    if kind in ("in", "out"):
        return _port(kind, operands["A"], to)
    if kind in ("bset", "bclr"):
        flag, value = FLAGS[operands["s"]], int(kind == "bset")
        return _carry(value) if flag == "C" else (Set(flag, value),)
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


def _bit(value: Expr, number: Expr) -> Expr:
    return ("and", ("shr", value, number), 1)


def _byte(value: Expr) -> Expr:
    return ("zext", value, 8)


def _target(k: int, bits: int, following: int) -> int:
    """Return the target of a relative jump, in words of `bits` bits with a sign."""
    sign = 1 << bits - 1
    return following + 2 * ((k ^ sign) - sign) & 0x1_FFFF


def _pair(low: int) -> Expr:
    return ("or", ("shl", f"r{low + 1}", 8), f"r{low}")


def _set_pair(low: int, value: Expr) -> Effects:
    return (Set(f"r{low}", _byte(value)), Set(f"r{low + 1}", _byte(("shr", value, 8))))


def _word(value: Expr) -> Expr:
    return ("zext", value, 16)


def _push(value: Expr) -> Effects:
    return (Store(("add", "sp", DATA), value, 1), Set("sp", _word(("sub", "sp", 1))))


def _pop(to: str) -> Effects:
    return (Set("sp", _word(("add", "sp", 1))), Load(to, ("add", "sp", DATA), 1))


def _transfer(kind: str, pointer: str, to: str, operands: Operands) -> Effects:
    """Return the effects of a load or a store."""
    low = {"X": 26, "Y": 28, "Z": 30}.get(pointer.strip("+-"), 0)
    steps = "+" in pointer or "-" in pointer
    if steps and to in (f"r{low}", f"r{low + 1}"):
        raise Unknown(f"{kind} {pointer} of a part of its pointer is not defined")
    address: Expr = _pair(low)
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
    if port == _SREG:
        if kind == "out":
            flags = tuple(Set(flag, _bit(register, k)) for k, flag in enumerate(FLAGS))
            return (*flags, *_carry("C"))
        value: Expr = "C"
        for k, flag in enumerate(FLAGS[1:], 1):
            value = ("or", value, ("shl", flag, k))
        return (Set(register, value),)
    if port not in (_SPL, _SPH):
        raise Unknown(f"{kind} of port {port:#x}, which is neither the stack pointer nor the flags")
    if kind == "in":
        return (Set(register, _byte(("shr", "sp", 8 * (port - _SPL)))),)
    if port == _SPL:
        return (Set("sp", ("or", ("and", "sp", 0xFF00), register)),)
    return (Set("sp", ("or", ("and", "sp", 0xFF), ("shl", register, 8))),)


def _carry(value: Expr) -> Effects:
    """Set the carry outside a chain."""
    return (Set("C", value), Set("left", 0), Set("right", "C"), Set("width", 8))


def _signs(result: Expr, overflow: Expr, top: int = 7) -> Effects:
    """Set N and Z by a result, V, and S from N and V."""
    return (
        Set("N", _bit(result, top)), Set("Z", ("eq", result, 0)), Set("V", overflow),
        Set("S", ("xor", "N", "V")),
    )  # fmt: skip


def _adding(takes_carry: bool) -> Callable[[str, Expr], Effects]:
    def effects(to: str, right: Expr) -> Effects:
        carry: Expr = "C" if takes_carry else 0
        half: Expr = ("add", ("add", ("and", to, 15), ("and", "tmp1", 15)), carry)
        overflow: Expr = _bit(("and", ("xor", "tmp0", "tmp2"), ("xor", "tmp1", "tmp2")), 7)
        return (
            Set("tmp0", to), Set("tmp1", right), Set("H", _bit(half, 4)),
            Set("tmp3", ("add", ("add", "tmp0", "tmp1"), carry)), Set("tmp2", _byte("tmp3")),
            Set(to, "tmp2"), *_signs("tmp2", overflow), *_carry(("shr", "tmp3", 8)),
        )  # fmt: skip

    return effects


def _subtracting(in_chain: bool, keeps: bool = True) -> Callable[[str, Expr], Effects]:
    """Return subtraction, or comparison that keeps no result, at the start or within a chain."""

    def effects(to: str, right: Expr) -> Effects:
        return _difference(to, right, in_chain, to if keeps else None)

    return effects


def _difference(left: Expr, right: Expr, in_chain: bool, to: str | None) -> Effects:
    """Set flags and chain by ``left - right``, less the borrow in a chain, and a register."""
    borrow: Expr = "C" if in_chain else 0
    is_zero: Expr = ("eq", "tmp2", 0)
    start: Effects = (Set("left", "tmp0"), Set("right", "tmp1"), Set("width", 8))
    if in_chain:
        is_zero = ("and", "Z", is_zero)
        is_full: Expr = ("eq", "width", 32)
        start = (
            Set("left", ("ite", is_full, 0, "left")),
            Set("right", ("ite", is_full, "C", "right")),
            Set("width", ("ite", is_full, 8, "width")),
            Set("left", ("or", "left", ("shl", "tmp0", "width"))),
            Set("right", ("or", "right", ("shl", "tmp1", "width"))),
            Set("width", ("add", "width", 8)),
        )
    rest: Expr = ("sub", 32, "width")
    half: Expr = ("ult", ("and", "tmp0", 15), ("add", ("and", "tmp1", 15), borrow))
    return (
        Set("tmp0", left),
        Set("tmp1", right),
        Set("tmp2", _byte(("sub", ("sub", "tmp0", "tmp1"), borrow))),
        Set("H", half),
        *start,
        Set("C", ("ult", "left", "right")),
        Set("Z", is_zero),
        Set("N", _bit("tmp2", 7)),
        Set("S", ("slt", ("shl", "left", rest), ("shl", "right", rest))),
        Set("V", ("xor", "N", "S")),
        *(() if to is None else (Set(to, "tmp2"),)),
    )


def _logic(operation: str) -> Callable[[str, Expr], Effects]:
    return lambda to, right: (Set(to, (operation, to, right)), *_signs(to, 0))


def _shifting(top: Expr) -> Callable[[str, Expr], Effects]:
    """Return a shift to the right by one bit; `top` becomes the highest."""

    def effects(to: str, _: Expr) -> Effects:
        highest: Expr = _bit("tmp0", 7) if top == "sign" else top
        return (
            Set("tmp0", to), Set(to, ("or", ("shr", "tmp0", 1), ("shl", highest, 7))),
            *_carry(("and", "tmp0", 1)), *_signs(to, ("xor", "N", "C")),
        )  # fmt: skip

    return effects


def _counting(step: int, overflow: int) -> Callable[[str, Expr], Effects]:
    def effects(to: str, _: Expr) -> Effects:
        return (Set(to, _byte(("add", to, step))), *_signs(to, ("eq", to, overflow)))

    return effects


def _complement(to: str, _: Expr) -> Effects:
    return (Set(to, ("xor", to, 0xFF)), *_signs(to, 0), *_carry(1))


def _multiply(to: str, right: Expr) -> Effects:
    product = Set("tmp0", ("mul", to, right))
    return (product, *_set_pair(0, "tmp0"), *_carry(_bit("tmp0", 15)), Set("Z", ("eq", "tmp0", 0)))


def _wide(kind: str, low: int, k: int) -> Effects:
    """Return ``adiw`` or ``sbiw``."""
    operation = "add" if kind == "adiw" else "sub"
    before: Effects = (Set("tmp0", _pair(low)), Set("tmp1", _word((operation, "tmp0", k))))
    if kind == "adiw":
        overflow: Expr = _bit(("and", ("xor", "tmp0", 0xFFFF), "tmp1"), 15)
        after = _carry(_bit(("add", "tmp0", k), 16))
    else:
        overflow = _bit(("and", "tmp0", ("xor", "tmp1", 0xFFFF)), 15)
        after = (
            Set("left", "tmp0"), Set("right", k), Set("width", 16),
            Set("C", ("ult", "left", "right")),
        )  # fmt: skip
    return (*before, *_set_pair(low, "tmp1"), *_signs("tmp1", overflow, 15), *after)


_ARITHMETIC: Mapping[str, Callable[[str, Expr], Effects]] = {
    "add": _adding(takes_carry=False),
    "adc": _adding(takes_carry=True),
    "sub": _subtracting(in_chain=False),
    "subi": _subtracting(in_chain=False),
    "sbc": _subtracting(in_chain=True),
    "sbci": _subtracting(in_chain=True),
    "cp": _subtracting(in_chain=False, keeps=False),
    "cpi": _subtracting(in_chain=False, keeps=False),
    "cpc": _subtracting(in_chain=True, keeps=False),
    "neg": lambda to, _: _difference(0, to, False, to),
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
