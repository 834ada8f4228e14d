"""Trainings of a search, in this process or in several."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

from bncc.bench.folds import Fold
from bncc.bench.training import train_error
from bncc.train.settings import TrainSettings

Training = tuple[int, int, int | None]
"""Fold, settings, and the split of the fold's training rows; None learns from all of them."""


@contextmanager
def workers(
    folds: Sequence[Fold], drawn: Sequence[TrainSettings], jobs: int
) -> Iterator[Callable[[Sequence[Training]], Iterator[float]]]:
    """Hold processes ready to train.

    Parameters
    ----------
    folds : sequence of Fold
        The data.
    drawn : sequence of TrainSettings
        The options.
    jobs : int
        Processes; 1 trains in this one.

    Yields
    ------
    callable
        Takes trainings and yields the error of each, in their order.
    """
    if jobs == 1:
        yield lambda todo: (train_error(folds[f], drawn[s], split) for f, s, split in todo)
        return
    with ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_hold, initargs=(folds, drawn)
    ) as pool:
        yield lambda todo: pool.map(_error, todo)


_HELD: list[tuple[Sequence[Fold], Sequence[TrainSettings]]] = []
"""What a worker was started with, so that no task carries the data."""


def _hold(folds: Sequence[Fold], drawn: Sequence[TrainSettings]) -> None:
    _HELD.append((folds, drawn))


def _error(training: Training) -> float:
    folds, drawn = _HELD[-1]
    f, s, split = training
    return train_error(folds[f], drawn[s], split)
