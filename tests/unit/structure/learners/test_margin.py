"""Hill climbing and annealing as the command line names them."""

import numpy as np
import pytest

from bncc.errors import OptionError
from bncc.structure.catalog import check_structure_options, learn_structure
from bncc.structure.learner import Problem
from bncc.structure.learners.margin import anneal_tree, hill_climb
from bncc.structure.learners.trees import chow_liu_tree
from bncc.structure.margin_scores.search import Schedule, Search
from tests.unit.structure.margin_scores.rows import random_rows

ROWS = random_rows(n_samples=60)
SHORT = {"lambda": "0.2", "folds": "3"}
OF = {"hill-climb": SHORT, "anneal": SHORT | {"cooling": "0.1"}}


@pytest.mark.parametrize("name", OF)
@pytest.mark.parametrize("score", ["mm", "cr", "cl"])
def test_the_seed_determines_the_tree(name, score):
    options = OF[name] | {"score": score}
    if name == "anneal":
        options |= {"scale": "0.1"}
    first = learn_structure(name, *ROWS, options, 3)
    assert first == learn_structure(name, *ROWS, options, 3)
    assert all(first.class_is_parent)
    assert first.parents[2] == ()
    assert all(len(parents) <= 1 for parents in first.parents)


@pytest.mark.parametrize("name", OF)
def test_a_parity_that_no_feature_shows_alone_is_found(name):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 3))
    y = X[:, 0] ^ X[:, 2]
    parents = learn_structure(name, X, y, (2, 2, 2), 2, OF[name]).parents
    assert parents[0] == (2,) or parents[2] == (0,)


@pytest.mark.parametrize("name", OF)
def test_one_class_and_no_rows_leave_a_tree(name):
    X, y, n_states, _ = ROWS
    for rows in (slice(None), slice(1), slice(0)):
        found = learn_structure(name, X[rows], 0 * y[rows], n_states, 1, OF[name])
        assert found.is_bayesian_network


def test_early_climbing_leaves_edges_out():
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 4, (60, 5)), rng.integers(0, 2, 60), (4,) * 5, 2
    full = learn_structure("hill-climb", *noise, SHORT)
    early = learn_structure("hill-climb", *noise, SHORT | {"stop": "early"})
    assert full.n_edges == 4 > early.n_edges


def test_lambda_is_chosen_where_it_is_not_given():
    problem = Problem(*random_rows(n_samples=30, n_states=(2, 3)))
    for found in (hill_climb(problem), anneal_tree(problem)[0]):
        assert found.n_choosing > 0
        assert hill_climb(problem, Search(lambda_=found.lambda_)).n_choosing == 0


def test_runs_differ_and_the_best_comes_first():
    told = []
    rows = random_rows(n_samples=60, n_states=(2, 3, 2, 2, 3))
    problem = Problem(*rows, tell=lambda share, words: told.append(share))
    runs = anneal_tree(problem, Search(lambda_=0.2), Schedule(cooling=0.01), n_runs=3)
    assert [run.score for run in runs] == sorted((run.score for run in runs), reverse=True)
    assert len({run.last for run in runs}) > 1
    assert told == sorted(told)
    single = learn_structure("anneal", *rows, SHORT | {"cooling": "0.01", "runs": "3"})
    assert single.is_bayesian_network


def test_annealing_may_begin_with_the_chow_liu_tree():
    problem = Problem(*ROWS)
    start = chow_liu_tree(ROWS[0][:, [0, 1, 3, 4]], ROWS[1], (2, 3, 4, 2), 3)
    cold = Schedule(cooling=0.01, scale=1e-9)
    (found,) = anneal_tree(problem, Search("cr"), cold, start="chow-liu")
    assert found.last.n_edges == start.n_edges == 3
    assert found.last.parents[2] == ()


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("hill-climb", {"score": "bic"}, "score=bic is unknown; choose mm, cr or cl"),
        ("hill-climb", {"lambda": "0"}, "lambda=0 is not a positive number; try lambda=0.1"),
        ("hill-climb", {"folds": "1"}, "folds=1 leaves no training rows; try folds=5"),
        ("hill-climb", {"stop": "late"}, "stop=late is unknown; choose full or early"),
        ("hill-climb", {"cooling": "0.5"}, "unknown option 'cooling'"),
        ("anneal", {"cooling": "1"}, "cooling=1 is more than 0.999; try cooling=0.8"),
        ("anneal", {"runs": "1001"}, "runs=1001 is more than 1000; try runs=10"),
        ("hill-climb", {"lambda": "1e-4"}, "lambda=1e-4 is not in 0.001 to 1000; try lambda=0.1"),
        ("anneal", {"scale": "1e-300"}, "scale=1e-300 is not in 1e-06 to 1e"),
        ("anneal", {"scale": "-1"}, "scale=-1 is not a positive number; try scale=100"),
        ("anneal", {"runs": "0"}, "runs=0 is not a positive integer; try runs=1"),
        ("anneal", {"start": "full"}, "start=full is unknown; choose naive or chow-liu"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_remedy(name, options, says):
    with pytest.raises(OptionError, match=says):
        check_structure_options(name, options)
