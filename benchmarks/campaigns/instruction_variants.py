"""Thumb encodings of programs, and variants, for `benchmarks.campaigns.instruction_semantics`."""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from bncc.prove.code import Code
from bncc.prove.instructions import Instruction, Jump, UnknownInstruction
from bncc.prove.thumb import Decoder
from bncc.targets import find_target
from bncc.targets.cortex_m import thumb_length

CODE, SLOT, SLOTS = 0x0010_0000, 32, 1 << 16
"""Address of the code, and the slots of its units."""
ENDS_A_BLOCK = ("b", "bl", "bx", "blx", "pop", "ldr", "ldm", "mov")
_OTHERS = (
    "f4ee410af1ee10fa b4eee77af1ee10fa f5ee400af1ee10fa f5eec00af1ee10fa f0ee410a "
    "f7ee000a 01ee905a 51ec120b 41ec120b 90ed011b 8ded029b 2ded048b 6ded018a bdec048b "
    "fdec018a a3fb0412 12fb03f1 12fb23f1 12fb13f1 12fb33f1 12fb1341 12fb3341 9140 "
    "12fa03f1 02fa03f1 d140 32fa03f1 1141 52fa03f1 d141 72fa03f1 5feaf211 1110 5ff00041 "
    "12f47f41 12ea7321 92eac371 52ea1301 32ea2301 72eac301 7fea0211 91eaf20f 91f0004f "
    "11f47f0f 52f11801 42eb4311 62eb0301 72eb5321 d2eb2311 d142 d1ba 51ba 99fa89f8 "
    "42fa93f1 02fa83f1 52fab3f1 4ffaa2f1 30e90600 20e90600 07c8 32cc 52f80419 32f9041d "
    "02f8011b 22f8061f 5df804fb 51e90212 73e90212 e3e80212 5ff80810 7846 7844 9f46 9847 "
    "bd46 02b0 84b0 0deb030d 12f9031c "
)
OTHERS = tuple(map(bytes.fromhex, _OTHERS.split()))
"""Instructions of a Cortex-M4 that bncc's programs lack, and rare forms."""


@dataclass(frozen=True)
class Unit:
    """An instruction, an IT block, or a comparison of floats with its ``vmrs``, at an address."""

    address: int
    code: bytes
    names: tuple[str, ...]  # Mnemonics, without conditions
    instructions: tuple[Instruction, ...]

    @property
    def end(self) -> int:
        """The address after the unit."""
        return self.address + len(self.code)

    @property
    def jumps(self) -> bool:
        """True if some instruction jumps."""
        return any(isinstance(e, Jump) for each in self.instructions for e in each.effects)

    @property
    def has_floats(self) -> bool:
        """True if some instruction is one of the floating-point unit."""
        return any(name[0] == "v" or name in ("fconsts", "fmstat") for name in self.names)


@cache
def disassembler() -> Any:
    """Return capstone for Thumb."""
    import capstone

    found = capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS)
    found.detail = True
    return found


def units_of(path: Path) -> set[bytes]:
    """Return the different instructions and IT blocks of a program."""
    found = set()
    with path.open("rb") as file:
        elf = ELFFile(file)
        marks = sorted(
            (symbol["st_value"] & ~1, symbol["st_shndx"], symbol.name[:2])
            for symbol in elf.get_section_by_name(".symtab").iter_symbols()
            if symbol.name[:2] in ("$t", "$d") and symbol["st_shndx"] != "SHN_UNDEF"
        )
        for k, (start, where, kind) in enumerate(marks):
            section = elf.get_section(where)
            end = section["sh_addr"] + section["sh_size"]
            if k + 1 < len(marks):
                end = min(end, marks[k + 1][0])
            if kind == "$t":
                first = start - section["sh_addr"]
                found |= set(split(section.data()[first : end - section["sh_addr"]]))
    return found


