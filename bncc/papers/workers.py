"""Trainings of a search, in this process or in several."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

from bncc.papers.folds import Fold
from bncc.papers.training import Judged, train_and_judge
from bncc.train.settings import TrainSettings

Training = tuple[int, TrainSettings, int | None]
"""Number of the fold, options, and the split of its training rows; None learns from all."""


@contextmanager
def workers(
    folds: Sequence[Fold], jobs: int, n_restarts: int = 1
) -> Iterator[Callable[[Sequence[Training]], Iterator[Judged]]]:
    """Hold processes ready to train."""
    if jobs == 1:
        yield lambda todo: (_judged_of(folds, training, n_restarts) for training in todo)
        return
    with ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_hold, initargs=(folds, n_restarts)
    ) as pool:
        yield lambda todo: pool.map(_judged, todo)


_HELD: list[tuple[Sequence[Fold], int]] = []
"""What a worker was started with, so that no task carries the data."""


def _hold(folds: Sequence[Fold], n_restarts: int) -> None:
    _HELD.append((folds, n_restarts))


def _judged(training: Training) -> Judged:
    folds, n_restarts = _HELD[-1]
    return _judged_of(folds, training, n_restarts)


def _judged_of(folds: Sequence[Fold], training: Training, n_restarts: int) -> Judged:
    f, settings, split = training
    return train_and_judge(folds[f], settings, split, n_restarts if split is None else 1)
