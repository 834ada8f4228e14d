"""Error of a training procedure by cross-validation: what new readings can expect of its model."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bncc._types import IntArray
from bncc.data.dataset import Dataset
from bncc.train.checkpoint.callbacks import News, Progress
from bncc.train.evaluation import decided, judged_record
from bncc.train.holdout import tells_apart
from bncc.train.interrupts import StopRequest
from bncc.train.settings import TrainSettings
from bncc.train.train_model import TrainResult, model_alone
from bncc.train.weights import counting_rows

DEFAULT_FOLDS = 5

Tell = Callable[[float], None]
"""Told of the share that is done."""


class _AbandonedError(Exception):
    """An early end was asked for."""


def cross_validated(
    result: TrainResult,
    dataset: Dataset,
    settings: TrainSettings,
    n_folds: int,
    tell: Tell | None = None,
    stop: StopRequest | None = None,
) -> TrainResult:
    """
    Measure the error of the training that led to a model, and enter it in the model's record.

    The whole procedure is repeated without each fold in turn, its own choices by validation rows
    among the rest included, and decides the rows of the fold. Folds are dealt as the data set's
    split rule says. The record gets ``error_cross_validation`` and ``folds``; the confusion
    matrix, the recall and the interval become those of all rows, each decided once.
    """
    dataset = counting_rows(dataset)
    n_folds = min(n_folds, dataset.split.most_folds(dataset.n_rows))
    if n_folds < 2:
        return result
    fold = dataset.split.folds(dataset.y, n_folds, settings.seed)
    n_folds = int(fold.max()) + 1
    decisions = np.zeros(dataset.n_rows, dtype=np.int64)
    try:
        for k in range(n_folds):
            held, rest = (dataset.take(np.flatnonzero(rows)) for rows in (fold == k, fold != k))
            progress = _part(tell, stop, k, n_folds)
            decisions[fold == k] = _decisions(rest, held, settings, progress)
    except _AbandonedError:
        return result
    judged = judged_record(
        dataset.y, decisions, len(dataset.classes), dataset.split, "cross-validation"
    )
    error = float((decisions != dataset.y).mean())
    record = {"error_cross_validation": error, "folds": n_folds, **judged}
    model = replace(result.model, training={**result.model.training, **record})
    return replace(result, model=model)


def _decisions(
    rest: Dataset, held: Dataset, settings: TrainSettings, progress: Progress
) -> IntArray:
    """Return what is decided of the rows held out, by a training on the rest."""
    if len(np.unique(rest.y)) < 2 or not tells_apart(rest):
        return np.full(held.n_rows, np.bincount(rest.y).argmax())
    return decided(model_alone(rest, settings, progress), held)[1]


def _part(tell: Tell | None, stop: StopRequest | None, k: int, n_folds: int) -> Progress:
    """Return what hears of the training without a fold, and leaves it where that is asked."""

    def report(done: int, total: int, news: News) -> None:
        if stop is not None and stop.is_wanted:
            raise _AbandonedError
        if tell is not None:
            tell((k + done / total) / n_folds)

    report(0, 1, None)
    return report
