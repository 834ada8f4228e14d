"""Tabu search over networks in which the class is a variable like any other."""

from bncc.structure.dags.climbing import tabu_search
from bncc.structure.dags.dag_score import DagScore
from bncc.structure.dags.problem import (
    LIMIT_READERS,
    allowed_pairs,
    candidates_of,
    kind_of,
    level_of,
    limits_of,
    part_of,
    score_of,
    structure_of,
    variables_of,
)
from bncc.structure.graph import Structure
from bncc.structure.learner import Learner, Problem


def _learn(problem: Problem) -> Structure:
    columns, options = variables_of(problem), problem.options
    allowed = allowed_pairs(columns, options, candidates_of(options), problem.tell)
    score = DagScore(columns, kind_of(options), limits_of(options))
    return structure_of(tabu_search(score, allowed, tell=part_of(problem.tell, 0.5, 1.0)))


LEARNERS = (
    Learner(
        "tabu",
        _learn,
        {**LIMIT_READERS, "score": score_of, "candidates": candidates_of, "level": level_of},
        {"alpha": ("score", "bdeu"), "level": ("candidates", "mmpc")},
    ),
)
