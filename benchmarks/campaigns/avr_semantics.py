"""
Semantics campaign: `bncc.prove.avr` compared with simavr, one instruction at a time.

Runs of random instructions, so that chains of carries occur, start in random states. All registers,
flags, the stack pointer, the next address and memory are compared after each instruction, or after
each chain that the decoder gives as one. It needs simavr's library and gcc, and takes some minutes
on one core:

    .venv/bin/python -m benchmarks.campaigns.avr_semantics --n 1000000 --seed 0
"""

import argparse
import ctypes
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from bncc.prove.avr import Decoder
from bncc.prove.avr_meaning import DATA, FLAGS
from bncc.prove.code import Code
from bncc.prove.concrete import State, execute
from bncc.prove.instructions import Instruction, Load, Store, UnknownInstruction
from bncc.targets import TARGETS

SHIM = r"""
#include <simavr/sim_avr.h>
#include <simavr/sim_core.h>
#include <string.h>
void *shim_new(void)
{
    avr_t *avr = avr_make_mcu_by_name("atmega1284p");
    avr_init(avr);
    avr->log = 0;
    return avr;
}
uint8_t *shim_data(avr_t *avr) { return avr->data; }
uint8_t *shim_flash(avr_t *avr) { return avr->flash; }
uint8_t *shim_flags(avr_t *avr) { return avr->sreg; }
uint32_t shim_step(avr_t *avr, uint32_t at)
{
    avr->pc = at;
    avr->state = cpu_Running;
    return avr_run_one(avr);
}
"""
N_FLASH = 0x1_0000
FIRST, N_RAM = 0x100, 0x4000
SP = 0x5D  # The stack pointer in data space
RUN = 6  # Instructions from one state
CHAINS = ("add", "adc", "sub", "sbc", "cp", "cpc", "subi", "sbci", "cpi", "adiw", "sbiw")
CORNERS = (0, 1, 0x7F, 0x80, 0xFF)


@dataclass
class Result:
    """Findings of a campaign."""

    executions: Counter[str] = field(default_factory=Counter)  # By mnemonic
    refused: int = 0  # Encodings
    chains: int = 0  # Those of several instructions
    differences: list[str] = field(default_factory=list)


class Memory:
    """Flash and data space as `execute` sees them."""

    def __init__(self, flash: bytes, ram: bytes) -> None:
        self.flash, self.ram = flash, bytearray(ram)

    def read(self, address: int, size: int) -> int:
        """Return a byte of RAM or bytes of flash, where addresses have 16 bits."""
        if address < DATA:
            return sum(self.flash[address + k & 0xFFFF] << 8 * k for k in range(size))
        assert size == 1
        return self.ram[address - DATA - FIRST]

    def write(self, address: int, size: int, value: int) -> None:
        """Write a byte."""
        assert size == 1
        self.ram[address - DATA - FIRST] = value & 0xFF


class Simulator:
    """An AVR of simavr."""

    def __init__(self, folder: Path) -> None:
        source, library = folder / "shim.c", folder / "shim.so"
        source.write_text(SHIM, encoding="utf-8")
        command = ("gcc", "-O2", "-shared", "-fPIC", source, "-o", library, "-lsimavr", "-lelf")
        subprocess.run(command, check=True)
        self._shim = ctypes.CDLL(str(library))
        for name in ("new", "data", "flash", "flags"):
            getattr(self._shim, f"shim_{name}").restype = ctypes.c_void_p
        self._avr = ctypes.c_void_p(self._shim.shim_new())
        self._data = self._shim.shim_data(self._avr)
        self._flags = self._shim.shim_flags(self._avr)

    def load(self, flash: bytes) -> None:
        """Write the program."""
        ctypes.memmove(self._shim.shim_flash(self._avr), flash, len(flash))

    def set(self, registers: dict[str, int], ram: bytes) -> None:
        """Write all state but the program."""
        content = bytes(registers[f"r{k}"] for k in range(32))
        ctypes.memmove(self._data, content, 32)
        ctypes.memmove(self._data + SP, registers["sp"].to_bytes(2, "little"), 2)
        ctypes.memmove(self._flags, bytes(registers[flag] for flag in FLAGS), 8)
        ctypes.memmove(self._data + FIRST, ram, len(ram))

    def step(self, at: int) -> int:
        """Execute an instruction and return the next address, of 17 bits even before 0."""
        return int(self._shim.shim_step(self._avr, at)) & 0x1_FFFF

    def registers(self) -> dict[str, int]:
        """Return registers and flags."""
        found = {f"r{k}": v for k, v in enumerate(ctypes.string_at(self._data, 32))}
        found["sp"] = int.from_bytes(ctypes.string_at(self._data + SP, 2), "little")
        return found | dict(zip(FLAGS, ctypes.string_at(self._flags, 8), strict=True))

    def ram(self) -> bytes:
        """Return the content of the RAM."""
        return ctypes.string_at(self._data + FIRST, N_RAM)


