"""Interface of a target: compiler flags, simulated processors, layout, widths, parts."""

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
"""Simulated processor: the simulator as in ``--simulator``, and the tool that it needs."""
Kind = TypeVar("Kind", Core, Board, Mcu)


@dataclass(frozen=True)
class Target:
    """A processor other than the host, or treated as such."""

    name: str  # As in ``--target``
    title: str  # For people: processor and floating-point unit
    # Flags per compiler, the preferred compiler first
    flags: Mapping[str, tuple[str, ...]] = field(repr=False)
    runs_on: tuple[Simulated, ...] = field(repr=False)  # Simulated processors, the preferred first
    unit: Unit = "instructions"  # Unit of the time of a decision
    loop_cost: int = 2  # Cost of one round of the loop in ``runtime/meter.c``, in that unit
    byte_order: Literal["<", ">"] = "<"  # Byte order
    packed: bool = False  # No data type is aligned
    register_bits: int = 32  # Width of a general register
    address_bits: int = 32  # Width of a data address
    loads_anywhere: bool = False  # One instruction loads a word from any address
    # Target with the most similar fitted costs; None for the generic one, see `fitted_as`
    alike: str | None = None
    # rom and ram: First address of code and constants, and of variables and stack; unused if the
    # compiler has its own linker script
    rom: int = 0
    ram: int = 0x2000_0000
    code_align: int = 1  # Bytes to which the assembler aligns every section of code
    # Its compilers include a linker script, start-up code and the C library
    brings_runtime: bool = False
    # By the name in lower case; a name of several memory sizes has a common one
    parts: Mapping[str, Part] = field(default_factory=dict, repr=False)

    @property
    def simulators(self) -> tuple[str, ...]:
        """Simulators, as in ``--simulator``, the preferred first."""
        return tuple(each.simulator for each in self.runs_on)

    @property
    def tools(self) -> frozenset[str]:
        """Names of the compilers and simulators that serve it."""
        return frozenset(self.flags) | {each.tool for each in self.runs_on}

    def simulated(self, kind: type[Kind]) -> Kind:
        """Return its simulated processor of one kind."""
        return next(each for each in self.runs_on if isinstance(each, kind))
