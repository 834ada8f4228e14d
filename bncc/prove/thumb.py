"""
Decoder of Thumb: the code of Cortex-M0, M3, M4 and M7, disassembled by capstone.

An instruction gets its meaning from one function per group of mnemonics: of `thumb_data`,
`thumb_memory`, `thumb_float`, and those that jump from this file. What no group knows raises
`UnknownInstruction`, as do forms that Arm calls unpredictable.

An interpreter of the effects must check that sp remains a multiple of 4, since Arm calls other
values unpredictable. A comparison of floats stores its operands in the registers ``fcmp0`` and
``fcmp1``, from which ``vmrs`` sets the flags.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bncc.prove.code import Code
from bncc.prove.instructions import Effect, Expr, Instruction, Jump, Load, Set, UnknownInstruction
from bncc.prove.thumb_data import DATA, HALF_PRODUCTS
from bncc.prove.thumb_float import FLOATS
from bncc.prove.thumb_memory import MEMORY
from bncc.prove.thumb_operands import Meaning, Parsed
from bncc.targets.cortex_m import thumb_length


class Decoder:
    """
    Decodes the instructions of a program, each once.

    Instructions of an IT block get their conditions when the ``it`` before them is decoded.
    """

    def __init__(self, code: Code) -> None:
        import capstone

        self._code = code
        self._known: dict[int, Instruction] = {}
        mode = capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS
        self._capstone: Any = capstone.Cs(capstone.CS_ARCH_ARM, mode)
        self._capstone.detail = True
        self._is_v6 = code.target.name == "cortex-m0"
        self._has_v7e = code.target.name in ("cortex-m4", "cortex-m7")
        self._inner: set[int] = set()  # Addresses within IT blocks
        self._targets: set[int] = set()  # Addresses to which jumps lead

    def decode(self, address: int) -> Instruction:
        """Return the instruction at an address, or raise `UnknownInstruction`."""
        if address not in self._known:
            first, size = self._fetch(address, 1)
            _, size = self._fetch(address, 1 + _conditional(first))
            data = self._code.bytes_at(address, size)
            found = list(self._capstone.disasm(data, address))
            if sum(insn.size for insn in found) != size:
                raise UnknownInstruction(f"bytes {first.hex()} at {address:#x}")
            inner = {insn.address for insn in found[1:]}
            if inner & ({*self._known} | self._targets):
                raise UnknownInstruction(f"a jump into the IT block at {address:#x}")
            block = self._block(found)
            targets = _constant_targets(block)
            if targets & (self._inner | inner):
                raise UnknownInstruction("a jump into an IT block")
            # Only now: if any part of a block is unknown, no part of it may be decoded alone.
            self._known |= {one.address: one for one in block}
            self._inner |= inner
            self._targets |= targets
        return self._known[address]

    def _block(self, found: Sequence[Any]) -> list[Instruction]:
        """Return an instruction, with those of the IT block that it begins."""
        block: list[Instruction] = []
        following = [*(insn.address for insn in found[1:]), None]
        for k, (insn, then) in enumerate(zip(found, following, strict=True)):
            one = self._instruction(insn, is_conditional=k > 0)
            is_last = then is None
            if k > 0 and not is_last and any(isinstance(each, Jump) for each in one.effects):
                raise UnknownInstruction(f"a jump at {insn.address:#x}, not last in its IT block")
            block.append(one if is_last else replace(one, then=then))
        return block

    def _fetch(self, address: int, n: int) -> tuple[bytes, int]:
        """Return the first of n consecutive instructions, and the bytes of all."""
        first, at = b"", address
        for _ in range(n):
            head = self._code.bytes_at(at, 2)
            size = thumb_length(head, 0) if head is not None else 2
            data = self._code.bytes_at(at, size)
            if data is None:
                raise UnknownInstruction(f"no code at {at:#x}")
            first, at = first or data, at + size
        return first, at - address

    def _instruction(self, insn: Any, is_conditional: bool) -> Instruction:
        parsed = Parsed(insn, self._capstone.insn_name(insn.id), self._capstone.reg_name)
        parsed.loads_anywhere = self._code.target.loads_anywhere
        # In an IT block capstone shows what must not be there without a condition, but for `it`.
        must_not = parsed.condition is None or parsed.name == "it"
        if parsed.name not in GROUPS or (is_conditional and must_not):
            raise parsed.unknown()
        is_missing = parsed.name in V7E and not self._has_v7e
        if (
            is_missing
            or parsed.has_reserved_bits
            or (self._is_v6 and not _has_v6(insn.size, parsed.name))
        ):
            raise parsed.unknown()
        effects = tuple(GROUPS[parsed.name](parsed))
        # A single jump has its own condition, and `it` none.
        is_pure = len(effects) == 1 and isinstance(effects[0], Jump)
        condition = None if is_pure or not effects else parsed.condition
        return Instruction(
            insn.address, insn.size, parsed.text, effects, condition, is_inner=is_conditional
        )


def _constant_targets(block: Iterable[Instruction]) -> set[int]:
    """Return the constants to which instructions jump."""
    jumps = (each for one in block for each in one.effects if isinstance(each, Jump))
    return {jump.target for jump in jumps if isinstance(jump.target, int)}


def _has_v6(size: int, name: str) -> bool:
    """Return whether v6-M has an instruction: almost none of four bytes, and no IT block."""
    return name in WIDE_V6 if size == 4 else name not in ("it", "cbz", "cbnz")


def _conditional(first: bytes) -> int:
    """Return the number of instructions in the IT block that an instruction begins."""
    mask = first[0] & 15
    if len(first) != 2 or first[1] != 0xBF or mask == 0:
        return 0
    return 5 - (mask & -mask).bit_length()


def _branch(p: Parsed) -> list[Effect]:
    return [Jump(p.immediate(0) & ~1, p.condition)]


def _branch_register(p: Parsed) -> list[Effect]:
    p.require_zeros(7)
    return [Jump(p.value(0), p.condition, keeps_thumb=True)]


def _call(p: Parsed) -> list[Effect]:
    lr = p.address + p.size | 1
    if p.name == "bl":
        return [Set("lr", lr), Jump(p.immediate(0) & ~1, p.condition, is_call=True)]
    jump = Jump("tmp0", p.condition, is_call=True, keeps_thumb=True)
    return [Set("tmp0", p.value(0)), Set("lr", lr), jump]


def _branch_if_zero(p: Parsed) -> list[Effect]:
    x = p.value(0)
    return [Jump(p.immediate(1) & ~1, ("eq", x, 0) if p.name == "cbz" else ("ult", 0, x))]


def _branch_by_table(p: Parsed) -> list[Effect]:
    """Jump over as many halfwords as a table of bytes or halfwords has at an index."""
    if p.condition is not None:
        raise p.unknown()
    base, index = p.table()
    size = 1 if p.name == "tbb" else 2
    entry: Expr = ("add", base, index if size == 1 else ("shl", index, 1))
    return [Load("tmp0", entry, size), Jump(("add", p.address + 4, ("shl", "tmp0", 1)))]


def _nothing(p: Parsed) -> list[Effect]:
    if p.name == "hint" and p.text != "nop":
        raise p.unknown()
    return []


GROUPS: Mapping[str, Meaning] = {
    **DATA,
    **MEMORY,
    **FLOATS,
    "b": _branch,
    "bx": _branch_register,
    "bl": _call,
    "blx": _call,
    "cbz": _branch_if_zero,
    "cbnz": _branch_if_zero,
    "tbb": _branch_by_table,
    "tbh": _branch_by_table,
    "hint": _nothing,
    "it": _nothing,
    "dmb": _nothing,
    "dsb": _nothing,
    "isb": _nothing,
}
"""The meaning of each mnemonic, by its name in capstone, without conditions and suffixes."""
V7E = (*FLOATS, "uxtab", "uxtah", "sxtab", "sxtah", "uxtb16", *HALF_PRODUCTS)
"""Instructions that Cortex-M4 and M7 have, but M3 has not."""
WIDE_V6 = ("bl", "dmb", "dsb", "isb")
"""Instructions of four bytes that v6-M has."""
