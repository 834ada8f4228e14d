"""
Estimated cost of kernels that compare readings instead of states.

Terms are numbers of operations, counted by `bncc.lower.reading_lists` for loops and by
`bncc.lower.reading_comparisons` for comparisons in the code. The weights are fitted by
``benchmarks/fit/fit_reading_costs.py``.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from bncc.lower.cost_model import OF_READINGS, Level, weighted
from bncc.lower.cut_conditions import Compared
from bncc.lower.kernels.base import Kernel
from bncc.lower.kernels.branches.layout import BranchKernel
from bncc.lower.kernels.cut_lanes.layout import CutLanesKernel
from bncc.lower.kernels.cut_loop.layout import CutLoopKernel
from bncc.lower.kernels.cut_packed.layout import BYTE, CutPackedKernel
from bncc.lower.kernels.cuts.layout import CutKernel
from bncc.lower.reading_comparisons import KEY_BYTES, Visit, line_counts, tree_counts
from bncc.lower.reading_keys import compared_integers
from bncc.lower.reading_lists import (
    Counts,
    lanes_counts,
    lanes_limit_bytes,
    loop_counts,
    loop_entry_bits,
    packed_counts,
    packed_entry_bits,
    places_of,
)
from bncc.program.ir import Program, width_of


@dataclass(frozen=True)
class ReadingTerms:
    """Sizes of a kernel that compares readings."""

    family: str  # Name of its weights in the cost model
    rom_bytes: int  # Bytes of the constants that it reads
    own_bytes: int  # Bytes of those that the kernel on states does not read
    key_bytes: int  # Bytes of stack of the integers that a loop compares
    work: tuple[float, ...]  # Terms of executed instructions, and code: of code size
    code: tuple[float, ...]

    def instructions(self, target: str | None = None, level: Level = "-O2") -> int:
        """Return what one decision from readings executes."""
        return max(1, round(weighted(self.family, target, level, self.work, which=0)))

    def code_bytes(self, target: str | None = None, level: Level = "-O2") -> int:
        """Return the bytes of code of a classifier that only decides on readings."""
        return max(0, round(weighted(self.family, target, level, self.code, which=1)))


def reading_terms(
    program: Program, kernel: Kernel, compare: Compared | None = None
) -> ReadingTerms:
    """Return the terms of a kernel's variant that compares readings."""
    if isinstance(kernel, BranchKernel):
        return tree_terms(program, kernel, compare)
    if isinstance(kernel, CutKernel):
        return _terms(kernel, line_counts(program, kernel), kernel.rom_bytes)
    compared = compared_integers(program, compare, kernel)
    width = compared.width // BYTE
    if isinstance(kernel, CutLoopKernel):
        counts, n_cuts = loop_counts(program, kernel, compared), sum(kernel.n_cuts)
        n_entries = sum(each.size for each in kernel.entries)
        before = n_entries * kernel.entry_bits // BYTE
        # Entries of readings have no least state: a number less for every cut.
        listed = (n_entries - n_cuts) * loop_entry_bits(kernel, compared) // BYTE
    elif isinstance(kernel, CutPackedKernel):
        counts, n_cuts = packed_counts(program, kernel, compared), kernel.n_cuts
        before = n_cuts * kernel.entry_bits // BYTE
        listed = n_cuts * packed_entry_bits(kernel, compared) // BYTE
    elif isinstance(kernel, CutLanesKernel):
        counts, n_cuts = lanes_counts(program, kernel, compared), kernel.n_cuts
        before = kernel.rom_bytes - kernel.shared_bytes
        listed = n_cuts * width_of(max(places_of(compared).values())) // BYTE
        width = lanes_limit_bytes(program, compared)
    else:
        raise TypeError(f"the kernel '{kernel.family}' compares no readings")
    own_bytes = listed + n_cuts * width
    key_bytes = len(compared.features) * compared.bits // BYTE if compared.is_keys else 0
    return _terms(kernel, counts, kernel.rom_bytes - before + own_bytes, own_bytes, key_bytes)


def tree_terms(
    program: Program,
    kernel: BranchKernel,
    compare: Compared | None,
    visits: Iterable[Visit] | None = None,
) -> ReadingTerms:
    """Return the terms of trees; without visits in a decision, all leaves are as likely."""
    n_keys = len(compared_integers(program, "keys").features) if compare == "keys" else 0
    counts = tree_counts(program, kernel, compare, visits)
    return _terms(kernel, counts, kernel.rom_bytes, 0, KEY_BYTES * n_keys)


def _terms(
    kernel: Kernel,
    counts: tuple[Counts, Counts],
    rom_bytes: int,
    own_bytes: int = 0,
    key_bytes: int = 0,
) -> ReadingTerms:
    work, code = (tuple(each.values()) for each in counts)
    return ReadingTerms(kernel.family + OF_READINGS, rom_bytes, own_bytes, key_bytes, work, code)
