"""
Estimated cost of an entry point that finds states from readings and sums their rows.

Operations of the discretizers are counted by `bncc.lower.discretizers.counts`, those of the kernel
by the kernel. The weights are fitted by ``benchmarks/fit/fit_state_costs.py`` to measurements of
the whole entry point.
"""

from dataclasses import dataclass, replace

from bncc.lower.cost_model import (
    DISCRETIZERS,
    OF_FOUND,
    Level,
    code_bytes,
    decision_cost,
    has_weights,
    weighted,
)
from bncc.lower.discretizers.choice import Discretizers
from bncc.lower.discretizers.counts import CODE, STORED, WORK, Counts
from bncc.lower.kernels.base import FEW, Kernel
from bncc.program.ir import Program

STATE_ENTRY = 95
"""Bytes of code of ``predict_raw``, without what compares thresholds, behind which a kernel has no
weights of its own."""
DECIDING = frozenset({"bit-slice", "branches", "bytes", "cuts", "lanes"})
"""Families that sum and decide in one function, which may take states in registers."""
MOST_HANDED_OVER = 8
"""States that stay in registers from readings to look-ups. With so few `raw` takes 3 to 70 % fewer
instructions on nearly all machines; 16 some compilers keep on the stack, in more instructions than
an array takes."""


@dataclass(frozen=True)
class StateTerms:
    """Sizes of a kernel behind discretizers."""

    program: Program
    kernel: Kernel
    found: Counts  # Operations that find states

    @property
    def rom_bytes(self) -> int:
        """Bytes of constants, thresholds included."""
        return self.kernel.rom_bytes + self.found.rom_bytes

    @property
    def work(self) -> tuple[float, ...]:
        """Terms of what the kernel executes."""
        return (*self.kernel.work, *self.kernel.more_work)

    @property
    def code(self) -> tuple[float, ...]:
        """Terms of its code; last whether there are loops over tables and over classes at all."""
        n_tables, n_classes = len(self.program.tables), self.program.n_classes
        loops = (int(n_tables > FEW), int(n_classes > FEW))
        return (*self.kernel.code, *self.kernel.more_code, *loops)

    def instructions(self, target: str | None = None, level: Level = "-O2") -> int:
        """Return what one decision from readings executes; cycles on AVR."""
        finding = weighted(DISCRETIZERS, target, level, work_of(self.found), which=0)
        family = self.kernel.family + OF_FOUND
        if not has_weights(family):
            return round(finding) + decision_cost(self.kernel, target, level)
        return max(1, round(finding + weighted(family, target, level, self.work, which=0)))

    def finding_bytes(self, target: str | None = None, level: Level = "-O2") -> int:
        """Return the bytes of code that finds states."""
        return round(weighted(DISCRETIZERS, target, level, code_of(self.found), which=1))

    def code_bytes(self, target: str | None = None, level: Level = "-O2") -> int:
        """Return the bytes of code of a classifier that only decides on readings."""
        finding = self.finding_bytes(target, level)
        family = self.kernel.family + OF_FOUND
        if not has_weights(family):
            return STATE_ENTRY + finding + code_bytes(self.kernel, target, level)
        return finding + round(weighted(family, target, level, self.code, which=1))


def state_terms(
    program: Program, kernel: Kernel, plan: Discretizers, *, may_copy: bool
) -> StateTerms:
    """Return the terms of a kernel behind discretizers, whose code may be copied."""
    decides = kernel.family in DECIDING
    n_features = len(plan.methods)
    is_handed = may_copy and hands_over(n_features, is_loop=plan.is_loop, decides=decides)
    return terms_of(program, kernel, plan.counts, is_handed=is_handed)


def terms_of(program: Program, kernel: Kernel, counts: Counts, *, is_handed: bool) -> StateTerms:
    """Return the terms of a kernel behind counted discretizers, or handed states in registers."""
    if is_handed:
        counts = replace(
            counts, work={**counts.work, STORED: 0.0}, code={**counts.code, STORED: 0.0}
        )
    return StateTerms(program, kernel, counts)


def hands_over(n_features: int, *, is_loop: bool, decides: bool) -> bool:
    """Return whether states can stay in registers: few, found and read individually."""
    return decides and not is_loop and n_features <= MOST_HANDED_OVER


def work_of(counts: Counts) -> tuple[float, ...]:
    """Return executed operations in the order of their weights."""
    return tuple(counts.work.get(name, 0.0) for name in WORK)


def code_of(counts: Counts) -> tuple[float, ...]:
    """Return operations in the code in the order of their weights."""
    return tuple(counts.code.get(name, 0.0) for name in CODE)
