"""What the textbook classifier of a program costs, which nothing balanced may exceed."""

from dataclasses import dataclass

from bncc.lower.cost_model import weighted
from bncc.lower.kernels.shared.cut_places import cuts_of, is_of_cuts
from bncc.program.ir import Program, width_of

MOST_PEELED = 16
"""Rounds of a loop that compilers print one after the other at -O3."""
FAMILY = "textbook"
"""By which its weights are found."""


@dataclass(frozen=True)
class TextbookCost:
    """Estimates of the textbook classifier."""

    # Per decision from trusted states, compiled with -O2 or -O3, whichever is faster; cycles on AVR
    instructions: float
    flash: float  # Bytes, compiled with -Os


def textbook_cost(program: Program, target: str | None) -> TextbookCost:
    """Estimate the textbook classifier."""
    return TextbookCost(
        weighted(FAMILY, target, "-O2", work_terms(program), which=0),
        table_bytes(program) + weighted(FAMILY, target, "-Os", code_terms(program), which=1),
    )


def table_bytes(program: Program) -> int:
    """Return the bytes of its tables: one entry per row and class."""
    largest = max(int(table.costs.max()) for table in program.tables)
    return sum(table.costs.size for table in program.tables) * width_of(largest) // 8


def work_terms(program: Program) -> tuple[float, ...]:
    """Return what it does: 1, features, parents or cuts, additions, classes, those in a loop."""
    parents = _looked_up(program)
    additions = len(program.tables) * program.n_classes
    looped = additions if program.n_classes > MOST_PEELED else 0
    return (1, len(program.features), parents, additions, program.n_classes, looped)


def code_terms(program: Program) -> tuple[float, ...]:
    """Return what its other bytes grow with: 1, features, parents or cuts, classes."""
    parents = _looked_up(program)
    return (1, len(program.features), parents, program.n_classes)


def _looked_up(program: Program) -> int:
    """Return what it reads to find rows: parents, or cuts, each of which takes as long."""
    if is_of_cuts(program):
        return sum(len(each.least) for table in program.tables for each in cuts_of(table))
    return sum(len(table.features) - 1 for table in program.tables)
