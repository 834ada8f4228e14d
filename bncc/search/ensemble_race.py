"""Race of boosted tables for a budget: each form against the best so far, fold by fold."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bncc._types import FloatArray
from bncc.search.capacity import Capacity
from bncc.search.ensemble_configs import EnsembleConfig, neighbors
from bncc.search.evaluation import Evaluation, Evaluator, Judgement
from bncc.train.settings import TrainSettings

TRIED_AT_LEAST = (
    EnsembleConfig(rows=8),
    EnsembleConfig(rows=16),
    EnsembleConfig(rows=32),
    EnsembleConfig(rows=16, refit="soft"),
)
HOPELESS = 2.0
"""Standard errors behind the best at which the evaluation of a form stops."""


@dataclass(frozen=True, kw_only=True)
class JudgedSum(Evaluation):
    """Boosted tables that fit, with the data for comparisons with later ones."""

    form: EnsembleConfig  # Form of its tables
    # On the first folds, or on all of them unless the form is eliminated
    judgements: tuple[Judgement, ...] = field(default=(), repr=False, compare=False)


def judged_sums(evaluator: Evaluator) -> Iterator[JudgedSum]:
    """Try boosted tables of several forms, then neighbors of the best until none is better."""
    room, dataset, folds = Capacity(evaluator), evaluator.given.dataset, evaluator.given.folds
    best: JudgedSum | None = None
    seen: set[EnsembleConfig] = set()
    new = list(TRIED_AT_LEAST)
    while new:
        for form in new:
            one = _judged(form, room, evaluator, best)
            if one is not None:
                best = one if best is None else min(best, one, key=lambda judged: judged.order)
                yield replace(one, judgements=())  # only those of the best are needed
        seen.update(new)
        beside = neighbors(
            best.form if best else TRIED_AT_LEAST[0],
            len(dataset.classes),
            are_numbers=folds[0].are_numbers,
        )
        new = [form for form in beside if form not in seen]


def _judged(
    form: EnsembleConfig, room: Capacity, evaluator: Evaluator, best: JudgedSum | None
) -> JudgedSum | None:
    """Return boosted tables of a form; None if none fit, or they cannot beat the best."""
    n_tables = room.guess(form)
    # Learning is faster than building: forms that are not better are not measured.
    base = evaluator.given.base
    guessed = form.settings(base, n_tables)
    judged = _judge(evaluator, guessed, best)
    if best is not None and len(judged) < len(evaluator.given.folds):
        return None
    if best is not None and room.knows(form) and not _is_better(judged, best):
        return None
    fitted = room.fitted(form, n_tables)
    if fitted is None:
        return None
    settings = form.settings(base, fitted.n_tables)
    if settings != guessed:
        judged = _judge(evaluator, settings, best)
    return JudgedSum(
        settings,
        tuple(one.error for one in judged),
        tuple(one.choice for one in judged),
        fitted.price,
        form=form,
        judgements=judged,
    )


def _judge(
    evaluator: Evaluator, settings: TrainSettings, best: JudgedSum | None
) -> tuple[Judgement, ...]:
    """Evaluate boosted tables on fold after fold until they are eliminated."""
    judged: list[Judgement] = []
    for one in evaluator.judgements(settings):
        judged.append(one)
        if _is_hopeless(judged, best):
            break
    return tuple(judged)


def _losses(judged: Sequence[Judgement]) -> FloatArray:
    return np.concatenate([one.losses for one in judged])


def _is_better(judged: Sequence[Judgement], best: JudgedSum) -> bool:
    return bool(_losses(judged).mean() < _losses(best.judgements).mean())


def _is_hopeless(judged: Sequence[Judgement], best: JudgedSum | None) -> bool:
    """Return whether boosted tables are significantly worse than the best on the same rows."""
    if best is None:
        return False
    more = _losses(judged) - _losses(best.judgements[: len(judged)])
    return bool(more.mean() > HOPELESS * more.std() / np.sqrt(len(more)))