def split(code: bytes) -> Iterator[bytes]:
    """Yield the instructions of code; an IT block is one."""
    at = 0
    while at + 2 <= len(code):
        end = at + thumb_length(code, at)
        if code[at + 1] == 0xBF and code[at] & 15:
            mask = code[at] & 15
            for _ in range(5 - (mask & -mask).bit_length()):
                end += thumb_length(code, end) if end + 2 <= len(code) else 2
        yield code[at:end]
        at = end


def unit(code: bytes, address: int) -> Unit | None:
    """Return a unit that the decoder accepts, else None."""
    parts = list(disassembler().disasm(code, address))
    names = tuple(disassembler().insn_name(part.id) for part in parts)
    if sum(part.size for part in parts) != len(code) or not _is_predictable(parts, names):
        return None
    decoder = Decoder(Code(find_target("cortex-m4"), ((address, code),), {}, ""))
    try:
        instructions = tuple(decoder.decode(part.address) for part in parts)
    except UnknownInstruction:
        return None
    return Unit(address, code, names, instructions)


def _is_predictable(parts: Sequence[Any], names: Sequence[str]) -> bool:
    """Return whether an IT block, if the unit is one, contains what it may contain."""
    if names[0] != "it":
        return len(parts) == 1 or names in (("vcmp", "fmstat"), ("vcmpe", "fmstat"))
    if parts[0].cc == 0 or len(parts) == 1 or len(parts) > 5:
        return False
    inner = names[1:]
    if any(name in ("it", "cbz", "cbnz", "cps") for name in inner):
        return False
    return not any(
        name in ENDS_A_BLOCK and ("pc" in part.op_str or name[0] == "b")
        for name, part in zip(inner[:-1], parts[1:-1], strict=True)
    )


def variants(code: bytes, address: int, n: int, rng: random.Random) -> Iterator[Unit]:
    """Yield the unit itself if it is known, then up to n with the same mnemonics."""
    original = unit(code, address)
    if original is None:
        return
    yield original
    places = [k for k in range(8 * len(code)) if original.names[0] != "it" or k >= 16]
    special = {name for name in ("sp", "pc") if name in _text(original)}
    for _ in range(n):
        number = int.from_bytes(code, "little")
        for k in rng.sample(places, rng.randint(1, 6)):
            number ^= 1 << k
        changed = unit(number.to_bytes(len(code), "little"), address)
        if changed is None or changed.names != original.names:
            continue
        # Arm forbids sp and pc in many places where a decoder may not look.
        if {name for name in ("sp", "pc") if name in _text(changed)} <= special:
            yield changed


def _text(of: Unit) -> str:
    return " ".join(each.text.split(" ", 1)[-1] for each in of.instructions)


def form(of: Unit) -> tuple[Any, ...]:
    """Return mnemonic and kind of encoding: units are drawn so that all forms are as frequent."""
    if len(of.names) > 1:
        return (of.names[0], len(of.names), of.names[1])
    part = next(disassembler().disasm(of.code, of.address))
    shape = tuple((operand.type, operand.shift.type) for operand in part.operands)
    if len(shape) > 4:
        shape = shape[:1]
    return (of.names[0], len(of.code), part.update_flags, part.writeback, shape)


def drawn_units(codes: Iterable[bytes], n: int, rng: random.Random) -> list[Unit]:
    """Return n units: of every form of the codes as many, half of them variants of the codes."""
    forms: Mapping[tuple[Any, ...], list[bytes]] = defaultdict(list)
    for code in sorted(codes):
        known = unit(code, CODE)
        if known is not None:
            forms[form(known)].append(code)
    found: list[Unit] = []
    kinds = sorted(forms.values())
    turn = 0
    while len(found) < n:
        code = rng.choice(kinds[turn % len(kinds)])
        turn += 1
        for each in variants(code, CODE + SLOT * len(found), 12, rng):
            # The next slot: all but the first are decoded again there.
            moved = unit(each.code, CODE + SLOT * (len(found) % SLOTS))
            if moved is not None and moved.names == each.names:
                found.append(moved)
                if rng.random() < 0.5:
                    break
    return found[:n]
