"""Interface of a target: how to compile for a machine, what simulates it, and its layout."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias, TypeVar

KIB = 1024
MHZ = 1_000_000

Unit = Literal["instructions", "cycles"]


@dataclass(frozen=True)
class Part:
    """A microcontroller, whose name is an alias of its target."""

    clock: int  # Highest clock of its data sheet, in Hz
    flash: int | None  # Bytes of flash on the chip; None where the flash is another chip
    ram: int  # Bytes of RAM


def part(mhz: int, flash: int | None, ram: float) -> Part:
    """Return a part by MHz and KB."""
    return Part(mhz * MHZ, None if flash is None else flash * KIB, int(ram * KIB))


@dataclass(frozen=True)
class Core:
    """A processor of unicorn."""

    architecture: str  # architecture and mode: Names of unicorn's constants
    mode: tuple[str, ...]
    model: str | None  # Constant of the Arm processor; None for the default
    # Bytes of the instruction at a place of some code; None counts one by one
    length: Callable[[bytes, int], int] | None
    entry_bit: int = 0  # Added to the entry's address
    most: int = 0  # Instructions it may execute; 0 for any number, which then are not counted

    simulator: ClassVar[str] = "unicorn"
    tool: ClassVar[str] = "unicorn"


@dataclass(frozen=True)
class Board:
    """A board of QEMU and how its clock counts instructions."""

    tool: str  # The command
    options: tuple[str, ...]  # Board and processor
    icount_shift: int  # An instruction takes ``2**icount_shift`` ns of virtual time
    ticks_per_instruction: float  # What the meter's counter counts in that time

    simulator: ClassVar[str] = "qemu"


@dataclass(frozen=True)
class Mcu:
    """A microcontroller of simavr."""

    name: str  # As simavr and avr-gcc call it

    simulator: ClassVar[str] = "simavr"
    tool: ClassVar[str] = "simavr"


Simulated: TypeAlias = Core | Board | Mcu
"""A machine of a simulator: the simulator as in ``--simulator``, the tool that has to be there."""
Kind = TypeVar("Kind", Core, Board, Mcu)


@dataclass(frozen=True)
class Target:
    """A machine that is not the one bncc runs on, or is treated as such."""

    name: str  # As in ``--target``
    title: str  # For people: processor and floating-point unit
    # Flags per compiler that builds for it, the preferred compiler first
    flags: Mapping[str, tuple[str, ...]] = field(repr=False)
    runs_on: tuple[Simulated, ...] = field(repr=False)  # What simulates it, the preferred one first
    unit: Unit = "instructions"  # What a decision is measured in
    loop_cost: int = 2  # What one round of the loop in ``runtime/meter.c`` costs, in that unit
    byte_order: Literal["<", ">"] = "<"  # Byte order
    packed: bool = False  # Whether it aligns nothing
    register_bits: int = 32  # Width of a register
    address_bits: int = 32  # Width of an address of data
    loads_anywhere: bool = False  # Whether one instruction loads a word from any address
    # Target whose fitted costs hold for it too; None for the generic one. See `fitted_as`.
    alike: str | None = None
    # rom and ram: Where constants and code, and where variables and the stack begin; not read where
    # a linker script knows better
    rom: int = 0
    ram: int = 0x2000_0000
    code_align: int = 1  # Bytes to which the assembler aligns every section of code
    # Whether its compilers bring linker script, start-up code and C library
    brings_runtime: bool = False
    # By the name in lower case. A name that several sizes share has the memory of a common one.
    parts: Mapping[str, Part] = field(default_factory=dict, repr=False)

    @property
    def simulators(self) -> tuple[str, ...]:
        """What runs it, as in ``--simulator``, the preferred one first."""
        return tuple(each.simulator for each in self.runs_on)

    @property
    def tools(self) -> frozenset[str]:
        """Names of the compilers that build for it and of what simulates it."""
        return frozenset(self.flags) | {each.tool for each in self.runs_on}

    def simulated(self, kind: type[Kind]) -> Kind:
        """Return the machine that stands for it on the simulator of that kind."""
        return next(each for each in self.runs_on if isinstance(each, kind))
