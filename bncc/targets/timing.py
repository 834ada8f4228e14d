"""
Timing of processor cores: cycles of each kind of instruction, from the vendors' documents.

A timing is a table and rules. The table has the fewest and the most cycles of each kind of `KINDS`;
where a document states one number, both are equal. The rules:

- `pairs_loads`: a load after a load may take one cycle, since the second address is sent while the
  first word arrives.
- `split`: an instruction that begins in one word and ends in the next needs both words.
- `shifts_in_steps`: a shift takes its fewest cycles, and one more for each four bits of its amount
  and for each of the bits that remain. A run knows the amounts that are in registers.

All figures are for memory without wait states; those of a part's flash are added by `bncc.timing`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

Cycles: TypeAlias = tuple[int, int]
"""Fewest and most cycles."""

KINDS = (
    "plain",  # arithmetic, logic, moves, comparisons
    "shift",
    "multiply",
    "multiply-add",
    "multiply-high",  # the upper half of a product, or both
    "divide",
    "float",
    "load",
    "store",
    "loads",  # of several registers, in addition to `register` for each
    "stores",
    "loads-and-jump",  # the same with the program counter among them, as in a return
    "load-and-jump",  # of the program counter alone
    "jump",  # to an address in the instruction
    "jump-if",  # the same if a condition holds, and it does
    "not-taken",  # a jump whose condition does not hold
    "jump-register",
    "call",
    "call-register",
    "skipped",  # an instruction of an IT block whose condition does not hold
    "block",  # `it` itself
    "register",  # each register of a load or store of several
)
"""Kinds of instructions that a table may have; code with another kind has no known time."""
MOST_STATES = 255
"""Limit on wait states."""
REQUIRED = ("plain", "shift", "load", "store", "jump", "jump-if", "not-taken", "jump-register",
            "call", "call-register")  # fmt: skip
"""Kinds that every table has."""


@dataclass(frozen=True)
class Split:
    """Cycles more where an instruction begins in one word of memory and ends in the next."""

    each: int = 0  # For each such instruction
    target: int = 0  # For one to which a jump leads
    behind: int = 0  # For a jump before it, on a condition that holds: the core fetches it first


@dataclass(frozen=True)
class CountedCore:
    """A core whose cycles are counted, and its flash."""

    core: str  # Key of `CORES`
    states: int = 0  # Wait states of the flash
    has_prefetch: bool = True  # True if a buffer or a cache can hide them

    def __post_init__(self) -> None:
        """Refuse what no core has, such as the record of a damaged model file."""
        is_known = type(self.core) is str and self.core in CORES
        is_sound = type(self.states) is int and 0 <= self.states <= MOST_STATES
        if not (is_known and is_sound and type(self.has_prefetch) is bool):
            raise ValueError("no core with these wait states is known")


@dataclass(frozen=True)
class Timing:
    """Timing of one core."""

    title: str  # For display
    source: str  # Document and table
    error: str  # What the figures leave out, for display
    cycles: Mapping[str, Cycles]
    pairs_loads: bool = False
    split: Split = Split()
    shifts_in_steps: bool = False

    def __post_init__(self) -> None:
        """Refuse a table that lacks a kind, or has one that is unknown or impossible."""
        lacking = [kind for kind in REQUIRED if kind not in self.cycles]
        unknown = sorted({*self.cycles} - {*KINDS})
        if lacking or unknown:
            raise ValueError(f"{self.title}: kinds {lacking or unknown} are lacking or unknown")
        for kind, (low, high) in self.cycles.items():
            if not 0 <= low <= high:
                raise ValueError(f"{self.title}: {kind} takes {low} to {high} cycles")

    @property
    def is_exact(self) -> bool:
        """True if no kind but products, quotients, and shifts in steps, has a range."""
        known = {"multiply", "divide", *(["shift"] if self.shifts_in_steps else [])}
        return all(low == high for kind, (low, high) in self.cycles.items() if kind not in known)


def steps_of(amount: int) -> int:
    """Return the cycles of `Timing.shifts_in_steps` for an amount of 0 to 31."""
    return amount // 4 + amount % 4


def _exactly(**cycles: int) -> dict[str, Cycles]:
    """Return the entries of kinds that take one number of cycles."""
    return {kind.replace("_", "-"): (n, n) for kind, n in cycles.items()}


def _thumb_v6(taken: int, call: int, pop: int) -> dict[str, Cycles]:
    """Return the table of a core of ARMv6-M."""
    return {
        **_exactly(
            plain=1, shift=1, load=2, store=2, loads=1, stores=1, register=1,
            jump=taken, jump_if=taken, not_taken=1, jump_register=taken,
            call=call, call_register=taken, loads_and_jump=pop,
        ),
        "multiply": (1, 32),
    }  # fmt: skip


# The refill of the pipeline, P, is 1 to 3 cycles. An address that the instruction before computed
# delays a load or store by one. A store by an immediate offset takes 1 cycle, others 2.
_THUMB_V7: dict[str, Cycles] = {
    **_exactly(plain=1, shift=1, multiply=1, not_taken=1, skipped=1, register=1),
    "divide": (2, 12), "float": (1, 2), "block": (0, 1),
    "load": (2, 3), "store": (1, 3), "loads": (1, 2), "stores": (1, 2),
    "loads-and-jump": (2, 5), "load-and-jump": (3, 6),
    "jump": (2, 4), "jump-if": (2, 4), "jump-register": (2, 4),
    "call": (2, 4), "call-register": (2, 4),
}  # fmt: skip

_OF_V6 = "exact without wait states of memory; a multiplication takes 1 cycle or 32"
_OF_V7 = (
    "a range: 1 to 3 cycles refill the pipeline after a taken jump, loads overlap or wait for an "
    "address; without accesses at odd addresses and without code and data on one bus"
)

CORES: Mapping[str, Timing] = {
    "cortex-m0": Timing(
        "Arm Cortex-M0",
        "Arm DDI 0432C, Cortex-M0 Technical Reference Manual, Table 3-1",
        _OF_V6,
        _thumb_v6(taken=3, call=4, pop=4),
    ),
    "cortex-m0plus": Timing(
        "Arm Cortex-M0+",
        "Arm DDI 0484C, Cortex-M0+ Technical Reference Manual, Table 3-1",
        _OF_V6,
        _thumb_v6(taken=2, call=3, pop=3),
    ),
    "cortex-m3": Timing(
        "Arm Cortex-M3",
        "Arm DDI 0337I, Cortex-M3 Technical Reference Manual, Table 3-1 and section 3.3.2",
        _OF_V7,
        {**_THUMB_V7, "multiply-add": (2, 2), "multiply-high": (3, 5)},
        pairs_loads=True,
    ),
    "cortex-m4": Timing(
        "Arm Cortex-M4",
        "Arm 100166, Cortex-M4 Technical Reference Manual (before: DDI 0439), Table 3-1 and "
        "section 3.3.2",
        _OF_V7,
        {**_THUMB_V7, "multiply-add": (1, 1), "multiply-high": (1, 1)},
        pairs_loads=True,
    ),
    "ibex": Timing(
        "Ibex, two-stage pipeline, multiplier of three cycles",
        "Ibex reference guide, Pipeline Details, Multi- and Single-Cycle Instructions, and "
        "ibex_fetch_fifo.sv at commit 956ded3e",
        "exact: no difference from the RTL in 50 programs, with memory of one cycle; a division "
        "takes 37 cycles, or 2 by zero",
        {
            **_exactly(
                plain=1, shift=1, multiply=3, multiply_high=4, load=2, store=2, not_taken=1,
                jump=2, jump_if=3, jump_register=2, call=2, call_register=2,
            ),
            "divide": (2, 37),
        },
        split=Split(target=1),
    ),
    "picorv32": Timing(
        "PicoRV32, two register ports, sequential shifts, compressed instructions",
        "PicoRV32 README, Cycles per Instruction Performance, and picorv32.v at commit 87c89ac",
        "exact: no difference from the RTL in 50 programs, with memory of one cycle",
        {
            **_exactly(
                plain=3, multiply=40, multiply_high=72, divide=40, load=5, store=5, not_taken=3,
                jump=3, jump_if=5, jump_register=6, call=3, call_register=6,
            ),
            "shift": (4, 14),
        },
        split=Split(each=1, behind=1),
        shifts_in_steps=True,
    ),
}  # fmt: skip
"""Timing of each core by its name. An AVR has none: its simulator counts cycles."""
