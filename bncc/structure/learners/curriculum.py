"""Curriculum learning of networks: a few variables first, the others fixed, then more."""

from bncc.structure.dags.curriculum_search import (
    STEPS,
    CurriculumSettings,
    choose_step,
    held_rows,
    learn_by_curriculum,
)
from bncc.structure.dags.problem import (
    LIMIT_READERS,
    allowed_pairs,
    alpha_of,
    level_of,
    limits_of,
    part_of,
    structure_of,
    variables_of,
)
from bncc.structure.graph import Structure
from bncc.structure.learner import Learner, Problem
from bncc.structure.option_readers import Options, choice_of

BEST = "best"
"""The step whose network of four fifths of the rows has the highest BDeu on the others."""


def _step_of(options: Options) -> str:
    return choice_of(options, "step", (BEST, *map(str, STEPS)))


def _learn(problem: Problem) -> Structure:
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


LEARNERS = (Learner("curriculum", _learn, {**LIMIT_READERS, "level": level_of, "step": _step_of}),)
