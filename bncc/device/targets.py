"""The machines that bncc builds for and measures on: how to compile for each, and its layout."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from bncc.device.machine import ByteOrder
from bncc.errors import OptionError

KIB = 1024
MHZ = 1_000_000


@dataclass(frozen=True)
class Part:
    """A microcontroller by its name, an alias of a target."""

    target: str  # What ``--target`` takes it for
    clock: int  # Highest clock of its data sheet, in Hz
    flash: int | None  # Bytes of flash on the chip; None where the flash is another chip
    ram: int  # Bytes of RAM


def _part(target: str, mhz: int, flash: int | None, ram: float) -> Part:
    return Part(target, mhz * MHZ, None if flash is None else flash * KIB, int(ram * KIB))


PARTS: Mapping[str, Part] = {
    "atmega328p": _part("avr", 20, 32, 2),
    "atmega32u4": _part("avr", 16, 32, 2.5),
    "atmega1284p": _part("avr", 20, 128, 16),
    "nrf51822": _part("cortex-m0", 16, 256, 16),
    "rp2040": _part("cortex-m0", 133, None, 264),
    "samd21g18": _part("cortex-m0", 48, 256, 32),
    "stm32f030": _part("cortex-m0", 48, 16, 4),
    "stm32g031": _part("cortex-m0", 64, 32, 8),
    "stm32l031": _part("cortex-m0", 32, 16, 8),
    "stm32f103": _part("cortex-m3", 72, 64, 20),
    "stm32l151": _part("cortex-m3", 32, 128, 16),
    "nrf52832": _part("cortex-m4", 64, 512, 64),
    "nrf52840": _part("cortex-m4", 64, 1024, 256),
    "stm32f401": _part("cortex-m4", 84, 256, 64),
    "stm32f411": _part("cortex-m4", 100, 512, 128),
    "stm32l476": _part("cortex-m4", 80, 1024, 128),
    "imxrt1062": _part("cortex-m7", 600, None, 1024),
    "stm32f746": _part("cortex-m7", 216, 1024, 320),
    "stm32h743": _part("cortex-m7", 480, 2048, 1024),
    "ch32v203": _part("rv32", 144, 64, 20),
    "esp32c3": _part("rv32", 160, None, 400),
    "esp32c6": _part("rv32", 160, None, 512),
    "gd32vf103": _part("rv32", 108, 128, 32),
}
"""By the name in lower case, grouped by target. A name that several sizes share has the memory of a
common one of them. An M0+ and an M0 run the same code."""


def size_of(text: str) -> int | None:
    """Return the bytes of a size such as ``900``, ``4k`` or ``1.5k``; None where it is none."""
    match = re.fullmatch(r"(?:(\d{1,12})|(\d{1,9}(?:\.\d{1,6})?)[kK])", text)
    if match is None:
        return None
    return int(match[1]) if match[1] else int(Fraction(match[2]) * KIB)


def target_of(name: str) -> str:
    """Return the target that a part is an alias of; any other name as it is."""
    part = PARTS.get(name.lower())
    return name if part is None else part.target


Unit = Literal["instructions", "cycles"]


@dataclass(frozen=True)
class Target:
    """A machine that is not the one bncc runs on, or is treated as such."""

    name: str  # As in ``--target``
    title: str  # For people: processor and floating-point unit
    # Flags per compiler that builds for it, the preferred compiler first
    flags: Mapping[str, tuple[str, ...]] = field(repr=False)
    simulators: tuple[str, ...]  # What runs it, the preferred one first
    unit: Unit = "instructions"  # What a decision is measured in
    loop_cost: int = 2  # What one round of the loop in ``runtime/meter.c`` costs, in that unit
    byte_order: ByteOrder = "<"  # Byte order
    packed: bool = False  # Whether it aligns nothing
    # rom and ram: Where constants and code, and where variables and the stack begin; the AVR's own
    # linker script knows better
    rom: int = 0
    ram: int = 0x2000_0000
    code_align: int = 1  # Bytes to which the assembler aligns every section of code


def _cortex(
    name: str,
    title: str,
    gcc_unit: str = "",
    zig_unit: str = "",
    simulators: tuple[str, ...] = ("qemu", "unicorn"),
) -> Target:
    """Return a Cortex-M; the floating-point unit as gcc and as LLVM call it."""
    gcc = ["-mthumb", f"-mcpu={name}"]
    if gcc_unit:
        gcc += [f"-mfpu={gcc_unit}", "-mfloat-abi=hard"]
    abi = "eabihf" if gcc_unit else "eabi"
    core = name.replace("-", "_") + (f"+{zig_unit}" if zig_unit else "")
    flags = {
        "arm-none-eabi-gcc": tuple(gcc),
        "ziglang": ("-target", f"thumb-freestanding-{abi}", f"-mcpu={core}"),
    }
    return Target(name, title, flags, simulators)


ATMEGA = "atmega1284p"
"""The AVR that is simulated: the largest whose program counter has 16 bits, as the ATmega328P's."""

_TARGETS = (
    Target(
        "x86",
        "x86-64 with SSE2",
        {
            "gcc": ("-m64", "-march=x86-64", "-mno-red-zone", "-fno-pic"),
            "clang": ("-m64", "-march=x86-64", "-mno-red-zone", "-fno-pic"),
            "ziglang": ("-target", "x86_64-freestanding-none", "-mno-red-zone"),
        },
        ("unicorn",),
        rom=0x0040_0000,
    ),
    Target(
        "avr",
        "ATmega1284P (AVR, cycles as on an ATmega328P)",
        {"avr-gcc": (f"-mmcu={ATMEGA}",)},
        ("simavr",),
        unit="cycles",
        loop_cost=4,
        packed=True,
    ),
    # Unicorn's processor is an M0; on QEMU its code runs on the board of an M3.
    _cortex("cortex-m0", "Arm Cortex-M0", simulators=("unicorn", "qemu")),
    _cortex("cortex-m3", "Arm Cortex-M3"),
    _cortex("cortex-m4", "Arm Cortex-M4 with single-precision FPU", "fpv4-sp-d16", "vfp4d16sp"),
    _cortex("cortex-m7", "Arm Cortex-M7 with double-precision FPU", "fpv5-d16", "fp_armv8d16"),
    Target(
        "rv32",
        "RISC-V RV32IMC",
        {
            "riscv64-unknown-elf-gcc": ("-march=rv32imc", "-mabi=ilp32"),
            "ziglang": ("-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m+c"),
        },
        ("qemu", "unicorn"),
        rom=0x8000_0000,
        ram=0x8100_0000,
    ),
    Target(
        "big-endian",
        "MIPS32 with floating-point unit, big-endian",
        {
            # Its library compares floats in registers of a floating-point unit.
            "mips-linux-gnu-gcc": (
                "-march=mips32", "-mabi=32", "-EB", "-mhard-float", "-mno-abicalls", "-fno-pic",
                "-G0",
            ),
            "ziglang": (
                "-target", "mips-freestanding-eabihf", "-mcpu=mips32", "-mno-abicalls",
                "-fno-pic", "-G0",
            ),
        },
        ("unicorn",),
        byte_order=">",
        rom=0x0040_0000,
        ram=0x1000_0000,
        code_align=16,
    ),
)  # fmt: skip

TARGETS: Mapping[str, Target] = {target.name: target for target in _TARGETS}
"""Every simulated machine by name."""


def find_target(name: str) -> Target:
    """Return a machine by its name."""
    if name not in TARGETS:
        raise OptionError(f"unknown target '{name}'; choose from {', '.join(TARGETS)}")
    return TARGETS[name]
