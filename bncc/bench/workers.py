"""Trainings of a search, in this process or in several."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

from bncc.bench.folds import Fold
from bncc.bench.training import train_error
from bncc.train.settings import TrainSettings

Training = tuple[int, TrainSettings, int | None]
"""Number of the fold, options, and the split of its training rows; None learns from all."""


@contextmanager
def workers(
    folds: Sequence[Fold], jobs: int
) -> Iterator[Callable[[Sequence[Training]], Iterator[float]]]:
    """Hold processes ready to train.

    Parameters
    ----------
    folds : sequence of Fold
        The data.
    jobs : int
        Processes; 1 trains in this one.

    Yields
    ------
    callable
        Takes trainings and yields the error of each, in their order.
    """
    if jobs == 1:
        yield lambda todo: (train_error(folds[f], s, split) for f, s, split in todo)
        return
    with ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_hold, initargs=(folds,)
    ) as pool:
        yield lambda todo: pool.map(_error, todo)


_HELD: list[Sequence[Fold]] = []
"""What a worker was started with, so that no task carries the data."""


def _hold(folds: Sequence[Fold]) -> None:
    _HELD.append(folds)


def _error(training: Training) -> float:
    f, settings, split = training
    return train_error(_HELD[-1][f], settings, split)
