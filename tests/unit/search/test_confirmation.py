"""The choice by more rows: candidates that may be chosen are compared on all folds."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from bncc.interrupts import StopRequest
from bncc.search.choice import BY_TIME
from bncc.search.confirmation import Confirmation
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


TIMES = {0: 5000, 1: 100, 2: 4000}
"""Instructions by seed."""
BEST, FAST, MIDDLE = (one(n, TIMES[k], k) for k, n in enumerate((40, 43, 41)))


class Evaluations:
    """Evaluations on one more fold, with given numbers of errors by seed."""

    def __init__(self, wrong, n_more=1):
        self.given = SimpleNamespace(more_folds=(None,) * n_more)
        self._wrong, self.asked = wrong, []

    def more_judgements(self, candidates):
        for settings in candidates:
            self.asked.append(settings.seed)
            yield (judgement(self._wrong[settings.seed]),)

    def layouts(self, candidates):
        yield from (resources(900, TIMES.get(each.seed, 100)) for each in candidates)


def chosen(evaluations, prefer="balanced", tried=(BEST, FAST, MIDDLE), stop=None):
    """Return the seed of the choice, and its errors."""
    confirmation = Confirmation(evaluations, prefer, stop or StopRequest())
    found = confirmation.chosen_of(confirmation.of(tried))
    return found.settings.seed, found.errors


@pytest.mark.parametrize(("wrong", "expected"), [(42, 1), (60, 0)])
def test_a_fast_candidate_is_not_clearly_worse_on_more_rows_either(wrong, expected):
    """Beyond it, the middle one is not fast enough to be taken."""
    evaluations = Evaluations({0: 40, 1: wrong, 2: 60})
    seed, errors = chosen(evaluations)
    assert seed == expected
    assert errors == ((43 / N, wrong / N) if expected else (40 / N, 40 / N))


def test_where_all_rows_are_known_nothing_is_evaluated():
    evaluations = Evaluations({}, n_more=0)
    assert chosen(evaluations) == (1, FAST.errors)
    assert evaluations.asked == []


def test_candidates_that_are_worse_on_all_rows_make_room_for_others():
    """More fast candidates than are compared at first."""
    fast = [one(43, 100 + k, seed) for k, seed in enumerate(range(3, 3 + BY_TIME))]
    evaluations = Evaluations({0: 40, 1: 41} | {each.settings.seed: 80 for each in fast})
    slower = replace(FAST, price=resources(900, 300))
    assert chosen(evaluations, tried=(BEST, *fast, slower))[0] == 1
    assert {each.settings.seed for each in fast} < set(evaluations.asked)


def test_by_error_the_most_accurate_ones_are_compared():
    evaluations = Evaluations({0: 40, 1: 30, 2: 50})
    assert chosen(evaluations, "error") == (1, (43 / N, 30 / N))


def test_what_is_confirmed_before_a_search_is_stopped_counts():
    stop = StopRequest()
    confirmation = Confirmation(Evaluations({0: 40, 1: 80, 2: 41}), "balanced", stop)
    kept = confirmation.of((BEST, FAST, MIDDLE))
    stop.signal = 2
    assert len(confirmation.chosen_of(kept).errors) == 2


def test_a_search_that_is_stopped_keeps_the_choice_by_the_first_rows():
    stop = StopRequest()
    stop.signal = 2
    evaluations = Evaluations({0: 40, 1: 80, 2: 41})
    evaluations.layouts = None  # No build follows the request
    assert chosen(evaluations, stop=stop) == (1, FAST.errors)
