"""Choice of a confidence on held-out rows: a calibrated table of levels, and a least margin."""

from dataclasses import replace
from itertools import pairwise
from math import ceil, log

import numpy as np

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.data.dataset import Dataset
from bncc.discretize.feature import states_of
from bncc.errors import DataError, OptionError
from bncc.model import reference
from bncc.model.confidence import (
    CONFIDENCE,
    LEVELS,
    LIKELIHOOD,
    MAX_MARGIN,
    Confidence,
    ConfidenceEffect,
    effect_of,
    error_bound,
    margins_of,
)
from bncc.model.model import Model
from bncc.train.repeats import HeldOut, with_effects
from bncc.train.train_model import TrainResult

LEAST_SHARE, LEAST_ROWS = 0.01, 30
"""Fewest rows of a level, as a fraction and as a number: of fewer, a share is mostly noise."""
COVERAGES = 20
"""Fractions of accepted rows that are compared: 1/20, 2/20, ... of the rows of largest margin."""
RISK = (1 - LIKELIHOOD) / COVERAGES
"""Risk of each bound, such that all bounds hold at once (Bonferroni), whichever is chosen."""


def check_max_error(max_error: float | None, n_rows: int | None = None) -> None:
    """Refuse a largest error that is none, or that no decision on this many rows can show."""
    if max_error is None:
        return
    if not 0 < max_error < 1:
        raise OptionError(f"the largest error is {max_error:g}; use a fraction such as 0.02")
    if n_rows is not None and error_bound(0, n_rows, RISK) > max_error:
        n_needed = ceil(log(RISK) / log(1 - max_error))
        raise DataError(
            f"{n_rows} rows cannot show an error of at most {100 * max_error:g} %, even without a "
            f"wrong decision; use {n_needed} rows, or a larger --max-error"
        )


def with_confidence(
    result: TrainResult,
    held: HeldOut,
    *,
    max_error: float | None = None,
    test: Dataset | None = None,
) -> TrainResult:
    """
    Return a training whose model has a confidence, with its effect in the model's record.

    Parameters
    ----------
    result : TrainResult
        A training on all rows.
    held : HeldOut
        Scores of these rows by trainings without them.
    max_error : float or None
        Largest error of accepted decisions; None accepts all.
    test : Dataset or None
        Test rows.
    """
    model = result.model
    margins, right = held.margins_in(model.q_format.frac_bits), held.decisions == held.y
    confidence = confidence_of(margins, right, max_error)
    model = replace(model, confidence=confidence)
    effects = {
        # On the rows of the choice, the bound is the one that holds whichever margin is chosen.
        "held_out": effect_of(confidence, margins, right, RISK),
        "test": None if test is None else effect_on(model, test),
    }
    return replace(result, model=with_effects(model, CONFIDENCE, effects))


def effect_on(model: Model, dataset: Dataset) -> ConfidenceEffect | None:
    """Return how good a model's confidence is on rows; None without one."""
    if model.confidence is None:
        return None
    scores = reference.scores(model, states_of(model.features, dataset.table))
    right = scores.argmin(axis=1) == dataset.with_classes(model.classes).y
    return effect_of(model.confidence, margins_of(scores), right)


def confidence_of(
    margins: IntArray, right: BoolArray, max_error: float | None = None
) -> Confidence:
    """
    Return the confidence of decisions by their margins.

    The share of right decisions is made monotonic in the margin by isotonic regression, whose
    steps are merged until few are left.

    Shapes: `margins` (n,) int, `right` (n,) bool.
    """
    steps = _levels(*_isotonic(margins, right))
    least = 0 if max_error is None else least_margin(margins, right, max_error)
    counts, hits, starts = (np.array(part) for part in zip(*steps, strict=True))
    # Laplace's rule of succession; no level is certain, however many of its rows are right.
    percent = np.rint(100 * (hits + 1) / (counts + 2)).astype(np.int64)
    percent = np.clip(np.maximum.accumulate(percent), 1, 99)
    is_new = np.r_[True, np.diff(percent) > 0]
    kept = np.minimum(starts[is_new], MAX_MARGIN).tolist()
    return Confidence((0, *kept[1:]), tuple(percent[is_new].tolist()), least)


def least_margin(margins: IntArray, right: BoolArray, max_error: float) -> int:
    """
    Return the smallest margin whose decisions have at most some error, with a bound that holds.

    It accepts the largest of several fractions of rows, those of the largest margins, for which the
    upper bound of the error is low enough. With a likelihood of 0.95 the bounds of all hold for
    rows that are exchangeable with these.
    """
    order = np.sort(margins)[::-1]
    for k in range(COVERAGES, 0, -1):
        least = int(order[ceil(k * len(order) / COVERAGES) - 1])
        accepted = margins >= least
        n, n_wrong = int(accepted.sum()), int((accepted & ~right).sum())
        if error_bound(n_wrong, n, RISK) <= max_error:
            return 0 if accepted.all() else least
    raise DataError(
        f"no margin keeps the error of accepted decisions at {100 * max_error:g} % on the "
        f"{len(margins)} held-out rows with 95 % confidence; raise --max-error, or train on more "
        "rows"
    )


def _isotonic(margins: IntArray, right: BoolArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return rows, right decisions and least margin of the steps of an isotonic regression."""
    from sklearn.isotonic import isotonic_regression

    starts, inverse = np.unique(margins, return_inverse=True)
    counts = np.bincount(inverse).astype(np.float64)
    hits = np.bincount(inverse, right)
    fitted = isotonic_regression(hits / counts, sample_weight=counts)
    first = np.flatnonzero(np.r_[True, np.diff(fitted) > 0])
    return np.add.reduceat(counts, first), np.add.reduceat(hits, first), starts[first]


def _levels(
    counts: FloatArray, hits: FloatArray, starts: IntArray
) -> list[tuple[float, float, int]]:
    """Merge neighbors, those that differ least first, until there are few, each of enough rows."""
    steps = [*zip(counts.tolist(), hits.tolist(), starts.tolist(), strict=True)]
    fewest = max(LEAST_ROWS, LEAST_SHARE * counts.sum())
    while len(steps) > 1:
        small = min(step[0] for step in steps) < fewest
        if len(steps) <= LEVELS and not small:
            break
        losses = []
        for k, (a, b) in enumerate(pairwise(steps)):
            if small and min(a[0], b[0]) >= fewest:
                continue
            gap = a[1] / a[0] - b[1] / b[0]
            losses.append((a[0] * b[0] / (a[0] + b[0]) * gap**2, k))
        k = min(losses)[1]
        a, b = steps[k : k + 2]
        steps[k : k + 2] = [(a[0] + b[0], a[1] + b[1], a[2])]
    return steps
