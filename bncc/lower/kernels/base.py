"""Interface of a kernel family: its proved layouts, their footprints, and their C."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias

from bncc.lower.c.c99 import ArrayText
from bncc.program.ir import Program, has_trees

FEW = 2
"""Turns of a loop that compilers print one after the other."""
Weights: TypeAlias = Mapping[tuple[str, str, str], tuple[tuple[float, ...], tuple[float, ...]]]
"""By family, machine and the compiler's level: executed instructions (cycles on AVR) per term of
``Kernel.work``, and bytes per term of ``Kernel.code``."""


class Kernel(Protocol):
    """A layout of a program that a target can sum; margins are equal for every input."""

    @property
    def family(self) -> str:
        """Name for ``--kernel``."""

    @property
    def summary(self) -> str:
        """Its layout in a few words."""

    @property
    def largest_sum(self) -> int:
        """No sum of a class exceeds this for any input; proved by range analysis."""

    @property
    def sum_bits(self) -> int:
        """Width in bits, 8, 16 or 32, of a class's cost where the C hands it out."""

    @property
    def additions(self) -> int:
        """Additions per decision."""

    @property
    def addend(self) -> str:
        """Name of the addends, in the plural: costs, or words of several costs."""

    @property
    def rom_bytes(self) -> int:
        """Bytes of the constants that it reads: tables, prior, addresses."""

    @property
    def whole_bytes(self) -> int:
        """Bytes of the largest of the arrays that it never divides; 0 where it has none."""

    @property
    def scratch_bytes(self) -> int:
        """Bytes of stack in addition to the sums of classes."""

    @property
    def work(self) -> tuple[float, ...]:
        """Terms of executed instructions; the family's cost model weights them."""

    @property
    def code(self) -> tuple[float, ...]:
        """Terms of code size, likewise."""

    @property
    def more_work(self) -> tuple[float, ...]:
        """Further terms of executed instructions behind discretizers, where they have weights."""

    @property
    def more_code(self) -> tuple[float, ...]:
        """Further terms of code size, likewise."""


@dataclass(frozen=True, eq=False)
class KernelText:
    """
    A kernel ready to print.

    Its template defines ``NAME_sum``, which leaves the cost of every class in an array, and, where
    the kernel `decides` without that array, ``NAME_decide``; then ``NAME_sum`` is printed only
    for ``scores``.
    """

    template: str  # File under ``templates/``
    arrays: tuple[ArrayText, ...]  # Constants, the tables first
    table_bytes: int  # Bytes of the tables and the prior among them
    decides: bool = False  # True if the template brings ``NAME_decide``
    # True if the template reads ``NAME_last_state``, the array of every feature's largest state
    reads_last_states: bool = False
    # Constants that ``NAME_sum`` alone reads, where it is printed as well as ``NAME_decide``
    sum_arrays: tuple[ArrayText, ...] = ()
    # Names that the template uses in addition to those of the whole file
    context: Mapping[str, object] = field(default_factory=dict)

    def renamed(self, array: str, name: str) -> "KernelText":
        """Return the text with another name of an array, which its template calls ARRAY_array."""
        arrays = tuple(replace(a, name=name) if a.name == array else a for a in self.arrays)
        is_there = f"{array}_array" in self.context
        context = {**self.context, f"{array}_array": name} if is_there else self.context
        return replace(self, arrays=arrays, context=context)


@dataclass(frozen=True, eq=False)
class Family:
    """
    A kernel family; a folder below `bncc.lower.kernels` defines one or two.

    A family called with a verified program yields its layouts, all proved exact for every input.
    """

    name: str  # As in ``--kernel``
    layouts: Callable[[Program], Iterator[Any]]
    kernel: type  # Class of its layouts
    text: Callable[[Program, Any, str, int], KernelText]  # (program, kernel, name, state_bits)
    # Cost-model weights, from ``weights.py`` of its folder. Targets without weights take those of a
    # similar target, or of the generic one.
    weights: Weights = field(default_factory=dict, repr=False)
    # Layouts in words of other widths, for targets that have them
    wider: Callable[[Program, int], Iterator[Any]] | None = None
    # Worth choosing on registers of a byte alone. Elsewhere it runs but gains nothing, and
    # compilers that sort the additions of many tables hold kilobytes of rows on the stack.
    is_for_avr: bool = False
    is_for_cuts: bool = False  # Has layouts only for programs whose tables read cuts alone
    # Has layouts for programs with tables that decision trees address, and for no others
    is_for_trees: bool = False
    # Has layouts for programs with a gate, too
    has_gates: bool = False
    streams: bool = False  # Rows are added individually, in any order, to one sum per class
    # True if `bncc prove` covers its machine code: nearly all programs are decided within a minute
    is_provable: bool = True
    no_branches: str | None = None  # Why no branch in its sums depends on a state, if none does

    def __call__(self, program: Program) -> Iterator[Kernel]:
        """Yield the layouts of a program."""
        if not self._takes(program):
            return
        for kernel in self.layouts(program):
            is_listed = isinstance(kernel, self.kernel)
            if kernel.family != self.name or not is_listed:
                raise RuntimeError(
                    f"kernel family '{self.name}' yields a {type(kernel).__name__} of family "
                    f"'{kernel.family}'; set family = '{self.name}' in its class, and list this "
                    "class in FAMILIES"
                )
            yield kernel

    def in_registers(self, program: Program, bits: int) -> Iterator[Kernel]:
        """Yield the layouts in words of wide registers, if the family has any."""
        if self.wider is not None and self._takes(program):
            yield from self.wider(program, bits)

    def _takes(self, program: Program) -> bool:
        """Return whether the family may have layouts of a program's tables and gate."""
        if has_trees(program) != self.is_for_trees:
            return False
        return program.gate is None or self.has_gates
