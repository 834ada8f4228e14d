"""Choice of lambda by validation rows alone."""

import numpy as np
import pytest

from bncc.progress import silence
from bncc.structure.graph import forest
from bncc.structure.learner import Problem
from bncc.structure.margin_scores import search as module
from bncc.structure.margin_scores.scored_tree import Tables
from bncc.structure.margin_scores.search import LAMBDAS, Search, begin, classification_rate
from tests.unit.structure.margin_scores.rows import random_held_out, random_rows, spelled_score

QUICK = Search(engine="numpy", n_folds=3)


@pytest.mark.parametrize("parents", [(None,) * 5, (4, 0, None, 1, None)])
def test_the_rate_is_that_of_held_out_rows(parents):
    held = random_held_out(n_samples=40)
    spelled = spelled_score(held, [5 if p is None else p for p in parents], "cr")
    assert classification_rate(held, forest(parents)) == pytest.approx(spelled)


def test_the_first_lambda_of_greatest_rate_is_chosen(monkeypatch):
    rates = iter([0.5, 0.75, 0.75, 0.25])
    monkeypatch.setattr(module, "classification_rate", lambda *_: next(rates))
    told = []
    tables = Tables(random_held_out(n_samples=30, n_states=(2, 2)))
    chosen, n_evaluations = module.choose_lambda(
        tables, QUICK, 0, lambda share, words: told.append((share, words))
    )
    assert chosen == LAMBDAS[1]
    assert n_evaluations > len(LAMBDAS)
    assert [share for share, _ in told] == [0.125, 0.25, 0.375, 0.5]
    assert told[0][1] == "lambda 0.05 decides 50.00% of held-out rows right"


def test_a_lambda_that_is_given_is_kept():
    problem = Problem(*random_rows(n_samples=30))
    tree, n_choosing, tell = begin(problem, Search(lambda_=0.3, engine="numpy"))
    assert (tree.kind.lambda_, n_choosing, tell) == (0.3, 0, silence)
    tree, n_choosing, _ = begin(problem, Search("cr", engine="numpy"))
    assert (tree.kind.kind, n_choosing) == ("cr", 0)


def test_the_search_tells_of_the_half_that_choosing_leaves():
    told = []
    problem = Problem(
        *random_rows(n_samples=30, n_states=(2, 2)),
        tell=lambda share, words: told.append((share, words)),
    )
    tree, n_choosing, tell = begin(problem, QUICK)
    assert tree.kind.lambda_ in LAMBDAS
    assert n_choosing > 0
    tell(0.5, "half")
    assert told[-1] == (0.75, "half")


def test_trees_share_tables():
    tables = Tables(random_held_out())
    first, _ = tables.get(0, 1)
    again, is_kept = tables.get(0, 1)
    assert again is first
    assert is_kept
    anew, is_kept = Tables(random_held_out(), 0).get(0, 1)
    assert np.array_equal(anew, first)
    assert not is_kept
