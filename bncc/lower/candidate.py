"""A kernel with what it is estimated to cost, ready to be compared."""

from dataclasses import dataclass

from bncc.lower.cost_model import Level, code_bytes, decision_cost
from bncc.lower.kernels.base import Kernel
from bncc.program.ir import Program


@dataclass(frozen=True, eq=False)
class Candidate:
    """One proved layout of a program and its estimates, without what surrounds a kernel."""

    program: Program  # What it sums
    kernel: Kernel  # The layout
    instructions: int  # What a decision from trusted states executes; cycles on AVR
    flash: int  # Bytes of its constants and of all code of a classifier that only decides on states
    ram: int  # Bytes of its sums and of what else it fills, on the stack


def candidate(
    program: Program, kernel: Kernel, target: str | None, level: Level = "-O2"
) -> Candidate:
    """Estimate what a kernel costs."""
    return Candidate(
        program,
        kernel,
        instructions=decision_cost(kernel, target, level),
        flash=kernel.rom_bytes + code_bytes(kernel, target, level),
        ram=program.n_classes * kernel.sum_bits // 8 + kernel.scratch_bytes,
    )
