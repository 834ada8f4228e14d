"""
Semantics campaign: `bncc.prove.riscv` compared with unicorn, one instruction at a time.

All compressed encodings, and random words of the opcodes of I and M with every function code, are
executed in random states. All registers, the next address and all memory are compared. An encoding
that the decoder refuses must be illegal in unicorn or belong to an extension; its names are
printed. The campaign of the release takes some minutes on one core:

    .venv/bin/python -m benchmarks.campaigns.riscv_semantics --n 2000000 --seed 0
"""

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from bncc.prove.code import Code
from bncc.prove.concrete import State, execute
from bncc.prove.instructions import Instruction, Jump, Load, Store, UnknownInstruction
from bncc.prove.riscv import REGISTERS, Decoder
from bncc.targets import TARGETS

CODE, N_CODE = 0x8000_0000, 0x1_0000
PAGE = 0x1000
MIDDLE, LOW, HIGH = 0x4000_0000, 0, 0x1_0000_0000 - PAGE
"""Pages of data: one that any register can point to, and those within reach of ``zero``."""
SPACE = 8  # Bytes for each instruction in the code
PER_ENCODING = 4  # States in which it is executed
WORD = 0xFFFF_FFFF
CORNERS = (0, 1, 2, 31, 32, 33, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0x7FFF_FFFF, 0x8000_0000, WORD)

OPCODES = {
    0x33: [(f3, f7) for f3 in range(8) for f7 in (0, 1)] + [(0, 0x20), (5, 0x20)],
    0x13: [(f3, None) for f3 in (0, 2, 3, 4, 6, 7)] + [(1, 0), (5, 0), (5, 0x20)],
    0x03: [(f3, None) for f3 in (0, 1, 2, 4, 5)],
    0x23: [(f3, None) for f3 in (0, 1, 2)],
    0x63: [(f3, None) for f3 in (0, 1, 4, 5, 6, 7)],
    0x67: [(0, None)],
    0x6F: [(None, None)],
    0x37: [(None, None)],
    0x17: [(None, None)],
}
"""Function codes of 3 and 7 bits by opcode; None is part of a constant."""
WEIGHTS = (8, 6, 4, 3, 4, 1, 1, 1, 1)
"""Relative frequencies of `OPCODES`."""


@dataclass
class Result:
    """Findings of a campaign."""

    executions: Counter[str] = field(default_factory=Counter)  # By mnemonic
    # By mnemonic, and whether unicorn executes it
    refused: Counter[tuple[str, bool]] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)


def encodings(chance: random.Random) -> Iterator[bytes]:
    """Yield encodings without end: compressed ones, each once per round, rare ones, and others."""
    compressed = [n for n in range(1 << 16) if n & 3 != 3]
    logic = [n for n in compressed if n & 0xEC03 == 0x8C01]
    jumps = [n for n in compressed if n & 0xE07F == 0x8002]
    while True:
        chance.shuffle(compressed)
        for short in compressed:
            yield short.to_bytes(2, "little")
            yield chance.choice(chance.choice((logic, jumps))).to_bytes(2, "little")
            yield _word(chance).to_bytes(4, "little")


def _word(chance: random.Random) -> int:
    """Return a random word of 32 bits with a known opcode, its function codes mostly legal."""
    (opcode,) = chance.choices(list(OPCODES), WEIGHTS)
    word = chance.getrandbits(25) << 7 | opcode
    if chance.random() < 0.9:
        f3, f7 = chance.choice(OPCODES[opcode])
        word = word if f3 is None else word & ~(7 << 12) | f3 << 12
        word = word if f7 is None else word & ~(0x7F << 25) | f7 << 25
    if chance.random() < 0.2:  # the same register twice, or zero
        first, second = chance.sample((7, 15, 20), 2)
        number = chance.choice((0, word >> first & 31))
        if opcode in (0x33, 0x13, 0x03, 0x63, 0x67) and (first, second) != (20, 15):
            word = word & ~(31 << second) | number << second
    return word


class Pages:
    """The pages of data as `execute` sees them."""

    def __init__(self, chance: random.Random) -> None:
        self.content = {start: bytearray(chance.randbytes(PAGE)) for start in (LOW, MIDDLE, HIGH)}

    def read(self, address: int, size: int) -> int:
        """Return an unsigned number, least significant byte first."""
        at = address % PAGE
        return int.from_bytes(self.content[address - at][at : at + size], "little")

    def write(self, address: int, size: int, value: int) -> None:
        """Write the lowest bytes of a number."""
        at = address % PAGE
        lowest = value & (1 << 8 * size) - 1
        self.content[address - at][at : at + size] = lowest.to_bytes(size, "little")


