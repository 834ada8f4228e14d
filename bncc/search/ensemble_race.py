"""Race of boosted tables for a budget: each form against the best so far, fold by fold."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bncc._types import FloatArray
from bncc.resources import Budget
from bncc.search.capacity import Capacity
from bncc.search.choice import is_worse, time_ratio
from bncc.search.ensemble_configs import (
    LEAVES_ALONE,
    MOST_ROWS,
    ROWS,
    EnsembleConfig,
    neighbors,
    single_tables,
    starts,
)
from bncc.search.evaluation import Evaluation, Evaluator, Judgement, SearchInput, losses_of
from bncc.train.settings import TrainSettings

HOPELESS = 2.0
"""
Standard errors behind the best at which the evaluation of a form stops. The errors of a group or of
a block in time occur together, so a fold of these counts as one difference, and no form is
eliminated before the fifth: in occupancy, the first block is the easiest.
"""
MOST_TRIES = 3
"""Number of builds for another budget."""
FASTER = 0.8
"""Fraction of the best form's instructions up to which a form is of interest for its time."""


@dataclass(frozen=True, kw_only=True)
class JudgedSum(Evaluation):
    """Boosted tables with a price."""

    form: EnsembleConfig  # Form of its tables


def judged_sums(evaluator: Evaluator, room: Capacity | None = None) -> Iterator[JudgedSum]:
    """
    Try boosted tables of several forms, then neighbors of the best until none is better.

    Where the best of the other kind of tables, products or branching ones, is faster and not
    hopelessly worse, its neighbors are tried too. Where the best reads few columns, the first forms
    are tried with as many.
    """
    room, given = room or Capacity(evaluator), evaluator.given
    is_timed = given.budget.flash is None and given.budget.instructions is not None
    cut_bits = given.folds[0].cut_bits
    seen: set[EnsembleConfig] = set()
    leaders: dict[bool, JudgedSum] = {}  # By the kind of tables
    n_classes = len(given.dataset.classes)
    are_bytes = given.folds[0].are_bytes
    first = [
        *starts(n_classes, cut_bits=cut_bits, is_timed=is_timed, are_bytes=are_bytes),
        *_single(room),
    ]
    new = first
    while new:
        for form in new:
            best = min(leaders.values(), key=lambda one: one.order, default=None)
            one = _judged(form, room, evaluator, best, leaders.get(form.is_branching))
            if one is not None:
                leader = leaders.get(form.is_branching, one)
                leaders[form.is_branching] = min(leader, one, key=lambda each: each.order)
                yield one
        seen.update(new)
        centers = [one.form for one in _worth_more(leaders, given)] or [first[0]]
        near = {
            form: None
            for center in centers
            for form in neighbors(
                center,
                n_classes,
                are_numbers=given.folds[0].are_numbers,
                n_columns=given.folds[0].n_columns,
                cut_bits=cut_bits,
                most_rows=MOST_ROWS if is_timed else ROWS[1],
            )
        }
        limit = centers[0].inputs
        limited = [replace(form, inputs=limit) for form in first if limit]
        new = [form for form in dict.fromkeys((*near, *limited)) if form not in seen]


def resized(
    one: JudgedSum, room: Capacity, evaluator: Evaluator, budget: Budget
) -> JudgedSum | None:
    """
    Return tables of the same form for another budget, with roughly as many as fit in it.

    They are evaluated on all folds. None if there are no such tables.
    """
    form = one.form
    if form.is_single:
        smaller = one.price.flash > (budget.room or 0)
        leaves = form.leaves // 2 if smaller else form.leaves * 2
        if leaves not in LEAVES_ALONE:
            return None
        form = replace(form, leaves=leaves)
    base, n_tables = evaluator.given.base, room.guess(form, budget)
    for _ in range(MOST_TRIES):
        settings = form.settings(base, n_tables)
        if settings == one.settings:
            return None
        used = budget.utilization(evaluator.priced(settings).price)
        if used <= 1 or n_tables == 1:
            break
        n_tables = max(1, min(n_tables - 1, int(n_tables / used)))
    return judged_form(form, settings, evaluator)


def judged_form(form: EnsembleConfig, settings: TrainSettings, evaluator: Evaluator) -> JudgedSum:
    """Evaluate boosted tables of a form on all folds."""
    return _sum(form, settings, tuple(evaluator.judgements(settings)), evaluator)


