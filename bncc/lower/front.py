"""The front as nested comparisons of states, and of readings, in front of a kernel."""

from dataclasses import dataclass
from functools import cached_property

from bncc.lower.cost_model import OF_READINGS, Level, weighted
from bncc.lower.kernels.branches.layout import BranchKernel
from bncc.lower.kernels.branches.text import TreeText, reading_tree, state_tree
from bncc.lower.kernels.branches.trees import branches_of, leaves_of
from bncc.lower.raw import RawPlan
from bncc.lower.reading_cost import reading_terms
from bncc.lower.reading_lines import ReadingReach, readings_of
from bncc.model.front import UNSURE
from bncc.program.front import Front


@dataclass(frozen=True, eq=False)
class FrontPlan:
    """The tree of a front, and how often it decides."""

    front: Front
    answers: float | None  # Share of the training rows that it decides; None if unknown

    @cached_property
    def kernel(self) -> BranchKernel:
        """The tree, laid out like that of a single table."""
        program, classes = self.front.program, self.front.classes
        tree = branches_of(self.front.table, program.n_states, classes)
        largest = self.front.most
        return BranchKernel(program, "class", (tree,), None, (), 16, 0, 0, largest)

    @property
    def n_leaves(self) -> int:
        """Leaves of the tree."""
        return len(leaves_of(self.kernel.trees[0]))

    @property
    def n_sure(self) -> int:
        """Those that decide."""
        return sum(leaf != UNSURE for leaf in leaves_of(self.kernel.trees[0]))

    @property
    def summary(self) -> str:
        """Its size, and how often it decides."""
        share = "" if self.answers is None else f", for {100 * self.answers:.1f} % of training rows"
        return (
            f"a decision tree of {self.n_leaves} leaves, {self.n_sure} of which decide at "
            f"once{share}; the others go on to the sum"
        )

    def code(self, target: str | None, level: Level, *, from_readings: bool) -> int:
        """Return its bytes of code, without what every classifier has."""
        terms = (0, *self._terms(from_readings=from_readings)[1][1:])
        family = _family(from_readings=from_readings)
        return max(0, round(weighted(family, target, level, terms, which=1)))

    def work(self, target: str | None, level: Level, *, from_readings: bool) -> tuple[int, int]:
        """Return what it executes if all leaves are as likely, and at most."""
        terms = self._terms(from_readings=from_readings)[0]
        kernel, family = self.kernel, _family(from_readings=from_readings)
        expected = max(1, round(weighted(family, target, level, terms, which=0)))
        longest = kernel.most_comparisons / max(1.0, kernel.expected_comparisons)
        return expected, round(expected * max(1.0, longest))

    def _terms(self, *, from_readings: bool) -> tuple[tuple[float, ...], tuple[float, ...]]:
        if not from_readings:
            return self.kernel.work, self.kernel.code
        found = reading_terms(self.front.program, self.kernel, "readings")
        return found.work, found.code


def _family(*, from_readings: bool) -> str:
    return BranchKernel.family + (OF_READINGS if from_readings else "")


@dataclass(frozen=True)
class FrontText:
    """C text of a front."""

    states: TreeText  # Comparisons of states
    readings: TreeText | None  # Comparisons of readings, where there is a raw entry point
    functions: frozenset[str]  # Those of `bncc.lower.cut_conditions` that are called
    most: int  # See `Front`
    n_leaves: int
    n_sure: int


def front_text(plan: FrontPlan, name: str, raw: RawPlan | None) -> FrontText:
    """Print a front."""
    program, tree = plan.front.program, plan.kernel.trees[0]
    go_on = f"{name.upper()}_GO_ON"

    def leaf(number: int) -> str:
        return go_on if number == UNSURE else str(number)

    readings, functions = None, frozenset[str]()
    if raw is not None:
        reach = ReadingReach(program.features, readings_of(raw), name)
        readings, functions = reading_tree(program, tree, reach.condition, leaf)
    return FrontText(
        state_tree(program, tree, leaf),
        readings,
        functions,
        plan.front.most,
        plan.n_leaves,
        plan.n_sure,
    )
