"""
Search for gradient descent settings: chosen on validation rows, reported on test rows.

Some settings are sampled at random, then some near the best so far, round by round. They are
evaluated in stages, by successive halving: all of them on one split of the training rows, the
better ones on more splits, the best on all. One split distinguishes settings only up to its
standard error, half a point on letter, and the lowest of many errors on it is mostly luck.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil
from pathlib import Path

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.papers.draw import draw_near, draw_settings
from bncc.papers.experiments import Effort
from bncc.papers.folds import N_SPLITS, Fold
from bncc.papers.runs import Kept, Log, Result, kept
from bncc.papers.training import TRAINER, train_and_judge, training_key
from bncc.progress import Progress, silence
from bncc.train.settings import TrainSettings

Training = tuple[int, TrainSettings, int | None, int]
"""Number of the fold, options, the split of its training rows, restarts; None trains on all."""


@dataclass(frozen=True)
class Stage:
    """A round of selection."""

    share: float  # Fraction of all settings that enter: those with the lowest error so far
    # Evaluation splits, 1 .. `N_SPLITS`, including those of the stage before
    n_splits: int

    def n_entrants(self, n_drawn: int) -> int:
        """Return the number of settings that enter."""
        return min(n_drawn, max(FEWEST, ceil(self.share * n_drawn)))


STAGES = (Stage(1.0, 1), Stage(0.25, 3), Stage(0.1, N_SPLITS))
FEWEST = 3
"""Smallest number of settings in a stage, if there are as many."""
ROUNDS, PARENTS = 4, 5
"""Number of rounds with settings near the best, and how many of the best are used."""
ONE_NEAR_OF = 3
"""Settings per setting that is sampled near the best. Compared with no such settings, with 24 to 30
settings in all, the lowest mean validation error with one in two differed by 0.33, 0.22, 0, 0,
-0.06 and -0.09 points in six searches on letter and usps; with one in three by 0, 0 and -0.01."""


@dataclass(frozen=True)
class Found:
    """Result of a search; errors are fractions, means over folds."""

    # Settings with the lowest validation error in the last stage, the first on ties
    settings: TrainSettings
    # validation and test: Errors of the best: the mean over the splits, and on the test rows after
    # training on all others
    validation: float
    test: float
    least_test: float  # Lowest test error of all settings in the last stage, as papers report it
    n_tested: int  # Number of these settings
    n_drawn: int  # Number of settings in the first stage
    entries: tuple[int, ...]  # Table entries of the models with error `test`, by fold

    @property
    def note(self) -> str:
        """Description of the search; errors in percent."""
        return (
            f"chosen of {self.n_drawn} runs by validation rows ({100 * self.validation:.2f}); "
            f"least on test of the {self.n_tested} learned again: {100 * self.least_test:.2f}"
        )


def explore(
    folds: Sequence[Fold],
    base: TrainSettings,
    n_runs: int,
    effort: Effort,
    advance: Progress = silence,
    *,
    varied: Callable[[Sequence[TrainSettings]], Sequence[TrainSettings]] = tuple,
    n_restarts: int = 1,
) -> Found:
    """Sample settings, including some near the best, and choose."""
    n_near = n_runs // ONE_NEAR_OF
    return search(
        folds, varied(draw_settings(base, n_runs - n_near)), n_near=n_near, n_restarts=n_restarts,
        jobs=effort.jobs, log=effort.log, advance=advance,
    )  # fmt: skip


def search(
    folds: Sequence[Fold],
    drawn: Sequence[TrainSettings],
    *,
    n_near: int = 0,
    stages: Sequence[Stage] = STAGES,
    n_restarts: int = 1,
    jobs: int = 1,
    log: Path | None = None,
    advance: Progress = silence,
) -> Found:
    """Evaluate settings in stages, and choose."""
    n = len(drawn) + n_near
    tell = _counter(advance, len(folds) * _count(stages, n))

    def key(training: Training) -> str:
        return training_key(folds[training[0]], *training[1:])

    with kept(_trained, folds, key, Log(log, TRAINER), jobs) as train:
        trial = _Trial(len(folds), train, tell, n_restarts)
        entrants, errors = _explored(trial, drawn, n_near, stages[0].n_splits)
        for stage in stages[1:]:
            best = np.sort(_ranked(errors)[: stage.n_entrants(n)])
            entrants, errors = [entrants[k] for k in best], errors[best]
            more = trial.errors(entrants, range(errors.shape[1], stage.n_splits))
            errors = np.hstack([errors, more])
        tests = trial.errors(entrants, (None,))[:, 0]
    chosen = _ranked(errors)[0]
    return Found(
        settings=entrants[chosen],
        validation=float(errors[chosen].mean()),
        test=float(tests[chosen]),
        least_test=float(tests.min()),
        n_tested=len(entrants),
        n_drawn=n,
        entries=trial.entries(entrants[chosen]),
    )


def _trained(folds: Sequence[Fold], training: Training) -> Result:
    f, settings, split, n_restarts = training
    return train_and_judge(folds[f], settings, split, n_restarts)._asdict()


@dataclass(frozen=True)
class _Trial:
    """Trainer of settings without a known result."""

    n_folds: int
    train: Kept[Training]
    tell: Callable[..., None]
    n_restarts: int

    def errors(self, entrants: Sequence[TrainSettings], splits: Sequence[int | None]) -> FloatArray:
        """Return errors, (n_entrants, n_splits), means over folds."""
        found = self.train(self._trainings(entrants, splits), self.tell)
        shape = (self.n_folds, len(entrants), len(splits))
        errors = np.reshape([judged["error"] for judged in found], shape)
        return np.asarray(errors.mean(axis=0))

    def entries(self, settings: TrainSettings) -> tuple[int, ...]:
        """Return table entries by fold, for settings trained on all training rows."""
        found = self.train(self._trainings([settings], (None,)), lambda *_: None)
        return tuple(judged["entries"] for judged in found)

    def _trainings(
        self, entrants: Sequence[TrainSettings], splits: Sequence[int | None]
    ) -> list[Training]:
        return [
            (f, settings, split, self.n_restarts if split is None else 1)
            for f, settings, split in product(range(self.n_folds), entrants, splits)
        ]


def _explored(
    trial: _Trial, drawn: Sequence[TrainSettings], n_near: int, n_splits: int
) -> tuple[list[TrainSettings], FloatArray]:
    """Evaluate samples, and more near the best; return all, and errors by setting and split."""
    entrants, errors = list(drawn), trial.errors(drawn, range(n_splits))
    rng = np.random.default_rng(0)
    for part in np.array_split(np.arange(n_near), ROUNDS):
        best = _ranked(errors)[:PARENTS]
        new = [draw_near(entrants[best[k % len(best)]], rng) for k in part]
        if new:
            entrants += new
            errors = np.vstack([errors, trial.errors(new, range(n_splits))])
    return entrants, errors


def _ranked(errors: FloatArray) -> IntArray:
    """Return row numbers by mean error, the first of equals first."""
    return np.argsort(errors.mean(axis=1), kind="stable")


def _count(stages: Sequence[Stage], n_drawn: int) -> int:
    """Return the number of trainings per fold, including those on all training rows."""
    entrants = [stage.n_entrants(n_drawn) for stage in stages]
    splits = np.diff([stage.n_splits for stage in stages], prepend=0)
    return int(np.dot(entrants, splits)) + entrants[-1]


def _counter(advance: Progress, n: int) -> Callable[..., None]:
    """Return the callback for each training."""
    done = 0

    def tell(*_: object) -> None:
        nonlocal done
        done += 1
        advance(done / n, f"training {done} of {n}")

    return tell