def _single(room: Capacity) -> list[EnsembleConfig]:
    """Return the largest single table that fits, if any."""
    untried = single_tables()
    found: list[EnsembleConfig] = []
    # A build corrects the estimates of the others.
    while form := next((each for each in untried if room.may_fit(each)), None):
        if room.fitted(form, 1) is None:
            untried = tuple(each for each in untried if each.leaves < form.leaves)
        else:
            untried = tuple(each for each in untried if each.leaves > form.leaves)
            found = [form]
    return found


def _worth_more(leaders: dict[bool, JudgedSum], given: SearchInput) -> list[JudgedSum]:
    """Return the best, and that of the other kind if it is faster and not hopelessly worse."""
    if not leaders:
        return []
    best, *others = sorted(leaders.values(), key=lambda one: one.order)
    return [
        best,
        *(one for one in others if _may_get_close(one, best, given) and _time(one) < _time(best)),
    ]


def _judged(
    form: EnsembleConfig,
    room: Capacity,
    evaluator: Evaluator,
    best: JudgedSum | None,
    leader: JudgedSum | None,
) -> JudgedSum | None:
    """
    Return boosted tables of a form; None if none fit, or they cannot compete.

    They compete with the best of all, and with the leader, the best of the same kind.
    """
    n_tables = room.guess(form)
    # Learning is faster than building: forms that are not better are not measured.
    base = evaluator.given.base
    guessed = form.settings(base, n_tables)
    judged = _judge(evaluator, guessed, best)
    if best is not None and len(judged) < len(evaluator.given.folds):
        return None
    if best is not None and room.knows(form):
        is_better = leader is not None and losses_of(judged).mean() < _mean(leader)
        if not _competes(form, n_tables, judged, room, best, is_better=is_better):
            return None
    fitted = room.fitted(form, n_tables)
    if fitted is None:
        return None
    settings = form.settings(base, fitted.n_tables)
    if settings != guessed:
        judged = _judge(evaluator, settings, best)
    return _sum(form, settings, judged, evaluator)


def _sum(
    form: EnsembleConfig,
    settings: TrainSettings,
    judged: Sequence[Judgement],
    evaluator: Evaluator,
) -> JudgedSum:
    return JudgedSum(
        settings,
        tuple(one.error for one in judged),
        tuple(one.choice for one in judged),
        evaluator.priced(settings).price,
        losses=losses_of(judged),
        form=form,
    )


def _judge(
    evaluator: Evaluator, settings: TrainSettings, best: JudgedSum | None
) -> tuple[Judgement, ...]:
    """Evaluate boosted tables on fold after fold until they are eliminated."""
    judged: list[Judgement] = []
    for one in evaluator.judgements(settings):
        judged.append(one)
        if best is not None and _is_behind(losses_of(judged), best, evaluator.given):
            break
    return tuple(judged)


def _competes(
    form: EnsembleConfig,
    n_tables: int,
    judged: Sequence[Judgement],
    room: Capacity,
    best: JudgedSum,
    *,
    is_better: bool,
) -> bool:
    """Return whether tables are better, faster and the leader, or fast enough for their losses."""
    if losses_of(judged).mean() < _mean(best):
        return True
    by = room.time(form, n_tables) / _time(best)
    if by < FASTER and is_better:
        return True
    assert best.losses is not None
    losses = losses_of(judged)
    return by < min(FASTER, time_ratio(losses, best.losses[: len(losses)]))


def _is_behind(losses: FloatArray, best: JudgedSum, given: SearchInput) -> bool:
    """Return whether boosted tables are hopelessly worse than the best on the same units."""
    assert best.losses is not None
    than = best.losses[: len(losses)]
    if given.dataset.split.is_random:
        return is_worse(losses, than, HOPELESS)
    ends = np.cumsum([fold.n_units for fold in given.folds])
    by_fold = [part.sum() for part in np.split(losses - than, ends[ends < len(losses)])]
    return is_worse(np.array(by_fold), np.zeros(len(by_fold)), HOPELESS)


def _may_get_close(one: JudgedSum, best: JudgedSum, given: SearchInput) -> bool:
    assert one.losses is not None
    assert best.losses is not None
    is_whole = len(one.losses) == len(best.losses)
    return is_whole and not _is_behind(one.losses, best, given)


def _mean(one: JudgedSum) -> float:
    assert one.losses is not None
    return float(one.losses.mean())


def _time(one: JudgedSum) -> float:
    return float("inf") if one.price.slowest is None else float(one.price.slowest)
