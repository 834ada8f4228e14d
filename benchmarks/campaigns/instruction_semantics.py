"""
Compare the meaning of instructions in `bncc prove` with a simulator, on random states.

The encodings are those of programs of random models (`benchmarks.campaigns.campaign`), compiled for
the target, and variants of them with other operands. Every one is executed by unicorn and by
`bncc.prove.concrete` from the same random registers, flags and memory, which must be equal
afterwards, the program counter too. A million executions take some three minutes:

    .venv/bin/python -m benchmarks.campaigns.instruction_semantics cortex-m0 --n 1000000
    .venv/bin/python -m benchmarks.campaigns.instruction_semantics cortex-m4 --n 1000000

The executions per mnemonic are printed; the exit code is 1 after a difference.
"""

import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import numpy as np

from benchmarks.campaigns.campaign import drawn_model, drawn_options
from benchmarks.campaigns.instruction_variants import (
    CODE,
    OTHERS,
    SLOT,
    SLOTS,
    Unit,
    drawn_units,
    units_of,
)
from bncc.device.cross import find_toolchain, link_program
from bncc.device.image import Builder, model_object
from bncc.device.simulators.unicorn import core_of
from bncc.device.sources import sources
from bncc.emit.emitter import emit_c
from bncc.errors import BnccError
from bncc.prove.concrete import State, execute
from bncc.prove.instructions import Effect, Expr, Jump, Load, Set, Store
from bncc.targets import find_target

DATA, SIZE = 0x2000_0000, 0x8000
CORE = (*(f"r{k}" for k in range(13)), "sp", "lr")
SINGLES = tuple(f"s{k}" for k in range(32))
WORD = 0xFFFF_FFFF
CORNERS = (
    0, 1, 2, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFF_FFFF, 0x8000_0000,
    0x8000_0001, 0xFFFF_FFFE, 0xFFFF_FFFF, 0xFF00_FF00, 0x7F80_0000, 0xFF80_0000, 0x7FC0_0000,
    0x7F80_0001, 0x3F80_0000, 0x007F_FFFF,
)  # fmt: skip


class OutsideError(Exception):
    """An access outside the memory of the comparison."""


class Area:
    """Memory of both sides: data to read and write, and the code to read."""

    def __init__(self, data: bytes, code: bytes) -> None:
        self.data = bytearray(data)
        self.code = code
        self.last_read = 0

    def read(self, address: int, size: int) -> int:
        """Return an unsigned number."""
        self.last_read = address
        if DATA <= address <= DATA + SIZE - size:
            return int.from_bytes(self.data[address - DATA : address - DATA + size], "little")
        if CODE <= address <= CODE + len(self.code) - size:
            return int.from_bytes(self.code[address - CODE : address - CODE + size], "little")
        raise OutsideError

    def write(self, address: int, size: int, value: int) -> None:
        """Write the lowest bytes of a number."""
        if not DATA <= address <= DATA + SIZE - size:
            raise OutsideError
        low = value & (1 << 8 * size) - 1
        self.data[address - DATA : address - DATA + size] = low.to_bytes(size, "little")


