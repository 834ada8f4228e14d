"""Machine code of a linked program: its bytes, symbols and constants, from the ELF file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from elftools.elf.segments import Segment

from bncc.errors import ToolchainError
from bncc.targets.base import Target


@dataclass(frozen=True)
class Code:
    """A linked program: what a proof is about."""

    target: Target
    sections: tuple[tuple[int, bytes], ...]  # Address and bytes of code and constants
    symbols: Mapping[str, int]  # Addresses, without the lowest bit of Thumb functions
    sha256: str  # Digest of the ELF file
    content: bytes = b""  # The ELF file
    of_arm_state: frozenset[str] = frozenset()  # Functions of 32-bit Arm instructions (A32)

    def bytes_at(self, address: int, size: int) -> bytes | None:
        """Return bytes of code or constants; None if they are not all of one section."""
        for start, data in self.sections:
            if start <= address and address + size <= start + len(data):
                return data[address - start : address - start + size]
        return None

    def entry(self, symbol: str) -> int:
        """Return the address of a function."""
        if symbol in self.of_arm_state:
            raise ToolchainError(
                f"'{symbol}' has Arm instructions, which no Cortex-M executes; compile it with "
                "-mthumb"
            )
        if symbol not in self.symbols:
            raise ToolchainError(
                f"the program has no symbol '{symbol}'; it may be inlined, unused or stripped: "
                "check the name, call the function, mark it noinline, and keep the symbol table"
            )
        return self.symbols[symbol]


def code_of(path: Path, target: Target) -> Code:
    """Read the ELF file of a linked program for a target."""
    content = path.read_bytes()
    with path.open("rb") as file:
        elf = ELFFile(file)
        sections = tuple(
            (section["sh_addr"], section.data())
            for section in elf.iter_sections()
            if section["sh_flags"] & SH_FLAGS.SHF_ALLOC
            and not section["sh_flags"] & SH_FLAGS.SHF_WRITE
            and section["sh_type"] == "SHT_PROGBITS"
            and section["sh_size"]
        )
        loads = [one for one in elf.iter_segments() if one["p_type"] == "PT_LOAD"]
        if not all(_is_loaded(*section, loads) for section in sections):
            raise ToolchainError(
                "the program has a section that is not loaded as it is, at its address; link the "
                "program again, without a tool that changes sections"
            )
        table = elf.get_section_by_name(".symtab")
        symbols, of_arm_state = {}, set()
        if isinstance(table, SymbolTableSection):
            for symbol in table.iter_symbols():
                if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_shndx"] != "SHN_UNDEF":
                    if elf["e_machine"] == "EM_ARM" and not symbol["st_value"] & 1:
                        of_arm_state.add(symbol.name)
                    symbols[symbol.name] = symbol["st_value"] & ~1
                elif symbol.name == "__global_pointer$":  # of RISC-V, in the register gp
                    symbols[symbol.name] = symbol["st_value"]
    digest = sha256(content).hexdigest()
    return Code(target, sections, symbols, digest, content, frozenset(of_arm_state))


def _is_loaded(address: int, data: bytes, loads: Sequence[Segment]) -> bool:
    """Return whether one segment alone loads bytes at their address."""
    end = address + len(data)
    near = [
        one for one in loads if one["p_vaddr"] < end and address < one["p_vaddr"] + one["p_memsz"]
    ]
    if len(near) != 1 or near[0]["p_vaddr"] != near[0]["p_paddr"]:
        return False
    start = address - near[0]["p_vaddr"]
    return start >= 0 and near[0].data()[start : start + len(data)] == data
