"""The targets that emitted C is compiled for, and their multiplying instructions."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from benchmarks.campaigns.multiplications import (
    ARM32,
    AVR,
    MIPS,
    RISCV,
    contents,
    host_instructions,
    mnemonics,
    undefined,
)
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.lower.kernels.families import FAMILIES
from bncc.model.missing import why_not
from bncc.model.model import Model
from bncc.program.pipeline import optimize, program_of
from bncc.resources import Optimize
from tests import models as hand
from tests.agreement.large import LARGE
from tests.ranged import ranged

ENTRIES = frozenset({"raw", "scores", "trusted"})
LEVELS = ("-Os", "-O2", "-O3")


@dataclass(frozen=True)
class Machine:
    """A compiler, its flags, and the pattern of its multiplying and dividing instructions."""

    compiler: str
    flags: tuple[str, ...]
    multiplies: str
    binutils: str = ""

    @property
    def tools(self) -> tuple[str, ...]:
        """The programs that compile and read objects."""
        return (self.compiler, f"{self.binutils}objdump", f"{self.binutils}nm")

    def compile(self, folder: Path, sources: tuple[str, ...], *flags: str) -> None:
        """Compile sources in a folder to objects, all in one run of the compiler."""
        command = (self.compiler, *self.flags, *flags, "-c", *sources)
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr[:2000]}"

    def mnemonics(self, folder: Path, objects: tuple[str, ...]) -> list[str]:
        """Return every instruction of some objects, without operands."""
        return mnemonics(self.binutils, *(folder / name for name in objects))

    def contents(
        self, folder: Path, objects: tuple[str, ...]
    ) -> dict[str, tuple[list[str], set[str]]]:
        """Return instructions and undefined symbols of each object; each tool starts once."""
        return contents(self.binutils, *(folder / name for name in objects))

    def undefined(self, folder: Path, objects: tuple[str, ...]) -> set[str]:
        """Return the undefined symbols of some objects: library routines."""
        return undefined(self.binutils, *(folder / name for name in objects))


def machines() -> dict[str, Machine]:
    """Return every machine by name."""
    host = host_instructions()
    arm = ("arm-none-eabi-gcc", ARM32, "arm-none-eabi-")
    # Debian's RISC-V compiler has no C library; <stdint.h> is then the compiler's own.
    bare = ("-mabi=ilp32", "-ffreestanding")
    riscv = ("riscv64-unknown-elf-gcc", RISCV, "riscv64-unknown-elf-")
    mips = ("-march=mips32", "-mabi=32", "-EB", "-mno-abicalls", "-fno-pic", "-ffreestanding")
    return {
        "host-gcc": Machine("gcc", (), host),
        "host-clang": Machine("clang", (), host),
        "atmega328p": Machine("avr-gcc", ("-mmcu=atmega328p",), AVR, "avr-"),
        "atmega1284p": Machine("avr-gcc", ("-mmcu=atmega1284p",), AVR, "avr-"),
        "cortex-m0": Machine(arm[0], ("-mcpu=cortex-m0", "-mthumb"), *arm[1:]),
        "cortex-m4": Machine(arm[0], ("-mcpu=cortex-m4", "-mthumb"), *arm[1:]),
        "rv32i": Machine(riscv[0], ("-march=rv32i", *bare), *riscv[1:]),
        "rv32ic": Machine(riscv[0], ("-march=rv32ic", *bare), *riscv[1:]),
        "rv32imc": Machine(riscv[0], ("-march=rv32imc", *bare), *riscv[1:]),
        "mips32": Machine("mips-linux-gnu-gcc", mips, MIPS, "mips-linux-gnu-"),
    }


MACHINES = machines()
MODELS = {**hand.NAMED, **hand.DIFFERENCES, **LARGE}
TOO_LARGE_FOR_AVR = {"large_tables"}
BY_KERNEL = (
    "naive_integer", "tan_float", "general_network", "letter_like_1_bit", "ten_classes_2_bits",
    "three_classes_2_bits", "two_cost_arrays", "mixed_kinds", "letter_like", "wide_costs",
)  # fmt: skip
"""Models whose C differs most within a kernel: parents, classes, flash, missing features."""


def emitted(name: str, for_avr: bool = False) -> Mapping[str, str]:
    """Return the files of a model, with all entry points possible for it and a target."""
    return _with_all_entries(EmitOptions(name, ENTRIES), for_avr)


def _with_all_entries(options: EmitOptions, for_avr: bool) -> Mapping[str, str]:
    """Return a model's files, with missing features where its tables fit in flash twice."""
    options = replace(options, entries=options.entries | {"checked"})
    entries = options.entries | missing_entries(MODELS[options.name]())
    files = _files(replace(options, entries=entries))
    return _files(options) if for_avr and _is_too_large(files) else files


@cache
def _files(options: EmitOptions) -> Mapping[str, str]:
    """Return the files of the model that the options name."""
    return emit_c(ranged(MODELS[options.name]()), options).files


def _is_too_large(files: Mapping[str, str]) -> bool:
    """Return whether the C refuses to be compiled for AVR."""
    return any("defined(__AVR__)\n#error" in text for text in files.values())


def missing_entries(model: Model) -> frozenset[str]:
    """Return the entry point for missing features where the C of a model can have it."""
    return frozenset({"missing"}) if why_not(model) is None else frozenset()


def emit_all(folder: Path, machine: Machine) -> tuple[str, ...]:
    """Emit every model that fits a machine into a folder and return the names."""
    is_avr = machine.compiler == "avr-gcc"
    names = tuple(name for name in MODELS if not (is_avr and name in TOO_LARGE_FOR_AVR))
    for name in names:
        for file, text in emitted(name, is_avr).items():
            (folder / file).write_text(text, encoding="utf-8")
    return names


@cache
def emitted_for(name: str, family: str, best: Optimize, for_avr: bool) -> Mapping[str, str]:
    """Return the files of a model with a kernel; none where it has no layout for the model."""
    program, _ = optimize(program_of(MODELS[name]()))
    if next(iter(FAMILIES[family](program)), None) is None:
        return {}
    options = EmitOptions(name, ENTRIES, kernel=family, optimize=best)
    return _with_all_entries(options, for_avr)


def emit_kernel(folder: Path, machine: Machine, family: str, best: Optimize) -> tuple[str, ...]:
    """Emit some models with a kernel, as far as they fit a machine, and return the names."""
    is_avr = machine.compiler == "avr-gcc"
    names = []
    for name in BY_KERNEL:
        files = emitted_for(name, family, best, is_avr)
        if files and not (is_avr and _is_too_large(files)):
            names.append(name)
            for file, text in files.items():
                (folder / file).write_text(text, encoding="utf-8")
    return tuple(names)
