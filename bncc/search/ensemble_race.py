"""Sums of tables for a budget: form after form raced against the best so far, fold by fold."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bncc._types import BoolArray, FloatArray
from bncc.resources import Resources
from bncc.search.capacity import Capacity
from bncc.search.ensemble_configs import EnsembleConfig, neighbors
from bncc.search.evaluation import Evaluator
from bncc.train.settings import TrainSettings

TRIED_AT_LEAST = (
    EnsembleConfig(rows=8),
    EnsembleConfig(rows=16),
    EnsembleConfig(rows=32),
    EnsembleConfig(rows=16, refit="soft"),
)
HOPELESS = 2.0
"""Standard errors that a form may be behind the best before it is judged by no more rows."""


def order_of(errors: Sequence[float], price: Resources) -> tuple[int, float, int]:
    """Return what is least for the better of two sums: judged by more folds, of less error."""
    return -len(errors), sum(errors) / len(errors), price.flash


@dataclass(frozen=True, eq=False)
class Judged:
    """A sum that fits, and what it is wrong about."""

    form: EnsembleConfig  # Of its tables
    settings: TrainSettings  # What trains it
    price: Resources  # What it takes
    misses: tuple[BoolArray, ...]  # Of the first folds, all of them unless it is hopeless
    losses: tuple[FloatArray, ...]  # Of the same rows, in the measure of the choice

    @property
    def choice(self) -> tuple[float, ...]:
        """Mean loss of each fold."""
        return tuple(float(losses.mean()) for losses in self.losses)

    @property
    def errors(self) -> tuple[float, ...]:
        """Of each fold, 0 .. 1."""
        return tuple(float(misses.mean()) for misses in self.misses)


def judged_sums(evaluator: Evaluator) -> Iterator[Judged]:
    """Try sums of several forms, then those beside the best until none is better."""
    room, dataset, folds = Capacity(evaluator), evaluator.given.dataset, evaluator.given.folds
    best: Judged | None = None
    seen: set[EnsembleConfig] = set()
    new = list(TRIED_AT_LEAST)
    while new:
        for form in new:
            one = _judged(form, room, evaluator, best)
            if one is not None:
                best = one if best is None else min(best, one, key=_order)
                yield one
        seen.update(new)
        beside = neighbors(
            best.form if best else TRIED_AT_LEAST[0],
            len(dataset.classes),
            are_numbers=folds[0].are_numbers,
        )
        new = [form for form in beside if form not in seen]


def _judged(
    form: EnsembleConfig, room: Capacity, evaluator: Evaluator, best: Judged | None
) -> Judged | None:
    """Return a sum of a form; None where none fits, or it would be no better than the best."""
    n_tables = room.guess(form)
    # To learn is quicker than to build: what is not better is not worth a price.
    base = evaluator.given.base
    guessed = form.settings(base, n_tables)
    misses, losses = _judge(evaluator, guessed, best)
    if best is not None and len(misses) < len(evaluator.given.folds):
        return None
    if best is not None and room.knows(form) and not _is_better(losses, best):
        return None
    fitted = room.fitted(form, n_tables)
    if fitted is None:
        return None
    settings = form.settings(base, fitted.n_tables)
    if settings != guessed:
        misses, losses = _judge(evaluator, settings, best)
    return Judged(form, settings, fitted.price, misses, losses)


def _judge(
    evaluator: Evaluator, settings: TrainSettings, best: Judged | None
) -> tuple[tuple[BoolArray, ...], tuple[FloatArray, ...]]:
    """Return what a sum is wrong about and what it loses, fold after fold until it is hopeless."""
    misses: list[BoolArray] = []
    losses: list[FloatArray] = []
    for one in evaluator.judgements(settings):
        misses.append(one.misses)
        losses.append(one.losses)
        if _is_hopeless(losses, best):
            break
    return tuple(misses), tuple(losses)


def _is_better(losses: Sequence[FloatArray], best: Judged) -> bool:
    return bool(np.concatenate(losses).mean() < np.concatenate(best.losses).mean())


def _order(one: Judged) -> tuple[int, float, int]:
    return order_of(one.choice, one.price)


def _is_hopeless(losses: Sequence[FloatArray], best: Judged | None) -> bool:
    """Return whether a sum loses more than the best on the same rows, by more than chance."""
    if best is None:
        return False
    of_best = np.concatenate(best.losses[: len(losses)])
    more = np.concatenate(losses) - of_best
    return bool(more.mean() > HOPELESS * more.std() / np.sqrt(len(more)))