class Processor:
    """Unicorn with pages of data, and encodings at known addresses."""

    def __init__(self, code: bytes, pages: Pages) -> None:
        import unicorn
        from unicorn import riscv_const

        self._uc = unicorn.Uc(unicorn.UC_ARCH_RISCV, unicorn.UC_MODE_RISCV32)
        self._uc.mem_map(CODE, N_CODE)
        self._uc.mem_write(CODE, code)
        for start, content in pages.content.items():
            self._uc.mem_map(start, PAGE)
            self._uc.mem_write(start, bytes(content))
        self._ids = [getattr(riscv_const, f"UC_RISCV_REG_X{k}") for k in range(1, 32)]
        self._pc = riscv_const.UC_RISCV_REG_PC
        self._error: Any = unicorn.UcError
        self._nothing_there = unicorn.UC_ERR_FETCH_UNMAPPED

    def step(self, address: int, registers: dict[str, int]) -> tuple[dict[str, int], int] | None:
        """Return registers and the next address after one instruction; None if it is illegal."""
        self._uc.reg_write_batch(
            [(k, registers[name]) for k, name in zip(self._ids, REGISTERS[1:], strict=True)]
        )
        try:
            self._uc.emu_start(address, 0x0FFF_FFF0, count=1)
        except self._error as error:
            if error.errno != self._nothing_there:  # else a jump, whose target need not exist
                return None
        found = self._uc.reg_read_batch(self._ids)
        return dict(zip(REGISTERS[1:], found, strict=True)), self._uc.reg_read(self._pc)

    def has(self, pages: Pages) -> bool:
        """Return whether all memory is the same."""
        return all(self._uc.mem_read(start, PAGE) == page for start, page in pages.content.items())


def conform(
    n: int,
    seed: int,
    source: Iterator[bytes] | None = None,
    report: Callable[[str], None] = print,
    most: int = 20,
) -> Result:
    """Execute `n` instructions of a source of encodings, or up to the first `most` differences."""
    chance = random.Random(seed)
    result = Result()
    source = encodings(chance) if source is None else source
    while result.executions.total() < n and len(result.differences) < most:
        block = [next(source) for _ in range(N_CODE // SPACE)]
        code = b"".join(encoding.ljust(SPACE, b"\0") for encoding in block)
        memory = Pages(chance)
        processor = Processor(code, memory)
        decoder = Decoder(Code(TARGETS["rv32"], ((CODE, code),), {}, ""))
        for at in range(CODE, CODE + N_CODE, SPACE):
            try:
                instruction = decoder.decode(at)
            except UnknownInstruction as error:
                is_legal = processor.step(at, dict.fromkeys(REGISTERS, MIDDLE)) is not None
                result.refused[_named(str(error)), is_legal] += 1
                continue
            name = instruction.text.split()[0]
            for _ in range(PER_ENCODING):
                difference = _compare(instruction, processor, memory, chance)
                result.executions[name] += 1
                if difference is not None:
                    result.differences.append(f"{instruction.text} at {at:#x}: {difference}")
                    report(result.differences[-1])
                    break  # the memory may differ from here on
                if result.executions.total() >= n:
                    return result
            else:
                continue
            break
    return result


def _named(message: str) -> str:
    """Return the mnemonic in the message of a refusal."""
    return message.split("'")[1].split()[0] if "'" in message else "(no instruction)"


def _compare(
    instruction: Instruction, processor: Processor, memory: Pages, chance: random.Random
) -> str | None:
    """Execute an instruction in a random state twice; return what differs."""
    registers = _registers(instruction, chance)
    if registers is None:
        return None
    expected = State({"zero": 0} | registers, memory)
    following = execute(instruction, expected)
    found = processor.step(instruction.address, registers)
    if found is None:
        return "unicorn refuses it"
    for name, value in found[0].items():
        if value != expected.registers[name]:
            return f"{name} is {value:#x}, not {expected.registers[name]:#x}, from {registers}"
    if found[1] != following:
        return f"the next address is {found[1]:#x}, not {following:#x}, from {registers}"
    if not processor.has(memory):
        return f"memory differs, from {registers}"
    return None


def _registers(instruction: Instruction, chance: random.Random) -> dict[str, int] | None:
    """Return random registers that make a load or store use one of the pages."""
    registers = {
        name: chance.choice(CORNERS) if chance.random() < 0.3 else chance.getrandbits(32)
        for name in REGISTERS[1:]
    }
    for effect in instruction.effects:
        if isinstance(effect, Load | Store):
            base = effect.address
            offset = 0
            if isinstance(base, tuple):
                base, offset = base[1], base[2]  # type: ignore[misc, assignment]
            if isinstance(base, str):
                place = MIDDLE + chance.randrange(PAGE - 4)
                registers[base] = place - offset & WORD
            elif (offset or base) > WORD - 4:  # type: ignore[operator]
                return None  # it would reach over the end of the address space
        if effect == Jump("ra"):  # `ret`, by its definition
            registers["ra"] &= WORD - 1
    return registers


def main() -> int:
    """Run the campaign and print its counts."""
    parser = argparse.ArgumentParser(description=__doc__.strip().partition("\n")[0])
    parser.add_argument("--n", type=int, default=1_000_000, help="instructions to execute")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    result = conform(options.n, options.seed)
    for name, count in sorted(result.executions.items()):
        print(f"{name:12} {count:9,}")
    for (name, is_legal), count in sorted(result.refused.items()):
        print(f"{name:16} {count:9,} refused{', though unicorn executes it' if is_legal else ''}")
    print(f"{result.executions.total():,} executions, {len(result.differences)} differences")
    return 1 if result.differences else 0


if __name__ == "__main__":
    sys.exit(main())