def words(chance: random.Random) -> Iterator[int]:
    """Yield words of instructions without end: all, then random arithmetic more often."""
    every = list(range(1 << 16))
    while True:
        chance.shuffle(every)
        for word in every:
            yield word
            yield chance.getrandbits(13)  # with two registers: movw, cpc, sbc, add, cp, ...
            yield chance.getrandbits(16) & 0x3FFF | chance.choice((0x4000, 0x0000))
            yield 0x9400 | chance.getrandbits(10)  # with one, wide ones, and flags
            yield 0x9000 | chance.getrandbits(10)  # loads and stores, some of a fixed address
            yield FIRST + chance.randrange(N_RAM)
            yield chance.choice((0xB60D, 0xBE0D)) + chance.randrange(32) * 16 + chance.randrange(3)


def conform(
    n: int,
    seed: int,
    simulator: Simulator,
    source: Iterator[int] | None = None,
    report: Callable[[str], None] = print,
    most: int = 20,
) -> Result:
    """Execute `n` instructions of a source of words, or up to the first `most` differences."""
    chance = random.Random(seed)
    source = words(chance) if source is None else source
    result = Result()
    while result.executions.total() < n and len(result.differences) < most:
        flash = b"".join(next(source).to_bytes(2, "little") for _ in range(N_FLASH // 2))
        simulator.load(flash)
        decoder = Decoder(Code(TARGETS["avr"], ((0, flash),), {}, ""))
        memory = Memory(flash, chance.randbytes(N_RAM))
        for start in range(0, N_FLASH - 4 * RUN, 2 * RUN):
            if result.executions.total() >= n or len(result.differences) >= most:
                break
            state = State(_random_registers(chance), memory)
            simulator.set(state.registers, bytes(memory.ram))
            difference = _run(start, decoder, simulator, state, memory, result)
            if difference is not None:
                result.differences.append(difference)
                report(difference)
    return result


def _run(
    at: int, decoder: Decoder, simulator: Simulator, state: State, memory: Memory, result: Result
) -> str | None:
    """Execute the instructions from an address, jumps or not; return the first difference."""
    for _ in range(RUN):
        try:
            instruction = decoder.decode(at)
        except UnknownInstruction:
            result.refused += 1
            return None
        if not _point(instruction, state, simulator, memory):
            return None
        before = dict(state.registers)
        following = execute(instruction, state)
        found_at = at
        for one in instruction.text.split("; "):
            found_at = simulator.step(found_at)
            result.executions[one.split()[0]] += 1
        result.chains += instruction.n_counted > 1
        found = simulator.registers()
        differing = [name for name in found if found[name] != state.registers[name]]
        if found_at != following and not _is_misread(instruction, decoder):
            differing.append(f"next address {found_at:#x}, not {following:#x}")
        if simulator.ram() != memory.ram:
            differing.append("memory")
        if differing:
            return f"{instruction.text} at {at:#x}: {differing}, from {before}"
        at += instruction.size  # whatever followed
    return None


def _is_misread(instruction: Instruction, decoder: Decoder) -> bool:
    """Return whether simavr 1.6 takes the next instruction, to be skipped, for one of 4 bytes."""
    if instruction.text.split()[0] not in ("cpse", "sbrc", "sbrs"):
        return False
    skipped = decoder.decode(instruction.address + 2)
    return skipped.text.startswith(("adiw", "sbiw")) and skipped.size == 2


def _random_registers(chance: random.Random) -> dict[str, int]:
    registers = {
        f"r{k}": chance.choice(CORNERS) if chance.random() < 0.4 else chance.getrandbits(8)
        for k in range(32)
    }
    registers |= {flag: chance.getrandbits(1) for flag in FLAGS}
    registers["I"] = 0  # no interrupt
    return registers | {"sp": chance.randrange(FIRST + 8, FIRST + N_RAM - 8)}


def _point(instruction: Instruction, state: State, simulator: Simulator, memory: Memory) -> bool:
    """Move the pointers into the RAM if it is used; return whether a fixed address is in it."""
    accesses = [effect for effect in instruction.effects if isinstance(effect, Load | Store)]
    if not accesses:
        return True
    if instruction.text.startswith(("lds", "sts")):
        address = accesses[0].address
        assert isinstance(address, tuple)
        assert isinstance(address[1], int)
        return FIRST <= address[1] < FIRST + N_RAM
    for high in ("r27", "r29", "r31"):
        state.registers[high] = 2 + state.registers[high] % 0x3C
    state.registers["sp"] = FIRST + 16 + state.registers["sp"] % (N_RAM - 32)
    simulator.set(state.registers, bytes(memory.ram))
    return True


def main() -> int:
    """Run the campaign and print its counts."""
    parser = argparse.ArgumentParser(description=__doc__.strip().partition("\n")[0])
    parser.add_argument("--n", type=int, default=1_000_000, help="instructions to execute")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with TemporaryDirectory(prefix="bncc-") as folder:
        result = conform(options.n, options.seed, Simulator(Path(folder)))
    for name, count in sorted(result.executions.items()):
        print(f"{name:12} {count:9,}")
    print(f"{result.refused:,} unknown instructions ended a run")
    print(f"{result.chains:,} chains")
    print(f"{result.executions.total():,} executions, {len(result.differences)} differences")
    return 1 if result.differences else 0


if __name__ == "__main__":
    sys.exit(main())
