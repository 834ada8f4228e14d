"""Hill climbing by the margin of held-out rows, or by another score of what is decided."""

from dataclasses import replace

from bncc.structure.graph import Structure
from bncc.structure.learner import Learner, Problem
from bncc.structure.margin_scores.climbing import climb
from bncc.structure.margin_scores.options import NEEDS, READERS, search_of
from bncc.structure.margin_scores.scored_tree import Found
from bncc.structure.margin_scores.search import Search, begin
from bncc.structure.option_readers import Options, choice_of

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


def _learn(problem: Problem) -> Structure:
    is_full = _stop_of(problem.options) == "full"
    return hill_climb(problem, search_of(problem.options), is_full=is_full).structure


LEARNERS = (Learner("hill-climb", _learn, {**READERS, "stop": _stop_of}, NEEDS),)
