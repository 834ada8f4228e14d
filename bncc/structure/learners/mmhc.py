"""MMHC: hill climbing over networks, within the parents and children that MMPC finds."""

from bncc.structure.dags.climbing import climb
from bncc.structure.dags.dag_score import DagScore
from bncc.structure.dags.problem import (
    LIMIT_READERS,
    allowed_pairs,
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
    allowed = allowed_pairs(columns, options, "mmpc", problem.tell)
    score = DagScore(columns, kind_of(options), limits_of(options))
    return structure_of(climb(score, allowed, tell=part_of(problem.tell, 0.5, 1.0)))


LEARNERS = (
    Learner(
        "mmhc",
        _learn,
        {**LIMIT_READERS, "score": score_of, "level": level_of},
        {"alpha": ("score", "bdeu")},
    ),
)
