"""The choice: by error, or by time among those that are not clearly worse on the same rows."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.data.splits import SplitRule
from bncc.resources import Budget, Span
from bncc.search.budget_search import chosen_in
from bncc.search.choice import (
    BY_TIME_OF_FAR,
    chosen_of,
    clear_among,
    close_to_best,
    eligible,
    far_faster,
    finalists,
    front_of,
    is_worse,
    limits_of,
    time_ratio,
)
from bncc.search.evaluation import Evaluation
from bncc.search.split_folds import LEAST_UNITS
from bncc.train.settings import TrainSettings
from tests.unit.search.pricing import resources

BASE = TrainSettings()
N = 400


def one(wrong, flash, instructions, n_folds=2):
    """Return a candidate that misclassifies some rows."""
    losses = np.isin(np.arange(N * n_folds // 2), list(wrong)).astype(float)
    errors = tuple(part.mean() for part in np.split(losses, n_folds))
    return Evaluation(BASE, errors, errors, resources(flash, instructions), losses=losses)


BEST = one(range(40), 900, 5000)
CLOSE = one([*range(20), *range(100, 125)], 800, 3000)  # 25 more, 20 fewer
WORSE = one([*range(38), *range(100, 120)], 700, 100)  # 20 more, 2 fewer
LUCKY = one(range(2), 10, 10, n_folds=1)


def test_differences_are_those_of_the_same_rows():
    assert not is_worse(CLOSE.losses, BEST.losses, 1)
    assert is_worse(WORSE.losses, BEST.losses, 1)
    assert not is_worse(BEST.losses, BEST.losses, 1)
    # As many wrong rows are clearly worse if they are other rows than those of the best only.
    same = one(range(45), 800, 3000)
    assert same.error == CLOSE.error
    assert is_worse(same.losses, BEST.losses, 1)


def test_the_fastest_of_those_that_are_close_is_chosen():
    tried = [WORSE, LUCKY, BEST, CLOSE]
    assert close_to_best(tried) == [BEST, CLOSE]
    assert chosen_of(tried, "balanced") is CLOSE
    assert chosen_of(tried, "error") is BEST
    assert chosen_of(tried[:3], "balanced") is BEST


def test_in_another_budget_the_same_rules_choose():
    tried = [BEST, CLOSE, replace(CLOSE, price=resources(801, 20))]
    assert chosen_in(Budget("avr", flash=900), tried, "balanced").price.flash == 801
    assert chosen_in(Budget("avr", flash=800), tried, "balanced").price.flash == 800
    assert chosen_in(Budget("avr", flash=900), tried, "error").price.flash == 900
    assert chosen_in(Budget("avr", flash=799), tried, "balanced") is None


def test_a_layout_that_was_built_counts_in_another_budget_if_it_fits():
    fast = replace(CLOSE, layout=resources(1000, 50))
    assert chosen_in(Budget("avr", flash=1800), [BEST, fast], "balanced").resources.flash == 1000
    assert chosen_in(Budget("avr", flash=999), [BEST, fast], "balanced").resources.flash == 800


def test_the_time_that_losses_are_worth_falls_from_one_standard_error_on():
    def ratio(more):
        """Return the ratio of one that has some rows more and 20 fewer than the best in error."""
        return time_ratio(one([*range(20), *range(100, 100 + more)], 1, 1).losses, BEST.losses)

    found = [ratio(more) for more in range(20, 45)]
    assert found == sorted(found, reverse=True)
    # With McNemar's correction, 27 rows more are 0.88 standard errors and 28 are 1.01.
    assert found[:8] == [1.0] * 8
    assert 0.98 < ratio(28) < 1
    assert ratio(31) == pytest.approx((1 / 3) ** ((10 / 51**0.5 - 1) / 0.96))
    assert 1 / 3 < ratio(35) < 0.37
    assert ratio(36) == ratio(44) == 0.0


def test_one_that_is_not_close_nor_clearly_worse_is_chosen_if_it_is_fast_enough():
    rows = [*range(20), *range(100, 131)]  # 31 more, 20 fewer: 1.4 standard errors
    fast, nearly = one(rows, 800, 1897), one(rows, 800, 1898)
    assert is_worse(fast.losses, BEST.losses, 1)
    assert eligible([BEST, CLOSE, fast, nearly]) == [BEST, CLOSE, fast]
    assert chosen_of([BEST, CLOSE, fast], "balanced") is fast
    assert chosen_of([BEST, CLOSE, nearly], "balanced") is CLOSE
    assert chosen_of([BEST, CLOSE, fast], "error") is BEST
    assert chosen_of([BEST, CLOSE, WORSE], "balanced") is CLOSE
    assert fast in finalists([BEST, *[CLOSE] * 9, fast], "balanced")
    # Among several, time decides as among close ones.
    slower = one(rows[:-1], 800, 1900)
    assert chosen_of([BEST, CLOSE, fast, slower], "balanced") is slower


FAR = [*range(20), *range(100, 137)]  # 37 more, 20 fewer: 2.1 standard errors


def test_the_best_of_many_is_compared_with_a_correction_for_their_number():
    assert clear_among(1) == clear_among(2) == pytest.approx(1.96, abs=1e-4)
    assert clear_among(21) == pytest.approx(3.0233, abs=1e-4)
    settings = replace(BASE, structure="tables", structure_options={"front": "8"})
    fronted = replace(BEST, settings=settings)
    # Candidates of fewer folds and with a front are none of those that the best was chosen among.
    assert limits_of([BEST, CLOSE, WORSE, LUCKY, fronted]) == (1.0, 1.96, clear_among(3))
    assert limits_of([BEST]) == (1.0, 1.96, 1.96)


def test_one_that_is_clearly_worse_alone_is_chosen_among_many_if_it_is_far_faster():
    far, nearly = one(FAR, 800, 300), one(FAR, 800, 301)
    assert is_worse(far.losses, BEST.losses, 1.96)
    tried = [BEST, CLOSE, far, nearly]
    assert far_faster(tried) == [far]
    assert eligible(tried) == [BEST, CLOSE]
    assert chosen_of(tried, "balanced") is far
    assert chosen_of(tried, "error") is BEST
    assert chosen_of([BEST, CLOSE, nearly], "balanced") is CLOSE
    # Two candidates are one comparison, with no correction.
    assert chosen_of([BEST, far], "balanced") is BEST
    # It has to be far faster than one that is not clearly worse alone, too.
    fast = one([*range(20), *range(100, 131)], 800, 1000)
    assert chosen_of([BEST, CLOSE, fast, far], "balanced") is fast
    much = one(FAR, 800, 100)
    assert chosen_of([BEST, CLOSE, fast, much], "balanced") is much


def test_layouts_are_compared_of_those_that_are_fastest_for_their_losses():
    """As many others take less time, but lose more than that is worth."""
    rows = [*range(20), *range(100, 131)]
    lossy = [one(rows, 800, 1890 + k) for k in range(4)]
    slower = one(rows[:-1], 800, 1900)
    assert slower in finalists([BEST, CLOSE, *lossy, slower], "balanced")


def test_layouts_are_compared_of_some_that_are_far_faster():
    many = [one(FAR, 800, 200 + k) for k in range(5)]
    tried = [BEST, CLOSE, *many]
    found = finalists(tried, "balanced")
    assert [each for each in found if each in many] == many[:BY_TIME_OF_FAR]
    assert BEST in found
    assert CLOSE in found


def test_a_few_instructions_are_not_worth_any_error():
    quick = one([*range(20), *range(100, 124)], 800, 2600)
    assert quick.error < CLOSE.error
    slow = one([*range(20), *range(100, 123)], 800, 3200)
    assert chosen_of([BEST, CLOSE, quick], "balanced") is quick
    assert chosen_of([BEST, CLOSE, slow], "balanced") is slow
    assert chosen_of([BEST, one(range(40), 900, 3200), CLOSE], "balanced").error == BEST.error


def test_up_to_fifty_instructions_are_spent_on_the_error():
    fast, better = one(range(41), 800, 40), one(range(40), 900, 90)
    assert chosen_of([fast, better], "balanced") is better
    slower = one(range(40), 900, 91)
    assert chosen_of([fast, slower], "balanced") is fast


def test_a_layout_that_is_known_decides_about_time():
    quick = Evaluation(
        BASE, BEST.errors, BEST.choice, BEST.price, losses=BEST.losses, layout=resources(950, 200)
    )
    assert chosen_of([quick, CLOSE], "balanced") is quick
    assert [each.resources.slowest for each in front_of([quick, CLOSE])] == [200, 3000]


def test_the_mean_time_decides_and_not_the_worst_case():
    """A front lowers the mean; limits alone apply to the slowest call."""
    span = {"predict": Span(20, 150.0, 5100)}
    fronted = replace(BEST, price=replace(BEST.price, instructions=span))
    assert chosen_of([fronted, CLOSE], "balanced") is fronted
    assert fronted in finalists([fronted, *[CLOSE] * 9], "balanced")
    assert front_of([BEST, fronted]) == (fronted,)
    assert fronted.expected_time == 150.0


def test_a_front_that_is_better_by_luck_excludes_no_other_candidate():
    settings = replace(BASE, structure="tables", structure_options={"front": "8"})
    lucky = replace(one(range(20), 900, 4000), settings=settings)
    other = one([*range(40), *range(100, 125)], 800, 3000)
    assert is_worse(CLOSE.losses, lucky.losses, 1)
    assert close_to_best([lucky, CLOSE, BEST]) == [lucky, CLOSE, BEST]
    assert chosen_of([lucky, CLOSE, BEST], "balanced") is CLOSE
    assert close_to_best([lucky, other]) == [lucky, other]
    assert close_to_best([lucky]) == [lucky]
    # One that is worse is judged as any other.
    unlucky = replace(WORSE, settings=settings)
    assert close_to_best([unlucky, BEST]) == [BEST]


def test_layouts_are_compared_of_the_fastest_and_the_smallest():
    rng = np.random.default_rng(1)
    tried = [one(range(40), *(int(n) for n in rng.integers(100, 9999, 2))) for _ in range(20)]
    found = finalists([BEST, *tried, WORSE], "balanced")
    assert 4 <= len(found) <= 7
    assert WORSE not in found
    assert min(tried, key=lambda each: each.price.slowest) in found
    assert min(tried, key=lambda each: each.price.flash) in found
    assert finalists([BEST, *tried], "error") == [min([BEST, *tried], key=lambda each: each.order)]


def test_the_front_has_what_no_other_one_beats_in_all():
    beaten = one([*range(40), 90], 950, 5001)
    assert front_of([WORSE, beaten, LUCKY, CLOSE, BEST]) == (BEST, CLOSE, WORSE)
    assert front_of([]) == ()


CLEAR = [(1, 0, False), (2, 0, False), (3, 0, True), (9, 6, False)]


@pytest.mark.parametrize(("more", "fewer", "is_clear"), CLEAR)
def test_rows_in_error_differ_clearly_by_more_than_chance(more, fewer, is_clear):
    """One standard error of a count of discordant rows, corrected for continuity."""
    than = np.zeros(200)
    than[:fewer] = 1.0
    losses = np.zeros(200)
    losses[fewer : fewer + more] = 1.0
    assert is_worse(losses, than, 1.0) is is_clear
    assert not is_worse(than, losses, 1.0)


def test_losses_that_are_no_counts_have_no_correction():
    assert is_worse(np.full(100, 0.02), np.zeros(100), 1.0)


def test_the_layouts_of_those_that_an_estimate_expects_to_be_fast_are_compared():
    """A slow candidate whose fastest layout is fast is a finalist, also among many close ones."""
    others = [one([*range(20), *range(100, 125)], 800, 3000 + k) for k in range(6)]
    tried = [BEST, *others, replace(CLOSE, price=resources(850, 9000))]
    assert tried[-1] not in finalists(tried, "balanced")
    tried[-1] = replace(tried[-1], fast=400)
    assert tried[-1] in finalists(tried, "balanced")
    # An estimate decides about builds only.
    assert chosen_of(tried, "balanced") is not tried[-1]
    known = replace(tried[-1], layout=resources(850, 450))
    assert known.expected_time == 450
    assert chosen_of([*tried[:-1], known], "balanced") is known


def test_units_keep_chance_from_being_clear_where_errors_come_in_episodes():
    """
    Two classifiers that are equally good are wrong in episodes of 60 rows, independently.

    As rows, their difference would be called clear in most data sets, as units in few.
    """
    rng, rule, n_rows, n_sets = np.random.default_rng(0), SplitRule(ordered=True), 1500, 300
    unit = rule.units(n_rows, LEAST_UNITS)
    n_clear = {"rows": 0, "units": 0}
    for _ in range(n_sets):
        folds = [np.repeat(rng.random((2, n_rows // 60)) < 0.06, 60, axis=1) for _ in range(5)]
        one, other = np.concatenate(folds, axis=1).astype(float)
        sums = [
            np.concatenate([np.bincount(unit, part) for part in np.split(each, 5)])
            for each in (one, other)
        ]
        for name, pair in (("rows", (one, other)), ("units", sums)):
            a, b = pair
            n_clear[name] += is_worse(a, b, 1.96) or is_worse(b, a, 1.96)
    assert n_clear["rows"] > 0.5 * n_sets
    assert n_clear["units"] < 0.08 * n_sets
