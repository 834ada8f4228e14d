"""One training of a search: its error, and the entries of its tables."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bncc._types import IntArray
from bncc.data.splits import stratified_folds
from bncc.fixed_point import QFormat, rounded
from bncc.papers.folds import Fold
from bncc.structure.counts import family_rows
from bncc.structure.graph import Structure, table_entries
from bncc.train.gradient.engine import Learned
from bncc.train.learn_network import Task, fit_in_turn, fit_jointly
from bncc.train.maximum_likelihood import LogTables
from bncc.train.settings import TrainSettings
from bncc.train.train_model import formats_of

N_SPLITS = 5
"""Parts of a fold's training rows, the same for all settings; each can be held out to judge by."""


class Judged(NamedTuple):
    """What a search wants to know of a training."""

    error: float  # Fraction of wrong decisions
    entries: int  # Of all tables, the prior among them, see `bncc.structure.graph.table_entries`


def train_and_judge(
    fold: Fold, settings: TrainSettings, split: int | None, n_restarts: int = 1
) -> Judged:
    """Train and judge the integer model."""
    (fmt,) = formats_of(settings)
    X, y, judges, truth = fold.X, fold.y, fold.X_test, fold.y_test
    if split is not None:
        is_held = stratified_folds(fold.y, N_SPLITS, 0) == split
        X, y, judges, truth = fold.X[~is_held], y[~is_held], fold.X[is_held], y[is_held]

    def error(learned: Learned, X: IntArray, y: IntArray) -> float:
        structure, tables = learned
        return float((decide(X, structure, fold.n_states, tables) != y).mean())

    learned = []
    for again in range(n_restarts):
        seeded = replace(settings, seed=settings.seed + again)
        task = Task(X, y, fold.n_states, fold.n_classes, seeded)
        structure, (prior, tables) = _learned(task, fmt)
        rounded_tables = rounded(prior, fmt), tuple(rounded(table, fmt) for table in tables)
        learned.append((structure, rounded_tables))
    best = min(learned, key=lambda model: error(model, X, y))
    entries = table_entries(best[0], fold.n_states, fold.n_classes)
    return Judged(error(best, judges, truth), entries)


def _learned(task: Task, fmt: QFormat) -> Learned:
    learn = fit_jointly if task.settings.is_joint else fit_in_turn
    return learn(task, lambda *_: fmt, None)


def decide(
    X: IntArray, structure: Structure, n_states: Sequence[int], log_tables: LogTables
) -> IntArray:
    """
    Return the most probable class under log-probability tables, the smallest on ties.

    Shapes: `X` (n_samples, n_features) int; returns (n_samples,) int64, class indices.
    """
    log_prior, tables = log_tables
    log_joint = np.tile(log_prior, (len(X), 1))
    for i, table in enumerate(tables):
        log_joint += table[family_rows(X, structure, n_states, i)]
    return np.asarray(log_joint.argmax(axis=1))
