"""
Chains of AVR's instructions that are one operation on a number of several bytes.

Executing a chain is executing its instructions one after the other: all effects are the same, and
the tests compare both. Compilers write such instructions without others between them, except those
that load a constant operand.
"""

from collections.abc import Callable
from dataclasses import dataclass

from bncc.prove.avr_meaning import (
    SPH,
    SPL,
    SREG,
    Effects,
    Read,
    added,
    cat,
    shifted_right,
    spread,
    subtracted,
)
from bncc.prove.instructions import Expr, Load, Set
from bncc.prove.instructions import UnknownInstruction as Unknown

MOST_BYTES = 4
_ADDS, _SUBTRACTS = ("add", "adc"), ("sub", "subi", "cp", "cpi", "sbc", "sbci", "cpc")
_WITH_CARRY = ("adc", "sbc", "sbci", "cpc")
_KEEPS_LEFT = ("cp", "cpi", "cpc")

Reader = Callable[[int], Read]
"""Returns the single instruction at an address."""


@dataclass(frozen=True)
class Chain:
    """Instructions that are executed as one, at least two."""

    reads: tuple[Read, ...]
    effects: Effects


def chain_of(read: Reader, address: int) -> Chain | None:
    """Return the chain that begins at an address; None if the instruction there is alone."""
    return next((found for rule in _RULES if (found := rule(read, address)) is not None), None)


def _next(read: Reader, address: int) -> Read | None:
    """Return the instruction at an address; None if there is none that is known."""
    try:
        return read(address)
    except Unknown:
        return None


def _sums(read: Reader, address: int) -> Chain | None:
    """Return an addition, a subtraction or a comparison of several bytes."""
    first = read(address)
    family = next((f for f in (_ADDS, _SUBTRACTS) if first.name in f), None)
    if family is None:
        return None
    has_carry = first.name in _WITH_CARRY
    most = MOST_BYTES - has_carry  # A carry into 32 bits may need one more
    reads, steps = [first], [(first.to, first.right)]
    written = {first.to} if first.name not in _KEEPS_LEFT else set()
    to: list[str | None] = [first.to if first.name not in _KEEPS_LEFT else None]
    constants: dict[str, int] = {}
    at = address + first.size
    while len(steps) < most:
        loaded: dict[str, int] = {}
        between = []
        one = _next(read, at)
        while one is not None and one.name == "ldi" and one.to not in written:
            loaded[one.to] = one.operands["K"]
            between.append(one)
            at += one.size
            one = _next(read, at)
        if one is None or one.name not in family or one.name not in _WITH_CARRY:
            break
        known = constants | loaded
        if one.to in written | known.keys() or one.right in written:
            break
        constants = known
        right = one.right
        if isinstance(right, str):
            right = constants.get(right, right)
        steps.append((one.to, right))
        keeps_left = one.name in _KEEPS_LEFT
        to.append(None if keeps_left else one.to)
        written |= set() if keeps_left else {one.to}
        reads += [*between, one]
        at += one.size
    if len(steps) == 1:
        return None
    left, operands = [a for a, _ in steps], [b for _, b in steps]
    if family is _ADDS:
        effects = added(left, operands, has_carry=has_carry)
    else:
        effects = subtracted(left, operands, to, has_carry=has_carry)
    return Chain(tuple(reads), (*effects, *(Set(r, k) for r, k in constants.items())))


def _shifts(read: Reader, address: int) -> Chain | None:
    """Return a shift to the right by one bit."""
    first = read(address)
    if first.name not in ("lsr", "asr"):
        return None
    reads = [first]
    at = address + first.size
    while len(reads) < MOST_BYTES:
        one = _next(read, at)
        if one is None or one.name != "ror" or one.to in [r.to for r in reads]:
            break
        reads.append(one)
        at += one.size
    if len(reads) == 1:
        return None
    top: Expr = "sign" if first.name == "asr" else 0
    return Chain(tuple(reads), shifted_right(top, [one.to for one in reversed(reads)]))


def _reads_of_flash(read: Reader, address: int) -> Chain | None:
    """Return a read of several bytes of flash."""
    reads: list[Read] = []
    at = address
    while len(reads) < MOST_BYTES:
        one = _next(read, at)
        if one is None or one.name not in ("lpm.Z", "lpm.Z+"):
            break
        if one.to in ("r30", "r31", *(r.to for r in reads)):
            break
        reads.append(one)
        at += one.size
        if one.name == "lpm.Z":
            break
    if len(reads) < 2:
        return None
    pointer: Expr = ("zext", ("cat", "r30", "r31"), 16)
    n_steps = sum(one.name == "lpm.Z+" for one in reads)
    return Chain(
        tuple(reads),
        (
            Set("tmp0", pointer),
            Load("tmp1", "tmp0", len(reads), anywhere=True),
            *spread([one.to for one in reads], "tmp1"),
            *spread(("r30", "r31"), ("add", "tmp0", n_steps)),
        ),
    )


def _frame(read: Reader, address: int) -> Chain | None:
    """Return a write of the stack pointer while interrupts are off, as compilers write it."""
    names = ("in", "bclr", "out", "out", "out")
    reads: list[Read] = []
    at = address
    for name in names:
        one = _next(read, at)
        if one is None or one.name != name:
            return None
        reads.append(one)
        at += one.size
    status, interrupts, high, restored, low = reads
    ports = [one.operands["A"] for one in (status, high, restored, low)]
    is_frame = (
        ports == [SREG, SPH, SREG, SPL]
        and interrupts.operands["s"] == 7
        and status.to == restored.to
        and status.to not in (high.to, low.to)
    )
    if not is_frame:
        return None
    return Chain(
        tuple(reads),
        (Set(status.to, ("pack", *"CZNVSHTI")), Set("sp", cat((low.to, high.to)))),
    )


_RULES: tuple[Callable[[Reader, int], Chain | None], ...] = (
    _sums,
    _shifts,
    _reads_of_flash,
    _frame,
)
