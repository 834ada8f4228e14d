"""Quantized networks in several forms, of which rows held out choose one."""

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np

from bncc.baselines.freeze import freeze_network
from bncc.baselines.plan import NetworkPlan
from bncc.baselines.sizing import Task
from bncc.baselines.trainer import NetworkSettings, train_network, use_one_thread
from bncc.data.splits import stratified_folds
from bncc.papers.folds import Fold
from bncc.papers.request import Advance, Effort
from bncc.papers.training import N_SPLITS, Judged
from bncc.papers.training_log import BASELINES, TrainingLog

HELD = 0
"""Of the `N_SPLITS` parts of the training rows, the one that judges forms."""


@dataclass(frozen=True)
class Trial:
    """One training of a network."""

    plan: NetworkPlan  # Its form and size
    settings: NetworkSettings  # How it is trained


class Best(NamedTuple):
    """What a search has found."""

    trial: Trial  # Of least error on rows held out; the first of equals
    # validation and test: Errors: on those rows, and after learning from all on the test rows;
    # means over folds
    validation: float
    test: float
    n_trials: int  # How many were tried


def task_of(fold: Fold) -> Task:
    """Return what networks are to decide on a fold."""
    return Task(tuple(fold.n_states), fold.n_classes)


def best_network(
    folds: Sequence[Fold], trials: Sequence[Trial], effort: Effort, advance: Advance
) -> Best:
    """Train all trials without the rows held out, and the best of them on all rows."""
    log = TrainingLog(effort.log, BASELINES)
    n = len(trials) + len(folds)
    errors = []
    with _ready(folds, effort.jobs) as run:
        judging = [(0, trial, True) for trial in trials]
        for k, judged in enumerate(_all(folds, judging, run, log)):
            errors.append(judged.error)
            said = f"{k + 1} of {len(trials)}, best {100 * min(errors):.2f} %"
            advance((k + 1) / n, said)
        best = trials[int(np.argmin(errors))]
        learning = [(f, best, False) for f in range(len(folds))]
        tests = [judged.error for judged in _all(folds, learning, run, log)]
    advance(1.0, "")
    return Best(best, min(errors), float(np.mean(tests)), len(trials))


_Work = tuple[int, Trial, bool]
_Run = Callable[[Sequence[_Work]], Iterator[Judged]]


def _all(
    folds: Sequence[Fold], work: Sequence[_Work], run: _Run, log: TrainingLog
) -> Iterator[Judged]:
    """Yield what comes of trainings in their order, those that are known without training."""
    keys = [_key(folds[f], trial, is_judged) for f, trial, is_judged in work]
    unknown = {key: one for one, key in zip(work, keys, strict=True) if key not in log}
    fresh = run(list(unknown.values()))
    for key in keys:
        if key not in log:
            log.add(key, next(fresh))
        yield log[key]


def _key(fold: Fold, trial: Trial, is_judged: bool) -> str:
    values = {**asdict(trial), "rows": fold.digest, "held": is_judged}
    return sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]


def train_one(fold: Fold, trial: Trial, is_judged: bool) -> Judged:
    """Train a network and judge its integers."""
    use_one_thread()
    X, y, X_judge, y_judge = fold.X, fold.y, fold.X_test, fold.y_test
    if is_judged:
        held = stratified_folds(fold.y, N_SPLITS, 0) == HELD
        X, y, X_judge, y_judge = X[~held], y[~held], X[held], y[held]
    X = X.astype(np.int64)
    trained = train_network(trial.plan, X, y, tuple(fold.n_states), trial.settings)
    decided = freeze_network(trained, X).predict(X_judge.astype(np.int64))
    return Judged(float((decided != y_judge).mean()), trial.plan.parameter_bits)


_HELD: list[Sequence[Fold]] = []
"""What a worker was started with, so that no task carries the data."""


def _hold(folds: Sequence[Fold]) -> None:
    _HELD.append(folds)


@contextmanager
def _ready(folds: Sequence[Fold], jobs: int) -> Iterator[_Run]:
    """Yield what trains, in this process or in several."""
    if jobs == 1:
        yield lambda todo: (train_one(folds[f], trial, held) for f, trial, held in todo)
        return
    with ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_hold, initargs=(folds,)
    ) as pool:
        yield lambda todo: pool.map(_work, todo)


def _work(one: _Work) -> Judged:
    f, trial, is_judged = one
    return train_one(_HELD[-1][f], trial, is_judged)
