"""The machines that bncc builds for and measures on: how to compile for each, and its layout."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from bncc.device.inputs.raw import ByteOrder
from bncc.errors import OptionError

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
        raise OptionError(f"there is no target '{name}'; there are {', '.join(TARGETS)}")
    return TARGETS[name]
