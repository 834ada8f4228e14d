"""
Machine instructions as effects on registers, flags and memory: what every decoder returns.

A decoder of an instruction set (`bncc.prove.thumb`, `bncc.prove.riscv`) gives each instruction a
meaning, once. The abstract run interprets it over all inputs, and `bncc.prove.concrete` over
numbers, which the tests compare with a simulator.

Expressions are nested tuples. All values have 32 bits, without a sign:

========================================  ====================================================
``5``                                     a constant, 0 to 2^32 - 1
``"r3"``                                  a register, or a temporary ``"tmp0"``, ...
``("add", a, b)``, ``sub``, ``mul``       modulo 2^32
``("and", a, b)``, ``or``, ``xor``        bit by bit
``("shl", a, b)``, ``shr``, ``sar``       shifts by b, 0 to 32: 32 leaves 0, or copies of the sign
``("ror", a, b)``                         rotation to the right by b modulo 32
``("zext", a, n)``, ``("sext", a, n)``    the lowest n bits, n a constant, extended
``("eq", a, b)``, ``ult``, ``slt``        1 if equal, less unsigned, less signed; else 0
``("ite", c, a, b)``                      a if c is 1, b if it is 0
``("umulh", a, b)``                       the upper 32 bits of the product, unsigned
``("udiv", a, b)``, ``urem``              quotient and remainder, unsigned; b is not 0
``("flag", name)``                        1 if a condition holds for the flags; see `CONDITIONS`
``("fadd", a, b)``, ``feq``, ``flt``,     single-precision floats by their bits; comparisons with
``fle``                                   NaN are 0; a sum that is NaN is 0x7fc00000
``("cat", a, b, ...)``                    bytes as one number, the least significant first
``("byte", a, k)``                        byte k, a constant, counted from the least significant
``("pack", a, b, ...)``                   bits as one number, the lowest first
========================================  ====================================================

The effects of an instruction happen in their order, each seeing those before it. A jump is the
last. Temporaries have no meaning in the next instruction; ``"fcmp0"`` and ``"fcmp1"`` are registers
of Thumb's decoder: the operands of the last comparison of floats, from which ``vmrs`` sets flags.
"""

from dataclasses import dataclass
from typing import TypeAlias, Union

# Not a text: `Expr | None` is computed.
Expr: TypeAlias = Union[int, str, "tuple[Expr, ...]"]
"""An expression; the first element of a tuple is the name of its operation."""

CONDITIONS = ("eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le")
"""Arm's conditions. ``("flag", "cs")`` is the carry flag itself: after a subtraction it is 1 if
there was no borrow."""


@dataclass(frozen=True)
class Set:
    """Assignment to a register."""

    register: str
    value: Expr


@dataclass(frozen=True)
class Load:
    """Read of 1, 2 or 4 bytes, least significant first, extended to 32 bits."""

    register: str
    address: Expr
    size: int
    is_signed: bool = False
    anywhere: bool = False  # At any address; else it is a multiple of the size


@dataclass(frozen=True)
class Store:
    """Write of the lowest 1, 2 or 4 bytes of a value."""

    address: Expr
    value: Expr
    size: int
    anywhere: bool = False  # As for a read


@dataclass(frozen=True)
class Flags:
    """
    Update of the flags.

    ``sub``: all four, of ``left - right``. ``add``: all four, of ``left + right``. ``logic``: N and
    Z of `left`, V and C unchanged; if `carry` is given, C is set to it (1 or 0).
    ``adc``, ``sbc``: all four, of ``left + right + carry`` and ``left - right - 1 + carry``.
    ``float``: the four of a comparison of floats, ``left`` with ``right``: N less, Z equal, C not
    less (equal, greater or unordered), V unordered.
    """

    kind: str
    left: Expr
    right: Expr = 0
    carry: Expr | None = None


@dataclass(frozen=True)
class Jump:
    """Jump to `target` if `condition` is 1 (None: always); else the next instruction follows."""

    target: Expr
    condition: Expr | None = None
    is_call: bool = False  # A call, which sets the return address by an effect before it
    keeps_thumb: bool = False  # A fault follows unless bit 0 of the target is 1


Effect: TypeAlias = Set | Load | Store | Flags | Jump


@dataclass(frozen=True)
class Instruction:
    """One decoded instruction."""

    address: int
    size: int  # Bytes
    text: str  # Mnemonic and operands, for messages
    effects: tuple[Effect, ...]
    # Executed only if this is 1: instructions of Thumb's IT blocks, decoded with their condition.
    # Jumps have their own; one after other effects, as in `popeq {pc}`, has the same.
    condition: Expr | None = None
    n_counted: int = 1  # Instructions of the processor that it stands for
    is_inner: bool = False  # In an IT block: only the instruction before it leads to it
    then: int | None = None  # Address of the next one in the IT block, to which this one leads

    @property
    def is_call(self) -> bool:
        """True if it calls a function, which returns behind it."""
        last = self.effects[-1] if self.effects else None
        return isinstance(last, Jump) and last.is_call


class UnknownInstruction(ValueError):  # noqa: N818 (it names what was met)
    """A decoder met an instruction that it does not know."""
