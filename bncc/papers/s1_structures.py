"""The six structures of S1's tables, each run of annealing apart, so that it can be kept."""

from collections.abc import Mapping

import numpy as np

from bncc.papers.folds import Fold
from bncc.structure.graph import Structure
from bncc.structure.learner import Problem
from bncc.structure.learners import LEARNERS
from bncc.structure.learners.margin import hill_climb
from bncc.structure.margin_scores.scored_tree import Found
from bncc.structure.margin_scores.search import Schedule, Search, anneal, begin

COUNTED: Mapping[str, str] = {"NB": "naive", "TAN-ST-CMI": "chow-liu"}
"""Learners that read a structure off counts, by the paper's names."""
SEARCHED: Mapping[str, tuple[str, str]] = {
    "TAN-HC-CR": ("climb", "cr"),
    "TAN-HC-MM": ("climb", "mm"),
    "TAN-SA-CR": ("anneal", "cr"),
    "TAN-SA-MM": ("anneal", "mm"),
}
"""Search and score, by the paper's names."""
STRUCTURES = (*COUNTED, *SEARCHED)


def has_chance(name: str) -> bool:
    """Return whether runs differ."""
    return name in SEARCHED and SEARCHED[name][0] == "anneal"


def has_margin(name: str) -> bool:
    """Return whether a structure is searched by the margin, and so needs a lambda."""
    return name in SEARCHED and SEARCHED[name][1] == "mm"


def lambda_for(fold: Fold) -> float:
    """Choose the scale of the margin by which trees are scored."""
    tree, _, _ = begin(_problem(fold), Search())
    return tree.kind.lambda_


def found_structure(
    fold: Fold, name: str, run: int, lambda_: float | None
) -> tuple[Structure, int | None]:
    """Learn a structure from all training rows."""
    problem = _problem(fold)
    if name in COUNTED:
        return LEARNERS[COUNTED[name]].learn(problem), None
    way, score = SEARCHED[name]
    search = Search(score, lambda_)
    found: Found
    if way == "climb":
        found = hill_climb(problem, search)
    else:
        tree, _, _ = begin(problem, search)
        found = anneal(tree, Schedule(), np.random.default_rng((0, run)), lambda *_: None)
    return found.structure, found.n_evaluations


def _problem(fold: Fold) -> Problem:
    return Problem(fold.X, fold.y, fold.n_states, fold.n_classes)
