"""Cost model of kernels on a target: weighted operation counts, fitted to measurements."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bncc.lower import textbook_weights
from bncc.lower.cut_conditions import Compared
from bncc.lower.discretizers import weights as discretizer_weights
from bncc.lower.kernels.base import Kernel, Weights
from bncc.lower.kernels.families import FAMILIES
from bncc.lower.kernels.shared.cut_places import cuts_of, is_of_cuts
from bncc.program.ir import Program, width_of
from bncc.resources import Optimize
from bncc.targets import GENERIC, fitted_as

Level = Literal["-O2", "-Os"]

LEVELS: Mapping[Optimize, Level] = {"balanced": "-O2", "size": "-Os", "speed": "-O2"}
"""The compiler's level that goes with what is asked for."""
OF_READINGS = " of readings"
"""Suffix of a family's name in the weights of its variant that compares readings."""
OF_FOUND = " of found states"
"""Likewise of its variant behind discretizers."""
OTHER = "avr"
"""The machine that stands for all others in families that are made for it."""


def decision_cost(kernel: Kernel, target: str | None = None, level: Level = "-O2") -> int:
    """Return what one decision from trusted states executes."""
    return max(1, round(weighted(kernel.family, target, level, kernel.work, which=0)))


def code_bytes(kernel: Kernel, target: str | None = None, level: Level = "-O2") -> int:
    """Return the bytes of code that a classifier needs which only decides on states."""
    return max(0, round(weighted(kernel.family, target, level, kernel.code, which=1)))


def weighted(
    family: str, target: str | None, level: Level, terms: tuple[float, ...], *, which: int
) -> float:
    """Return the sum of terms by the weights of a family."""
    weights = weights_for(family, target, level)[which]
    if len(weights) != len(terms):
        raise RuntimeError(
            f"the family '{family}' has {len(weights)} weights of {len(terms)} terms of "
            f"{('work', 'code')[which]}; correct weights.py of its folder"
        )
    return sum(weight * term for weight, term in zip(weights, terms, strict=True))


def weights_for(
    family: str, target: str | None, level: Level
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the weights of work and of code on a target, or on one like it."""
    known = weights_of(family)
    keys = ((family, machine, level) for machine in (*fitted_as(target), OTHER))
    found = next((known[key] for key in keys if key in known), None)
    if found is None:
        raise RuntimeError(
            f"the family '{family}' has no weights; give weights.py of its folder the keys "
            f"('{family}', '{GENERIC}', '-O2') and ('{family}', '{GENERIC}', '-Os')"
        )
    return found


def weights_of(family: str) -> Weights:
    """Return the weights of a family, or of the textbook classifier."""
    if family.removesuffix(OF_READINGS) == FAMILY:
        return textbook_weights.WEIGHTS
    if family == DISCRETIZERS:
        return discretizer_weights.WEIGHTS
    family = family.removesuffix(OF_READINGS).removesuffix(OF_FOUND)
    return FAMILIES[family].weights if family in FAMILIES else {}


def has_weights(family: str) -> bool:
    """Return whether a family has weights, in its variant if its name ends with one."""
    return any(key[0] == family for key in weights_of(family))


MOST_PEELED = 16
"""Rounds of a loop that compilers print one after the other at -O3."""
FAMILY = "textbook"
"""By which its weights are found."""
DISCRETIZERS = "discretizers"
"""Likewise those of discretizers."""


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
    trees = [table.tree for table in program.tables if table.tree is not None]
    of_trees = round(sum(sum(tree.depths) / tree.n_rows for tree in trees))
    return of_trees + sum(len(t.features) - 1 for t in program.tables if t.tree is None)


@dataclass(frozen=True, eq=False)
class Candidate:
    """One proved layout of a program and its estimates, without what surrounds a kernel."""

    program: Program  # What it sums
    kernel: Kernel  # The layout
    # What a decision from trusted states executes; cycles on AVR, and where a core is asked for
    instructions: int
    flash: int  # Bytes of its constants and of all code of a classifier that only decides on states
    ram: int  # Bytes of its sums and of what else it fills, on the stack
    # What ``predict_raw`` compares with cuts; None for readings where that is smallest
    compare: Compared | None = None


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
