"""The gate as C: the test between the first tables and the others, and its price."""

from dataclasses import dataclass

from bncc.lower.c.c99 import counted
from bncc.lower.kernels.base import Kernel
from bncc.lower.kernels.cut_loop.layout import CutLoopKernel
from bncc.lower.kernels.cut_packed.layout import CutPackedKernel
from bncc.model.gate import Gate
from bncc.targets import known_target

TEST, TEST_OF_BYTES = (12, 7), (40, 18)
"""Instructions of the test, and of each class in it; cycles of an AVR, whose registers are bytes.
Counted in the C of trained models at -O2 and -Os."""
CODE = 60
"""Bytes of code of the test, likewise."""


@dataclass(frozen=True)
class GatePlan:
    """A gate, and how often it decides."""

    gate: Gate
    answers: float | None  # Share of held-out rows that the first tables decide; None if unknown
    n_tables: int  # All tables
    before: float  # Share of all comparisons with cuts that the first tables have

    @property
    def summary(self) -> str:
        """Its place, and how often it decides."""
        gate = self.gate
        share = "" if self.answers is None else f", for {100 * self.answers:.1f} % of held-out rows"
        return (
            f"the first {gate.tables} of {counted(self.n_tables, 'table')} decide if the second "
            f"smallest cost exceeds the smallest by at least {gate.margin}{share}; the others are "
            "added otherwise"
        )

    def test(self, n_classes: int, target: str | None) -> int:
        """Return what the test executes."""
        machine = known_target(target)
        is_bytes = machine is not None and machine.register_bits == 8
        once, each = TEST_OF_BYTES if is_bytes else TEST
        return once + each * n_classes


def gate_plan(kernel: Kernel, gate: Gate | None, answers: float | None) -> GatePlan | None:
    """Return the gate of a kernel that has one."""
    if gate is None:
        return None
    assert isinstance(kernel, CutLoopKernel | CutPackedKernel)
    n_cuts = [sum(len(each.least) for each in cuts) for cuts in kernel.cuts]
    before = sum(n_cuts[: gate.tables]) / sum(n_cuts)
    return GatePlan(gate, answers, len(n_cuts), before)
