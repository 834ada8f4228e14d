"""Trees by the margin of validation rows, or by another score of their decisions."""

from dataclasses import replace

import numpy as np

from bncc._types import IntArray
from bncc.errors import OptionError
from bncc.progress import Progress
from bncc.structure.graph import Structure
from bncc.structure.learner import Learner, Problem
from bncc.structure.learners.trees import chow_liu_tree
from bncc.structure.margin_scores.scored_tree import Found
from bncc.structure.margin_scores.search import (
    NEEDS,
    READERS,
    Schedule,
    Search,
    anneal,
    begin,
    climb,
    search_of,
)
from bncc.structure.options import Options, choice_of, count_of, positive_of

STOPS = ("full", "early")


def hill_climb(problem: Problem, search: Search | None = None, *, is_full: bool = True) -> Found:
    """
    Learn a tree by hill climbing from naive Bayes.

    References
    ----------
    S1, section 4.2.
    """
    tree, n_choosing, tell = begin(problem, search or Search())
    return replace(climb(tree, tell, is_full=is_full), n_choosing=n_choosing)


def _stop_of(options: Options) -> str:
    return choice_of(options, "stop", STOPS)


def _learn_by_climbing(problem: Problem) -> Structure:
    is_full = _stop_of(problem.options) == "full"
    return hill_climb(problem, search_of(problem.options), is_full=is_full).structure


STARTS = ("naive", "chow-liu")


def anneal_tree(
    problem: Problem,
    search: Search | None = None,
    schedule: Schedule | None = None,
    n_runs: int = 1,
    start: str = "naive",
) -> tuple[Found, ...]:
    """
    Learn trees by simulated annealing.

    References
    ----------
    S1, algorithm 1.
    """
    tree, n_choosing, tell = begin(problem, search or Search())
    parents = _parents_to_start(problem, tree.features, start)
    found = []
    for run in range(n_runs):
        tree.become(parents)
        rng = np.random.default_rng((problem.seed, run))
        of_run = anneal(tree, schedule or Schedule(), rng, _tell_run(tell, run, n_runs))
        found.append(replace(of_run, n_choosing=n_choosing))
    return tuple(sorted(found, key=lambda of_run: -of_run.score))


def _tell_run(tell: Progress, run: int, n_runs: int) -> Progress:
    return lambda share, words: tell((run + share) / n_runs, words)


def _parents_to_start(problem: Problem, features: IntArray, start: str) -> list[int]:
    """Return the initial tree of a run; features with one state stay without edges."""
    X, y, n_states, n_classes = problem.data
    none = X.shape[1]
    parents = [none] * none
    if start == "chow-liu":
        tree = chow_liu_tree(X[:, features], y, [n_states[i] for i in features], n_classes)
        for child, found in zip(features, tree.parents, strict=True):
            parents[child] = int(features[found[0]]) if found else none
    return parents


SLOWEST, MOST_RUNS = 0.999, 1000


def _cooling_of(options: Options) -> float:
    cooling = positive_of(options, "cooling", Schedule.cooling)
    if cooling > SLOWEST:
        raise OptionError(
            f"structure option cooling={options['cooling']} is more than {SLOWEST}; try cooling=0.8"
        )
    return cooling


def _scale_of(options: Options) -> float | None:
    return positive_of(options, "scale", 100) if "scale" in options else None


def _runs_of(options: Options) -> int:
    n_runs = count_of(options, "runs", 1)
    if n_runs > MOST_RUNS:
        raise OptionError(f"structure option runs={n_runs} is more than {MOST_RUNS}; try runs=10")
    return n_runs


def _start_of(options: Options) -> str:
    return choice_of(options, "start", STARTS)


def _learn_by_annealing(problem: Problem) -> Structure:
    options = problem.options
    schedule = Schedule(_cooling_of(options), _scale_of(options))
    runs = anneal_tree(problem, search_of(options), schedule, _runs_of(options), _start_of(options))
    return runs[0].structure


_OF_ANNEALING = {"cooling": _cooling_of, "scale": _scale_of, "runs": _runs_of, "start": _start_of}
LEARNERS = (
    Learner("hill-climb", _learn_by_climbing, {**READERS, "stop": _stop_of}, NEEDS),
    Learner("anneal", _learn_by_annealing, {**READERS, **_OF_ANNEALING}, NEEDS),
)