@dataclass
class Found:
    """Results of a comparison."""

    executed: Counter[str] = field(default_factory=Counter)  # By mnemonic
    in_blocks: Counter[str] = field(default_factory=Counter)  # Not the first of a unit
    units: int = 0  # Different ones that ran
    not_run: int = 0  # States whose accesses would have left the memory
    refused: list[str] = field(default_factory=list)  # Units that the simulator does not execute
    differences: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Executions of instructions, a whole IT block counted once."""
        return self.executed.total() - self.in_blocks.total()

    def __add__(self, other: "Found") -> "Found":
        return Found(
            self.executed + other.executed,
            self.in_blocks + other.in_blocks,
            self.units + other.units,
            self.not_run + other.not_run,
            self.refused + other.refused,
            self.differences + other.differences,
        )

    def __str__(self) -> str:
        counts = [
            f"{name:8} {count:10,} {self.in_blocks[name]:10,}"
            for name, count in sorted(self.executed.items())
        ]
        return "\n".join(
            [
                "mnemonic executions  not the first of a unit",
                *counts,
                f"{self.count:,} executions of {self.units:,} units, "
                f"{len(self.differences)} differences; "
                f"{self.not_run:,} states not run, {len(self.refused)} units refused",
                *self.refused[:10],
                *self.differences,
            ]
        )


class Simulator:
    """Unicorn with code and data."""

    def __init__(self, target: str, code: bytes, data: bytes) -> None:
        import unicorn
        from unicorn import arm_const

        core = core_of(find_target(target))
        self.refusal = unicorn.UcError
        self.uc: Any = unicorn.Uc(
            unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS
        )
        self.uc.ctl_set_cpu_model(getattr(arm_const, str(core.model)))
        self.uc.mem_map(CODE, SLOT * SLOTS)
        self.uc.mem_map(DATA, SIZE)
        self.uc.mem_write(CODE, code)
        self.uc.mem_write(DATA, data)
        numbers = {name: getattr(arm_const, f"UC_ARM_REG_{name.upper()}") for name in CORE}
        singles = {name: getattr(arm_const, f"UC_ARM_REG_{name.upper()}") for name in SINGLES}
        self.ids = {False: numbers, True: numbers | singles}
        self.flags, self.pc = arm_const.UC_ARM_REG_APSR_NZCV, arm_const.UC_ARM_REG_PC

    def run(self, unit: Unit, before: State, pc: int) -> tuple[dict[str, int], int, int]:
        """Return registers, flags and program counter after a unit, expected to lead to `pc`."""
        ids = self.ids[unit.has_floats]
        values = [(number, before.registers[name]) for name, number in ids.items()]
        self.uc.reg_write_batch([*values, (self.flags, _packed(before))])
        # Where a jump leads is bounded by the count; other units end where they end.
        count = len(unit.instructions) if unit.jumps else 0
        self.uc.emu_start(unit.address | 1, pc & ~1, count=count)
        *registers, flags, at = self.uc.reg_read_batch([*ids.values(), self.flags, self.pc])
        return dict(zip(ids, registers, strict=True)), flags & 0xF000_0000, at


def _packed(state: State) -> int:
    return state.n << 31 | state.z << 30 | state.c << 29 | state.v << 28


def compare(target: str, units: Sequence[Unit], n: int, seed: int) -> Found:
    """Execute every unit from n states on both sides; stop after ten differences."""
    rng = random.Random(seed)
    code = bytearray(b"\x00\xbf" * (SLOT * SLOTS // 2))
    for unit in units:
        code[unit.address - CODE : unit.end - CODE] = unit.code
    area = Area(rng.randbytes(SIZE), bytes(code))
    simulator = Simulator(target, area.code, bytes(area.data))
    found = Found()
    for unit in units:
        ran = 0
        for _ in range(n):
            try:
                difference = _compared(unit, simulator, area, rng)
            except OutsideError:
                found.not_run += 1
                continue
            except simulator.refusal as error:
                found.refused.append(f"{unit.code.hex()} {unit.names}: {error}")
                # The rest of an IT block would make the next unit conditional.
                simulator = Simulator(target, area.code, bytes(area.data))
                break
            ran += 1
            if difference:
                what = "; ".join(each.text for each in unit.instructions)
                found.differences.append(f"{what} ({unit.code.hex()}): {difference}")
                break
        if ran:
            found.units += 1
        for name in unit.names:
            found.executed[name] += ran
        for name in unit.names[1:]:
            found.in_blocks[name] += ran
        if len(found.differences) == 10:
            break
    return found


def _compared(unit: Unit, simulator: Simulator, area: Area, rng: random.Random) -> str:
    """Execute a unit once on both sides; return what differs."""
    before = drawn_state(unit, area, rng)
    old = bytes(area.data)
    start = dict(before.registers)
    after = State(dict(start), area, before.n, before.z, before.c, before.v)
    try:
        pc = _executed(unit, after)
        if not CODE <= pc < CODE + SLOT * SLOTS:
            raise OutsideError
        registers, flags, stopped_at = simulator.run(unit, before, pc)
    except (OutsideError, simulator.refusal):
        area.data[:] = old
        simulator.uc.mem_write(DATA, old)
        if unit.jumps and DATA <= area.last_read < DATA + SIZE - 4:
            # The next state may load an address to jump to.
            area.write(area.last_read, 4, _somewhere(rng))
            simulator.uc.mem_write(DATA, bytes(area.data))
        raise
    wrong = [
        f"{name} is {registers[name]:#x}, not {after.registers[name]:#x}"
        for name in registers
        if registers[name] != after.registers[name]
    ]
    if flags != _packed(after):
        wrong.append(f"flags are {flags:#x}, not {_packed(after):#x}")
    if stopped_at != pc & ~1:
        wrong.append(f"pc is {stopped_at:#x}, not {pc:#x}")
    if bytes(simulator.uc.mem_read(DATA, SIZE)) != area.data:
        wrong.append("memory differs")
        simulator.uc.mem_write(DATA, bytes(area.data))
    if wrong:
        wrong.append(f"from {before.n, before.z, before.c, before.v} {start}")
    return "; ".join(wrong)


def _executed(unit: Unit, state: State) -> int:
    """Execute a unit, and return the program counter after it."""
    pc = unit.address
    for each in unit.instructions:
        pc = execute(each, state)
        if pc != each.address + each.size:
            break
    return pc


def drawn_state(unit: Unit, area: Area, rng: random.Random) -> State:
    """Return random registers and flags, those in addresses such that they are in the memory."""
    names = (*CORE, *SINGLES) if unit.has_floats else CORE
    registers = {name: drawn_number(rng) for name in names}
    if rng.random() < 0.3:  # Where sums and differences are 0 or next to it
        x = drawn_number(rng)
        close = [k & WORD for k in (x, x + 1, x - 1, ~x, -x, x ^ 1 << 31)]
        registers = {name: rng.choice(close) for name in names}
    registers["fcmp0"], registers["fcmp1"] = 0, 0
    registers["sp"] = DATA + SIZE // 2 + 4 * rng.randrange(-64, 64)
    _point_at_memory(unit, registers, rng)
    for effect in _effects(unit):
        if isinstance(effect, Jump) and effect.target in registers:
            registers[str(effect.target)] = _somewhere(rng)
        is_copied = isinstance(effect, Set) and effect.register == "tmp0" and unit.jumps
        if is_copied and effect.value in registers:
            registers[str(effect.value)] = _somewhere(rng)
    n, z, c, v = (rng.getrandbits(1) for _ in range(4))
    return State(registers, area, n, z, c, v)


def _point_at_memory(unit: Unit, registers: dict[str, int], rng: random.Random) -> None:
    """Set the registers of addresses: the first is a base, and others are small."""
    accesses = [each for each in _effects(unit) if isinstance(each, Load | Store)]
    # A single access by a wide instruction may have any address.
    is_free = len(accesses) == 1 and len(unit.code) == 4 and not unit.has_floats
    step = 1 if is_free and rng.random() < 0.5 else 4
    addresses = [access.address for access in accesses]
    addresses += [e.value for e in _effects(unit) if isinstance(e, Set) and e.register == "tmp1"]
    for base, *others in map(_registers_of, addresses):
        for name in others:
            registers[name] = step * rng.randrange(64)
        if base not in ("sp", ""):
            registers[base] = DATA + SIZE // 2 + step * rng.randrange(-64, 64)


def _registers_of(expression: Expr) -> list[str]:
    """Return the registers of an address, the base first; it is empty for a constant."""
    if isinstance(expression, tuple):
        return [name for part in expression[1:] for name in _registers_of(part) if name] or [""]
    is_register = isinstance(expression, str) and not expression.startswith("tmp")
    return [str(expression) if is_register else ""]


def _effects(unit: Unit) -> list[Effect]:
    return [effect for each in unit.instructions for effect in each.effects]


def _somewhere(rng: random.Random) -> int:
    """Return an address to jump to, with the Thumb bit."""
    return CODE + SLOT * rng.randrange(SLOTS - 1) | 1


def drawn_number(rng: random.Random) -> int:
    """Return a random number: any, a corner, a small one, one with a small byte, a power of 2."""
    kind = rng.random()
    if kind < 0.4:
        return rng.getrandbits(32)
    if kind < 0.6:
        return rng.choice(CORNERS)
    if kind < 0.75:
        return rng.randrange(70)
    if kind < 0.85:
        return rng.getrandbits(24) << 8 | rng.randrange(70)
    return (1 << rng.randrange(32)) + rng.randrange(-1, 2) & WORD


def programs(target: str, n: int, folder: Path) -> list[Path]:
    """Compile random models for a target; return the linked programs."""
    found: list[Path] = []
    for k in range(n):
        rng = np.random.default_rng([7, k])
        model = drawn_model(rng)
        options = replace(drawn_options(rng, model), target=target)
        try:
            files = emit_c(model, options).files
        except BnccError:  # no layout of this family, or no such entry point
            files = emit_c(model, replace(options, kernel=None, constant_time=False)).files
        compiler = "ziglang" if k % 4 == 0 else "arm-none-eabi-gcc"
        (bench,) = find_toolchain(find_target(target), compiler=compiler, simulator="unicorn")
        place = folder / str(k)
        place.mkdir()
        builder = Builder(place, bench.target, bench.compiler)
        level = ("-Os", "-O2", "-O3")[k % 3]
        built = model_object(builder, sources(model, files), level)
        found.append(link_program(builder, bench.simulator, "harness", built).path)
    return found


@click.command()
@click.argument("target", type=click.Choice(("cortex-m0", "cortex-m4")))
@click.argument("elf", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--n", default=1_000_000, help="Executions.")
@click.option("--states", default=50, help="States per encoding.")
@click.option("--models", default=60, help="Random models to compile, if no ELF is given.")
@click.option("--seed", default=1)
def main(target: str, elf: tuple[Path, ...], n: int, states: int, models: int, seed: int) -> None:
    """Compare the meaning of a TARGET's instructions in ELF files with unicorn."""
    with TemporaryDirectory() as folder:
        paths = elf or programs(target, models, Path(folder))
        codes = set().union(*map(units_of, paths))
    if target != "cortex-m0":
        codes |= set(OTHERS)
    total = Found()
    while total.count < n and not total.differences:
        # Some states are not run, so that another round follows.
        n_units = min(SLOTS, (n - total.count) // states + 10)
        units = drawn_units(codes, n_units, random.Random(seed))
        total += compare(target, units, states, seed)
        seed += 1
    print(f"{target}: {len(codes):,} encodings in {len(paths)} programs")
    print(total)
    sys.exit(bool(total.differences))


if __name__ == "__main__":
    main()
