"""Every kernel family, in one explicit list, and sets derived from it."""

from collections.abc import Mapping
from importlib import import_module

from bncc.lower.kernels.base import Family, Kernel, KernelText
from bncc.program.ir import Program

FOLDERS = (
    "plain",
    "bit_slice",
    "lanes",
    "looped",
    "planes",
    "packed",
    "cuts",
    "cut_loop",
    "cut_packed",
    "branches",
)
"""Folders with a tuple ``FAMILIES``."""

FAMILIES: Mapping[str, Family] = {
    family.name: family
    for folder in FOLDERS
    for family in import_module(f"bncc.lower.kernels.{folder}").FAMILIES
}
"""By the name in ``--kernel``."""
FOR_AVR = frozenset(name for name, family in FAMILIES.items() if family.is_for_avr)
FOR_TREES = frozenset(name for name, family in FAMILIES.items() if family.is_for_trees)
FOR_CUTS = frozenset(name for name, family in FAMILIES.items() if family.is_for_cuts)
STREAMS = frozenset(name for name, family in FAMILIES.items() if family.streams)
PROVABLE = frozenset(name for name, family in FAMILIES.items() if family.is_provable)
FREE_OF_BRANCHES = {
    name: family.no_branches for name, family in FAMILIES.items() if family.no_branches is not None
}
"""Reason why no branch in the sums of a family depends on a state. Families not listed: ``packed``
multiplies states by shifts and additions, as many as a state has bits; ``cuts``, ``cut-loop``
``cut-packed`` and ``branches`` compare states, for which some targets have nothing but branches."""


def kernel_text(program: Program, kernel: Kernel, name: str, state_bits: int) -> KernelText:
    """Print a kernel by its family."""
    return FAMILIES[kernel.family].text(program, kernel, name, state_bits)
