"""The choice by more rows: candidates that may be chosen are compared on all folds."""

from types import SimpleNamespace

import numpy as np
import pytest

from bncc.interrupts import StopRequest
from bncc.search.budget_search import confirmed
from bncc.search.evaluation import Evaluation, Judgement
from bncc.train.settings import TrainSettings
from tests.unit.search.pricing import resources

N = 400
BASE = TrainSettings()


def judgement(wrong):
    misses = np.arange(N) < wrong
    return Judgement(misses, misses.astype(float))


def one(wrong, instructions, seed=0):
    """Return a candidate that misclassifies the first rows of a fold; `seed` names it."""
    found = judgement(wrong)
    settings = TrainSettings(seed=seed)
    price = resources(900, instructions)
    return Evaluation(settings, (found.error,), (found.choice,), price, losses=found.losses)


BEST, FAST, MIDDLE = one(40, 5000, 0), one(43, 100, 1), one(41, 4000, 2)


class Evaluations:
    """Evaluations on one more fold, with given numbers of errors by seed."""

    def __init__(self, wrong, n_more=1):
        self.given = SimpleNamespace(more_folds=(None,) * n_more)
        self._wrong, self.asked = wrong, []

    def more_judgements(self, settings):
        self.asked.append(settings.seed)
        yield judgement(self._wrong[settings.seed])


def chosen(evaluations, prefer="balanced", tried=(BEST, FAST, MIDDLE)):
    return confirmed(tried, evaluations, prefer, StopRequest())


@pytest.mark.parametrize(("wrong", "expected"), [(42, FAST), (60, BEST)])
def test_a_fast_candidate_is_not_clearly_worse_on_more_rows_either(wrong, expected):
    """Beyond it, the middle one is not fast enough to be taken."""
    evaluations = Evaluations({0: 40, 1: wrong, 2: 60})
    found, errors = chosen(evaluations)
    assert found is expected
    assert errors == (*found.errors, (wrong if found is FAST else 40) / N)


def test_where_all_rows_are_known_nothing_is_evaluated():
    evaluations = Evaluations({}, n_more=0)
    assert chosen(evaluations) == (FAST, FAST.errors)
    assert evaluations.asked == []


def test_by_error_the_most_accurate_ones_are_compared():
    evaluations = Evaluations({0: 40, 1: 30, 2: 50})
    found, errors = chosen(evaluations, "error")
    assert found is FAST
    assert errors == (43 / N, 30 / N)


def test_a_search_that_is_stopped_keeps_the_choice():
    stop = StopRequest()
    stop.signal = 2
    found = confirmed((BEST, FAST), Evaluations({0: 40, 1: 80}), "balanced", stop)
    assert found == (FAST, FAST.errors)
