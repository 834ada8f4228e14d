"""Which kernel computes a program: every family's proved candidates, and the choice among them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from bncc.compiler.budget import Budget
from bncc.compiler.candidate import Candidate, candidate
from bncc.compiler.ir import Program
from bncc.compiler.kernels.base import Kernel
from bncc.compiler.kernels.lanes import lanes
from bncc.compiler.kernels.packed import packed
from bncc.compiler.kernels.plain import plain
from bncc.errors import OptionError

Optimize = Literal["balanced", "size", "speed"]

FAMILIES: Mapping[str, Callable[[Program], Iterator[Kernel]]] = {
    "plain": lambda program: iter((plain(program),)),
    "lanes": lanes,
    "packed": packed,
}
"""By the name in ``--kernel``: all layouts of that family that are proved exact for a program."""


UNNAMED = ("plain",)
"""The families to choose among where none is named."""


@dataclass(frozen=True, eq=False)
class Choice:
    """What was chosen, and why.

    Parameters
    ----------
    kernel : Kernel
        The best proved layout; margins are those of the program for every input.
    candidates : tuple of Candidate
        All that were compared, the best first; the chosen one is the first within the budget.
    reason : str
        What it is best in.
    """

    kernel: Kernel
    candidates: tuple[Candidate, ...]
    reason: str

    @property
    def chosen(self) -> Candidate:
        """The kernel's estimates."""
        return next(each for each in self.candidates if each.kernel is self.kernel)


def choose(
    program: Program,
    *,
    optimize: Optimize = "balanced",
    family: str | None = None,
    target: str | None = None,
    budget: Budget | None = None,
) -> Choice:
    """Choose the best proved layout of a program.

    Parameters
    ----------
    program : Program
        A verified program.
    optimize : {"balanced", "size", "speed"}
        What is best.
    family : str or None
        A key of `FAMILIES` to choose within; None for all.
    target : str or None
        The machine, as in ``--target``; None for generic C.
    budget : Budget or None
        What the classifier may take; None for any number of bytes.

    Returns
    -------
    Choice
        The first of the candidates, in the order of what is best, that is within the budget.

    Raises
    ------
    OptionError
        If there is no such family, or it has no layout for this program.
    BudgetError
        If no candidate is within the budget; the sentence names the nearest.
    """
    if family not in (None, *FAMILIES):
        raise OptionError(f"there is no kernel '{family}'; there are {', '.join(FAMILIES)}")
    candidates = _ranked(program, (family,) if family else UNNAMED, optimize, target)
    if not candidates:
        raise OptionError(
            f"the kernel '{family}' has no layout that is safe for this model; name another or none"
        )
    budget = budget or Budget()
    fitting = [each for each in candidates if budget.fits(each)]
    if not fitting:
        raise budget.refusal(_ranked(program, FAMILIES, optimize, target))
    return Choice(fitting[0].kernel, candidates, _reason(optimize, len(fitting), len(candidates)))


def _ranked(
    program: Program, families: Iterable[str], optimize: Optimize, target: str | None
) -> tuple[Candidate, ...]:
    """Return all candidates of some families, the best first."""
    kernels = (kernel for family in families for kernel in FAMILIES[family](program))
    found = [candidate(program, kernel, target) for kernel in kernels]
    if optimize == "size":
        return tuple(sorted(found, key=lambda each: (each.flash, each.instructions)))
    return tuple(sorted(found, key=lambda each: (each.instructions, each.flash)))


def _reason(optimize: Optimize, n_fitting: int, n_candidates: int) -> str:
    if n_candidates == 1:
        return "the only layout"
    best = "least flash" if optimize == "size" else "fewest instructions"
    within = "" if n_fitting == n_candidates else f" the {n_fitting} that fit of"
    return f"{best} of{within} {n_candidates} layouts"
