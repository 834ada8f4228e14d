"""Every kernel family, in one explicit list, and sets derived from it."""

from collections.abc import Mapping

from bncc.lower.kernels import (
    bit_slice,
    cut_loop,
    cut_packed,
    cuts,
    lanes,
    looped,
    packed,
    plain,
    planes,
)
from bncc.lower.kernels.base import Family, Kernel, KernelText
from bncc.program.ir import Program

FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        *plain.FAMILIES,
        *bit_slice.FAMILIES,
        *lanes.FAMILIES,
        *looped.FAMILIES,
        *planes.FAMILIES,
        *packed.FAMILIES,
        *cuts.FAMILIES,
        *cut_loop.FAMILIES,
        *cut_packed.FAMILIES,
    )
}
"""By the name in ``--kernel``."""
_TEXTS = {family.kernel: family.text for family in FAMILIES.values()}
FOR_AVR = frozenset(name for name, family in FAMILIES.items() if family.is_for_avr)
FOR_CUTS = frozenset(name for name, family in FAMILIES.items() if family.is_for_cuts)
STREAMS = frozenset(name for name, family in FAMILIES.items() if family.streams)
FREE_OF_BRANCHES = {
    name: family.no_branches for name, family in FAMILIES.items() if family.no_branches is not None
}
"""Reason why no branch in the sums of a family depends on a state. Families not listed: ``packed``
multiplies states by shifts and additions, as many as a state has bits; ``cuts``, ``cut-loop``
and ``cut-packed`` compare states, for which some targets have nothing but branches."""


def kernel_text(program: Program, kernel: Kernel, name: str, state_bits: int) -> KernelText:
    """Print a kernel by its family."""
    return _TEXTS[type(kernel)](program, kernel, name, state_bits)
