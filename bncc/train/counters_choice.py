"""Choice of bins of margins, and the counters to expect of rows that a training has not seen."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.discretize.feature import states_of
from bncc.model import reference
from bncc.model.confidence import MAX_MARGIN, margins_of
from bncc.model.counters import MAX_BINS, Counters, Counts
from bncc.model.filter import rows_of_sequences
from bncc.model.unknown import UNKNOWN
from bncc.train.repeats import HeldOut
from bncc.train.train_model import TrainResult

Shares = Callable[[IntArray, IntArray], FloatArray]
"""From decisions on all rows and the numbers of some to shares of these, zeros without any."""


def with_counters(result: TrainResult, held: HeldOut) -> TrainResult:
    """
    Return a training whose model has counters, with those to expect of rows that are new to it.

    Trainings without a fold are other models, and the few values of their margins are not those of
    the model. So shares are those of the model on its training rows, corrected by how those of a
    training without a fold differ between this fold and its own training rows.

    Parameters
    ----------
    result : TrainResult
        A training on all rows, with its rule for unknown readings if it has one.
    held : HeldOut
        Decisions on these rows by trainings without a fold.
    """
    model, rows = result.model, held.dataset
    scores = reference.scores(model, states_of(model.features, rows.table))
    decisions, margins = scores.argmin(axis=1), np.minimum(margins_of(scores), MAX_MARGIN)
    limits = bins_of(margins)
    below = np.array([(margins < limit).mean() for limit in limits[1:]])
    bins = np.diff(np.concatenate([[0.0], unseen_ranks(held, below), [1.0]]))
    classes = _unseen(held, decisions, partial(_class_shares, model.n_classes))
    counts = Counts(_whole(classes, rows.n_rows), _whole(bins, rows.n_rows))
    if held.sequences is not None:
        steps = _unseen(held, decisions, partial(_step_shares, held.sequences))
        n_steps = rows.n_rows - len(np.unique(held.sequences))
        stays, switches = _whole(steps, n_steps)
        counts = replace(counts, stays=stays, switches=switches)
    if model.unknown is not None:
        # Those by ranges of other folds, as the limit was chosen
        counts = replace(counts, unknown=model.training[UNKNOWN]["held_out"]["false_alarms"])
    return replace(result, model=replace(model, counters=Counters(limits, counts)))


def bins_of(margins: IntArray) -> tuple[int, ...]:
    """
    Return the least margin of each of a few bins of about as many rows, ascending from 0.

    Shapes: `margins` (n,) int, n > 0.
    """
    shares = np.arange(1, MAX_BINS) / MAX_BINS
    quantiles = np.quantile(margins, shares, method="inverted_cdf")
    return (0, *(int(limit) for limit in np.unique(quantiles) if limit > 0))


def unseen_ranks(held: HeldOut, ranks: FloatArray) -> FloatArray:
    """
    Return the shares of new rows whose margins are below some ranks among those of training rows.

    The rank of a row of a fold is that of its margin among those of the training rows of the
    training without the fold, spread evenly over equal margins.

    Shapes: `ranks` (n_ranks,) float64, ascending; returns likewise.
    """
    found = np.zeros(len(ranks))
    for k, training in enumerate(held.trainings):
        is_new = held.folds == k
        seen = np.sort(training.margins[~is_new])
        low, high = (
            np.searchsorted(seen, training.margins[is_new], side=side) / len(seen)
            for side in ("left", "right")
        )
        # A margin that no training row has is at a single rank.
        width = np.maximum(high - low, 1e-12)[:, None]
        found += np.clip((ranks - low[:, None]) / width, 0, 1).sum(axis=0)
    return found / len(held.folds)


def _unseen(held: HeldOut, decisions: IntArray, shares: Shares) -> FloatArray:
    """Return the shares of decisions on training rows, corrected for rows that are new."""
    found = shares(decisions, np.arange(len(decisions)))
    for k, training in enumerate(held.trainings):
        new, seen = (np.flatnonzero(part) for part in (held.folds == k, held.folds != k))
        of_new, of_seen = (shares(training.decisions, rows) for rows in (new, seen))
        if of_new.any() and of_seen.any():
            found = found + len(new) / len(decisions) * (of_new - of_seen)
    return np.clip(found, 0, None)


def _class_shares(n_classes: int, decisions: IntArray, rows: IntArray) -> FloatArray:
    """Return the share of each class."""
    return np.bincount(decisions[rows], minlength=n_classes) / len(rows)


def _step_shares(sequences: IntArray, decisions: IntArray, rows: IntArray) -> FloatArray:
    """Return the shares of decisions that are equal to the one before, and that differ from it."""
    changes = [np.diff(decisions[rows][part]) != 0 for part in rows_of_sequences(sequences[rows])]
    of_steps = np.concatenate(changes)
    if not len(of_steps):
        return np.zeros(2)
    return np.array([1 - of_steps.mean(), of_steps.mean()])


def _whole(shares: FloatArray, n: int) -> tuple[int, ...]:
    """Return whole numbers in the ratio of shares, whose sum is n."""
    total = shares.sum()
    ends = np.rint(n * np.cumsum(shares) / total) if total > 0 else np.zeros(len(shares))
    return tuple(np.diff(ends, prepend=0).astype(np.int64).tolist())
