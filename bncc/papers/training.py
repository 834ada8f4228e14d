"""One training of a search: its error, the entries of its tables, and its fingerprint."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import NamedTuple

import numpy as np

from bncc._types import IntArray
from bncc.errors import ToolchainError
from bncc.fixed_point import QFormat, rounded
from bncc.native import DESCENT
from bncc.papers.folds import Fold
from bncc.papers.runs import Program, key_of
from bncc.structure.counts import family_rows
from bncc.structure.graph import Structure, table_entries
from bncc.toolchain.library import native_library
from bncc.train.formats import formats_of
from bncc.train.gradient.engine import Learned
from bncc.train.learn_network import Task, fit_in_turn, fit_jointly
from bncc.train.maximum_likelihood import LogTables
from bncc.train.settings import TrainSettings


def _engine() -> str:
    """Return the training engine where the settings leave it open: C if it can be built."""
    try:
        native_library(DESCENT)
    except ToolchainError:
        return "torch"
    return "native"


TRAINER = Program(
    "bncc's trainer",
    (
        "train", "native", "structure", "discretize", "fixed_point.py", "toolchain/library.py",
        "data/splits.py", "papers/folds.py", "papers/training.py",
    ),
    _engine,
)  # fmt: skip
"""Sources that determine the result of a training."""


class Judged(NamedTuple):
    """Result of a training for a search."""

    error: float  # Error rate
    entries: int  # Entries of all tables and the prior, see `bncc.structure.graph.table_entries`


def train_and_judge(
    fold: Fold, settings: TrainSettings, split: int | None, n_restarts: int = 1
) -> Judged:
    """Train and evaluate the integer model."""
    (fmt,) = formats_of(settings)
    part = fold if split is None else fold.held_out(split)

    def error(learned: Learned, X: IntArray, y: IntArray) -> float:
        structure, tables = learned
        return float((decide(X, structure, fold.n_states, tables) != y).mean())

    learned = []
    for again in range(n_restarts):
        seeded = replace(settings, seed=settings.seed + again)
        task = Task(part.X, part.y, fold.n_states, fold.n_classes, seeded)
        structure, (prior, tables) = _learned(task, fmt)
        rounded_tables = rounded(prior, fmt), tuple(rounded(table, fmt) for table in tables)
        learned.append((structure, rounded_tables))
    best = min(learned, key=lambda model: error(model, part.X, part.y))
    entries = table_entries(best[0], fold.n_states, fold.n_classes)
    return Judged(error(best, part.X_test, part.y_test), entries)


def training_key(
    fold: Fold, settings: TrainSettings, split: int | None, n_restarts: int = 1
) -> str:
    """Return the fingerprint of a training."""
    return key_of(asdict(settings), fold.digest, split, n_restarts)


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
