"""S1's six structures: those of the learners that ``--structure`` names, run by run."""

import pytest

from bncc.papers.s1_runs import (
    STRUCTURES,
    found_structure,
    has_chance,
    has_margin,
    lambda_for,
)
from bncc.structure.graph import forest
from bncc.structure.learner import Problem
from bncc.structure.learners import LEARNERS
from bncc.structure.learners.margin import anneal_tree
from bncc.structure.margin_scores.search import LAMBDAS, Search
from tests.folds import small_fold

FOLD = small_fold()


def problem(**options):
    return Problem(FOLD.X, FOLD.y, FOLD.n_states, FOLD.n_classes, options)


@pytest.mark.parametrize(
    ("name", "learner", "options"),
    [
        ("NB", "naive", {}),
        ("TAN-ST-CMI", "chow-liu", {}),
        ("TAN-HC-CR", "hill-climb", {"score": "cr"}),
        ("TAN-HC-MM", "hill-climb", {"score": "mm", "lambda": "0.2"}),
        ("TAN-SA-CR", "anneal", {"score": "cr"}),
        ("TAN-SA-MM", "anneal", {"score": "mm", "lambda": "0.2"}),
    ],
)
def test_they_are_those_of_the_command_line(name, learner, options):
    structure, evaluations = found_structure(FOLD, name, 0, 0.2)
    assert structure == LEARNERS[learner].learn(problem(**options))
    assert (evaluations is None) == (name in ("NB", "TAN-ST-CMI"))


def test_runs_of_annealing_are_those_of_one_call_with_several():
    together = anneal_tree(problem(), Search("mm", 0.2), n_runs=3)
    apart = [found_structure(FOLD, "TAN-SA-MM", run, 0.2) for run in range(3)]
    assert sorted(n for _, n in apart if n is not None) == sorted(
        found.n_evaluations for found in together
    )
    assert {structure for structure, _ in apart} == {found.structure for found in together}


def test_lambda_is_the_one_that_annealing_chooses():
    assert lambda_for(FOLD) == anneal_tree(problem())[0].lambda_
    assert lambda_for(FOLD) in LAMBDAS


def test_which_need_runs_and_which_a_lambda():
    assert [name for name in STRUCTURES if has_chance(name)] == ["TAN-SA-CR", "TAN-SA-MM"]
    assert [name for name in STRUCTURES if has_margin(name)] == ["TAN-HC-MM", "TAN-SA-MM"]
    assert found_structure(FOLD, "NB", 0, None)[0] == forest([None] * 3)
