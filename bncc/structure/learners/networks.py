"""Networks in which the class is a variable like any other, as structures of a classifier."""

from collections.abc import Callable, Mapping

from bncc._types import BoolArray
from bncc.errors import OptionError
from bncc.progress import Progress, part_of
from bncc.structure.dags.climbing import climb, tabu_search
from bncc.structure.dags.curriculum import (
    STEPS,
    CurriculumSettings,
    choose_step,
    held_rows,
    learn_by_curriculum,
)
from bncc.structure.dags.dag_score import (
    MAX_ENTRIES,
    SCORES,
    Columns,
    Dag,
    DagScore,
    Limits,
    ScoreKind,
    columns_of,
)
from bncc.structure.dags.neighbors import LEVEL, parents_and_children, varying_pairs
from bncc.structure.graph import Structure
from bncc.structure.learner import Learner, Problem, Reader
from bncc.structure.options import Options, choice_of, count_of, positive_of

DEFAULT_ALPHA = 10.0
"""Equivalent sample size of S4."""
DEFAULT_PARENTS = 5
"""Limit on parents of S4's authors, where they use one."""
CANDIDATES = ("all", "mmpc")
"""Pairs that an arc may join: all variables that vary, or those that MMPC finds."""
BEST = "best"
"""Choose the step whose network from four fifths of the rows has the highest BDeu on the rest."""
MAX_VARIABLES = 1000
"""Each move updates the gains of one variable with all others; the start computes all pairs."""


def alpha_of(options: Options) -> float:
    """Return the equivalent sample size among structure options."""
    return positive_of(options, "alpha", DEFAULT_ALPHA)


def score_of(options: Options) -> str:
    """Return the name of the score among structure options."""
    return choice_of(options, "score", SCORES)


def candidates_of(options: Options) -> str:
    """Return the pairs that may be joined among structure options."""
    return choice_of(options, "candidates", CANDIDATES)


def level_of(options: Options) -> float:
    """Return the largest p-value of a dependence among structure options."""
    level = positive_of(options, "level", LEVEL)
    if level > 1:
        raise OptionError(f"structure option level={level:g} is above 1; try level={LEVEL:g}")
    return level


def _parents_of(options: Options) -> int:
    return count_of(options, "max-parents", DEFAULT_PARENTS)


def _entries_of(options: Options) -> int:
    return count_of(options, "max-entries", MAX_ENTRIES)


def limits_of(options: Options) -> Limits:
    """Return the limits of a family."""
    return Limits(_parents_of(options), _entries_of(options))


def kind_of(options: Options) -> ScoreKind:
    """Return the score among structure options."""
    return ScoreKind(score_of(options), alpha_of(options))


LIMIT_READERS: Mapping[str, Reader] = {
    "alpha": alpha_of,
    "max-parents": _parents_of,
    "max-entries": _entries_of,
}
"""Options of all network learners."""


def variables_of(problem: Problem) -> Columns:
    """Return the variables of a problem: its features, then the class."""
    columns = columns_of(*problem.data)
    if columns.n_variables > MAX_VARIABLES:
        raise OptionError(
            f"networks support up to {MAX_VARIABLES} variables, and there are "
            f"{columns.n_variables} with the class; choose --structure forest, or --drop some"
        )
    return columns


def allowed_pairs(columns: Columns, options: Options, candidates: str, tell: Progress) -> BoolArray:
    """
    Return the pairs of variables that an arc may join.

    Shapes: returns (n_variables, n_variables) bool, symmetric.
    """
    if candidates == "all":
        return varying_pairs(columns)
    return parents_and_children(columns, level_of(options), tell=part_of(tell, 0.0, 0.5))


def structure_of(dag: Dag) -> Structure:
    """Return the structure of a graph whose last variable is the class."""
    c = len(dag) - 1
    return Structure(
        tuple(tuple(j for j in parents if j != c) for parents in dag[:-1]),
        tuple(c in parents for parents in dag[:-1]),
        class_parents=dag[-1],
    )


def _learner(
    name: str,
    search: Callable[..., Dag],
    readers: Mapping[str, Reader],
    needs: Mapping[str, tuple[str, str]],
) -> Learner:
    """Return a learner by a search; by default only MMPC's pairs may be joined."""

    def learn(problem: Problem) -> Structure:
        columns, options = variables_of(problem), problem.options
        candidates = candidates_of(options) if "candidates" in readers else "mmpc"
        allowed = allowed_pairs(columns, options, candidates, problem.tell)
        score = DagScore(columns, kind_of(options), limits_of(options))
        return structure_of(search(score, allowed, tell=part_of(problem.tell, 0.5, 1.0)))

    return Learner(name, learn, readers, needs)


def _step_of(options: Options) -> str:
    return choice_of(options, "step", (BEST, *map(str, STEPS)))


def _learn_curriculum(problem: Problem) -> Structure:
    columns, options = variables_of(problem), problem.options
    settings = CurriculumSettings(alpha_of(options), limits_of(options))
    allowed = allowed_pairs(columns, options, "mmpc", problem.tell)
    if _step_of(options) == BEST:
        is_held = held_rows(columns.n_samples, problem.seed, problem.origin)
        tell = part_of(problem.tell, 0.5, 0.9)
        step = choose_step(columns, is_held, allowed, settings, tell=tell)
    else:
        step = int(_step_of(options))
    tell = part_of(problem.tell, 0.9, 1.0)
    return structure_of(learn_by_curriculum(columns, allowed, step, settings, tell))


_SEARCH = {**LIMIT_READERS, "score": score_of, "candidates": candidates_of, "level": level_of}
_SEARCH_NEEDS = {"alpha": ("score", "bdeu"), "level": ("candidates", "mmpc")}
_MMHC = {**LIMIT_READERS, "score": score_of, "level": level_of}
LEARNERS = (
    _learner("network-hill-climb", climb, _SEARCH, _SEARCH_NEEDS),
    _learner("tabu", tabu_search, _SEARCH, _SEARCH_NEEDS),
    _learner("mmhc", climb, _MMHC, {"alpha": ("score", "bdeu")}),
    Learner(
        "curriculum", _learn_curriculum, {**LIMIT_READERS, "level": level_of, "step": _step_of}
    ),
)
