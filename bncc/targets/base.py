"""Interface of a target: compiler flags, simulated processors, layout, widths, parts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias, TypeVar

KIB = 1024
MHZ = 1_000_000

Unit = Literal["instructions", "cycles"]


@dataclass(frozen=True)
class Current:
    """Typical supply current of a part that executes code, without peripherals."""

    clock: int  # Hz
    volts: float
    milliamperes: float

    def __post_init__(self) -> None:
        """Refuse figures that are no measurement."""
        if not (self.clock > 0 and self.volts > 0 and self.milliamperes > 0):
            raise ValueError(f"{self} is no current of a running part")


@dataclass(frozen=True)
class Power:
    """Timing of a part's flash, and its currents, each with the document that states it."""

    core: str  # Key of `bncc.targets.timing.CORES`
    # Clock up to which the flash needs a number of wait states, in Hz; the highest clock last
    waits: tuple[tuple[int, int], ...]
    waits_from: str  # Document and table
    has_prefetch: bool = True  # True if a buffer or a cache can hide wait states
    currents: tuple[Current, ...] = ()  # By rising clock; empty if no document states any
    current_from: str = ""  # Document and table, or the reason why there is none

    def __post_init__(self) -> None:
        """Refuse tables that are not in order."""
        clocks = [clock for clock, _ in self.waits]
        points = [each.clock for each in self.currents]
        states = [n for _, n in self.waits]
        if not clocks or clocks != sorted(clocks) or states != sorted(states) or states[0] < 0:
            raise ValueError(f"the wait states {self.waits} are not in order")
        if points != sorted(points) or not self.waits_from or not self.current_from:
            raise ValueError(f"the currents {self.currents} are not in order, or have no document")

    def states(self, clock: int) -> int:
        """Return the wait states of the flash at a clock that the part allows."""
        return next(n for most, n in self.waits if clock <= most)

    def current(self, clock: int) -> Current | None:
        """Return the current at the next higher clock that has one, else at the highest."""
        above = (each for each in self.currents if each.clock >= clock)
        return next(above, self.currents[-1] if self.currents else None)


@dataclass(frozen=True)
class Part:
    """A microcontroller; its name is an alias of its target."""

    clock: int  # Maximum clock in its data sheet, in Hz
    flash: int | None  # Bytes of flash on the chip; None if the flash is external
    ram: int  # Bytes of RAM
    power: Power | None = None  # Its timing and currents, if they are known


def part(mhz: int, flash: int | None, ram: float, power: Power | None = None) -> Part:
    """Return a part by MHz and KB."""
    return Part(mhz * MHZ, None if flash is None else flash * KIB, int(ram * KIB), power)


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

    def count_instructions(self, code: bytes) -> int:
        """Return the number of instructions in code, which `length` must be known for."""
        assert self.length is not None
        count = at = 0
        while at < len(code):
            at += self.length(code, at)
            count += 1
        return count


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
    # Keys of `bncc.targets.timing.CORES` that execute its code
    cores: tuple[str, ...] = field(default=(), repr=False)
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
