"""Smaller sums in a search: as few tables, or leaves of one, as are not clearly worse."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf, sqrt
from statistics import fmean
from typing import NamedTuple

from bncc.interrupts import StopRequest
from bncc.search.choice import CLEAR, CLOSE, best_alone, best_of, close_to_best, is_close, is_worse
from bncc.search.ensemble_configs import LEAVES_ALONE, EnsembleConfig, single_tables
from bncc.search.ensemble_race import JudgedSum, judged_form
from bncc.search.evaluation import Evaluation, Evaluator, losses_of
from bncc.train.settings import TrainSettings

BY_TIME = 3
"""Number of forms of which fewer tables are tried: the fastest close ones, and the best one."""
MOST_TRIES = 4
"""Number of trials of a form, each of which halves the range of its tables on a log scale."""
LEAST_SHARE = 0.15
"""Smallest fraction of its tables that is tried."""


def with_fewer_tables(
    tried: Sequence[Evaluation], evaluator: Evaluator, stop: StopRequest
) -> Iterator[JudgedSum]:
    """
    Yield variants of the close candidates with fewer tables that are not clearly worse.

    Fewer tables leave flash for a layout that takes fewer instructions for each: on har_exercise 40
    tables of four cuts take 1,285 instructions in 4 KB, and the 101 that fit take 17,000.
    """
    best = best_alone(tried)
    sums = [one for one in tried if isinstance(one, JudgedSum)]
    for one in _fastest_forms(tried):
        sizes = {_n_tables(each) for each in sums if each.form == one.form}
        most = _n_tables(one)
        least = max([LEAST_SHARE * most, *(n for n in sizes if n < most)])
        for _ in range(MOST_TRIES):
            n_tables = round(sqrt(least * most))
            if stop.is_wanted:
                return
            if not least < n_tables < most:
                break
            settings = one.form.settings(evaluator.given.base, n_tables)
            losses = losses_of(tuple(evaluator.judgements(settings)))
            if is_close(losses, best, CLEAR):
                fewer = judged_form(one.form, settings, evaluator)
                if evaluator.given.budget.admits(fewer.price):
                    yield fewer
            if is_close(losses, best):
                most = n_tables
            else:
                least = n_tables


def with_fewer_leaves(
    tried: Sequence[Evaluation], evaluator: Evaluator, stop: StopRequest
) -> Iterator[JudgedSum]:
    """
    Yield single trees of fewer leaves than those tried that are not clearly worse than the best.

    The race tries the largest tree that fits. Leaves are halved, for each kind of trees, until the
    tree is clearly worse and has more errors than the one before it, which may have had too many.
    """
    sums = [one for one in tried if isinstance(one, JudgedSum)]
    largest = next(iter(single_tables()), None)
    if not sums or largest is None:
        return
    beyond = replace(largest, leaves=2 * largest.leaves)
    smallest = {_kind(largest): (beyond, inf)}
    for one in sums:
        if one.form.is_branching and not one.ends_early and _n_tables(one) == 1:
            form = replace(largest, leaves=one.form.leaves, **_kind(one.form)._asdict())
            if form.leaves < smallest.get(_kind(form), (beyond, inf))[0].leaves:
                smallest[_kind(form)] = form, one.order[1]
    best, known = best_alone(tried), {repr(one.settings) for one in tried}
    for form, loss in smallest.values():
        for one in _halved(form, loss, best, evaluator, stop):
            if repr(one.settings) not in known:
                yield one


class _Kind(NamedTuple):
    """Properties by which single trees of as many leaves differ."""

    cut_bits: int
    cuts: int
    inputs: int
    differences: int


def _kind(form: EnsembleConfig) -> _Kind:
    return _Kind(form.cut_bits, form.cuts, form.inputs, form.differences)


def _halved(
    form: EnsembleConfig, loss: float, best: Evaluation, evaluator: Evaluator, stop: StopRequest
) -> Iterator[JudgedSum]:
    """Yield single trees of half the leaves, a quarter and so on that are not clearly worse."""
    for leaves in reversed(LEAVES_ALONE):
        if leaves >= form.leaves:
            continue
        if stop.is_wanted:
            return
        smaller = replace(form, leaves=leaves)
        settings = smaller.settings(evaluator.given.base, 1)
        judged = tuple(evaluator.judgements(settings))
        before, loss = loss, fmean(each.choice for each in judged)
        if is_close(losses_of(judged), best, CLEAR):
            one = judged_form(smaller, settings, evaluator)
            if evaluator.given.budget.admits(one.price):
                yield one
        elif loss > before:
            return


def is_as_good(settings: TrainSettings, as_one: Evaluation, evaluator: Evaluator) -> bool:
    """Return whether errors of settings on the first folds are close to those of a candidate."""
    if as_one.losses is None:
        return True
    losses = losses_of(tuple(evaluator.judgements(settings)))
    return not is_worse(losses, as_one.losses[: len(losses)], CLOSE)


def _fastest_forms(tried: Sequence[Evaluation]) -> list[JudgedSum]:
    """Return the fewest close tables of the fastest close forms, and of the most accurate one."""
    close = [one for one in close_to_best(tried) if isinstance(one, JudgedSum)]
    sums = [one for one in close if not one.form.is_single and not one.ends_early]
    if not sums:
        return []
    fewest: dict[EnsembleConfig, JudgedSum] = {}
    for one in sorted(sums, key=_n_tables):
        fewest.setdefault(one.form, one)
    fastest = sorted(fewest.values(), key=lambda one: one.expected_time)[:BY_TIME]
    chosen = {id(one): one for one in (*fastest, fewest[_form(best_of(sums))])}
    return list(chosen.values())


def _form(one: Evaluation) -> EnsembleConfig:
    assert isinstance(one, JudgedSum)
    return one.form


def _n_tables(one: JudgedSum) -> int:
    return int(one.settings.structure_options["tables"])
