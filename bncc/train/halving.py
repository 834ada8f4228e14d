"""
Successive halving: settings are evaluated in stages, the better ones on more splits.

One split distinguishes settings only up to its standard error, so the lowest of many errors on it
is mostly luck; all splits for all settings would take several times as long.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TypeVar

import numpy as np

from bncc._types import FloatArray, IntArray

Setting = TypeVar("Setting")
N_SPLITS = 5
"""Number of splits of the last stage."""
FEWEST = 3
"""Smallest number of settings in a stage, if there are as many."""


@dataclass(frozen=True)
class Stage:
    """A round of selection."""

    share: float  # Fraction of all settings that enter: those with the lowest error so far
    n_splits: int  # Evaluation splits, including those of the stage before

    def n_entrants(self, n_all: int) -> int:
        """Return the number of settings that enter."""
        return min(n_all, max(FEWEST, ceil(self.share * n_all)))


STAGES = (Stage(1.0, 1), Stage(0.25, 3), Stage(0.1, N_SPLITS))


def ranked(errors: FloatArray) -> IntArray:
    """Return row numbers of (n_settings, n_splits) by mean error, the first of equals first."""
    return np.argsort(errors.mean(axis=1), kind="stable")


def n_evaluations(n_all: int, stages: Sequence[Stage] = STAGES, most: int = N_SPLITS) -> int:
    """Return the number of evaluations, one per setting and split, with `most` splits at most."""
    splits = np.diff([min(most, stage.n_splits) for stage in stages], prepend=0)
    return int(np.dot([stage.n_entrants(n_all) for stage in stages], splits))


def halved(
    settings: Sequence[Setting],
    errors: FloatArray,
    evaluate: Callable[[Sequence[Setting], range], FloatArray],
    stages: Sequence[Stage] = STAGES[1:],
    most: int = N_SPLITS,
) -> tuple[list[Setting], FloatArray]:
    """
    Return the settings of the last stage, in their order, and their errors on all splits.

    `errors` are those on the splits so far, (n_settings, n_splits); `evaluate` returns those of
    some settings on some more splits, of which there are `most`.
    """
    kept, n_all = list(settings), len(settings)
    for stage in stages:
        best = np.sort(ranked(errors)[: stage.n_entrants(n_all)])
        kept, errors = [kept[k] for k in best], errors[best]
        splits = range(errors.shape[1], min(most, stage.n_splits))
        if splits:
            errors = np.hstack([errors, evaluate(kept, splits)])
    return kept, errors
