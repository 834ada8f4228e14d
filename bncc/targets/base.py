"""Interface of a target: compiler flags, simulated processors, layout, widths, parts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias, TypeVar

KIB = 1024
MHZ = 1_000_000

Unit = Literal["instructions", "cycles"]


@dataclass(frozen=True)
class Part:
    """A microcontroller; its name is an alias of its target."""

    clock: int  # Maximum clock in its data sheet, in Hz
    flash: int | None  # Bytes of flash on the chip; None if the flash is external
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
    # Returns the bytes of the instruction at a position in code; None counts one by one
    length: Callable[[bytes, int], int] | None
    entry_bit: int = 0  # Added to the entry's address
    most: int = 0  # Most instructions that it may execute; 0 for any number, without counting

    simulator: ClassVar[str] = "unicorn"
    tool: ClassVar[str] = "unicorn"


@dataclass(frozen=True)
class Board:
    """A board of QEMU and its instruction clock."""

    tool: str  # Command
    options: tuple[str, ...]  # Board and processor
    icount_shift: int  # An instruction takes ``2**icount_shift`` ns of virtual time
    ticks_per_instruction: float  # Counts of the meter's counter in that time

    simulator: ClassVar[str] = "qemu"


@dataclass(frozen=True)
class Mcu:
    """A microcontroller of simavr."""

    name: str  # Name in simavr and avr-gcc

    simulator: ClassVar[str] = "simavr"
    tool: ClassVar[str] = "simavr"


Simulated: TypeAlias = Core | Board | Mcu
"""Simulated processor, which determines the simulator (``--simulator``) and its tool."""
Kind = TypeVar("Kind", Core, Board, Mcu)


@dataclass(frozen=True)
class Target:
    """A processor to cross-compile for and to simulate, possibly that of the host."""

    name: str  # Name in ``--target``
    title: str  # For display: processor and floating-point unit
    # Flags per compiler, the preferred compiler first
    flags: Mapping[str, tuple[str, ...]] = field(repr=False)
    runs_on: tuple[Simulated, ...] = field(repr=False)  # In order of preference
    unit: Unit = "instructions"  # Unit of the time of a decision
    loop_cost: int = 2  # Cost of one round of the loop in ``runtime/meter.c``, in that unit
    byte_order: Literal["<", ">"] = "<"  # Byte order
    packed: bool = False  # True if no data type is aligned
    register_bits: int = 32  # Width of a general register
    address_bits: int = 32  # Width of a data address
    loads_anywhere: bool = False  # True if one instruction loads a word from any address
    # Target with the most similar fitted costs; None for the generic one, see `fitted_as`
    alike: str | None = None
    # rom and ram: First address of code and constants, and of variables and stack; unused if the
    # compiler has its own linker script
    rom: int = 0
    ram: int = 0x2000_0000
    code_align: int = 1  # Alignment in bytes of every section of code in the assembler
    # True if its compilers include a linker script, start-up code and the C library
    brings_runtime: bool = False
    # By lower-case name; a name for several memory sizes has one of the common sizes
    parts: Mapping[str, Part] = field(default_factory=dict, repr=False)

    @property
    def simulators(self) -> tuple[str, ...]:
        """Simulators as in ``--simulator``, in order of preference."""
        return tuple(each.simulator for each in self.runs_on)

    @property
    def tools(self) -> frozenset[str]:
        """Names of the compilers and simulators that support it."""
        return frozenset(self.flags) | {each.tool for each in self.runs_on}

    def simulated(self, kind: type[Kind]) -> Kind:
        """Return its simulated processor of one kind."""
        return next(each for each in self.runs_on if isinstance(each, kind))
