"""
Search of settings for ``--effort thorough``: successive halving on validation rows.

Settings near the recipe are sampled, and evaluated on one split of the rows; the better ones on
more splits. The budget counts trainings, never seconds, so that the result depends on the seed
alone.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.data.dataset import Dataset
from bncc.discretize.feature import Feature, states_of
from bncc.errors import DivergedError
from bncc.model import reference
from bncc.progress import Progress
from bncc.train.fit_network import freeze, prepared
from bncc.train.formats import formats_of
from bncc.train.halving import N_SPLITS, STAGES, halved, n_evaluations, ranked
from bncc.train.holdout import tells_apart
from bncc.train.learn_network import Task, fit_in_turn, fit_jointly
from bncc.train.settings import TrainSettings

N_THREADS = 2
READS = 2.5e11
"""
Budget in table entries that all trainings read: seconds for small sets, minutes for large ones with
trees.
"""
FEWEST_SETTINGS, MOST_SETTINGS = 6, 96
"""Limits on the number of settings."""
FACTORS = {"naive": 1.0, "joint": 8.0, "other": 3.0}
"""Time of a read, relative to naive Bayes, with parents and with candidates of parents."""


@dataclass(frozen=True, eq=False)
class _Split:
    """Training states, and validation rows."""

    task: Task
    features: tuple[Feature, ...]
    classes: tuple[str, ...]
    X: IntArray  # (n_rows, n_features) int: States of the validation rows
    y: IntArray  # (n_rows,) int

    def error(self, settings: TrainSettings) -> float:
        """Train, and return the error of the integer model; 1 if gradient descent diverges."""
        task, fmt = replace(self.task, settings=settings), formats_of(settings)[0]
        learn = fit_jointly if settings.is_joint else fit_in_turn
        try:
            structure, tables = learn(task, lambda *_: fmt, None)
        except DivergedError:
            return 1.0
        model = freeze(self.features, self.classes, structure, *tables, fmt, {})
        return float((reference.predict(model, self.X) != self.y).mean())


def searched(
    dataset: Dataset, asked: TrainSettings, filled: TrainSettings, progress: Progress
) -> TrainSettings:
    """
    Return the settings with the lowest error on validation rows, the first on ties.

    Options of `asked` are kept; `filled`, which has a value for each, is the first to be tried.
    """
    n_folds = min(N_SPLITS, dataset.split.most_folds(dataset.n_rows))
    if n_folds < 2:
        return filled
    splits = _splits(dataset, filled, n_folds)
    if not splits:
        return filled
    rng = np.random.default_rng(filled.seed)
    n = _count(filled, dataset)
    drawn: list[TrainSettings] = [filled, *(_near(asked, filled, rng) for _ in range(n - 1))]
    total, done = n_evaluations(n, most=len(splits)), 0
    with ThreadPoolExecutor(N_THREADS) as pool:

        def evaluate(some: Sequence[TrainSettings], numbers: range) -> FloatArray:
            nonlocal done
            found = np.zeros((len(some), len(numbers)))
            try:
                for column, number in enumerate(numbers):
                    for row, error in enumerate(pool.map(splits[number].error, some)):
                        found[row, column] = error
                        done += 1
                        progress(done / total, f"setting {done} of {total}")
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
            return found

        errors = evaluate(drawn, range(STAGES[0].n_splits))
        kept, errors = halved(drawn, errors, evaluate, most=len(splits))
    return kept[int(ranked(errors)[0])]


def _splits(dataset: Dataset, settings: TrainSettings, n_folds: int) -> list[_Split]:
    """Return the splits whose training rows have two classes and differ."""
    fold = dataset.split.folds(dataset.y, n_folds, settings.seed)
    splits = []
    for k in range(int(fold.max()) + 1):
        rest, held = (
            dataset.take(np.flatnonzero(fold != k)),
            dataset.take(np.flatnonzero(fold == k)),
        )
        if len(np.unique(rest.y)) >= 2 and tells_apart(rest):
            features, task = prepared(rest, settings)
            X = states_of(features, held.table)
            splits.append(_Split(task, features, dataset.classes, X, held.y))
    return splits


def _count(settings: TrainSettings, dataset: Dataset) -> int:
    """Return the number of settings within the budget."""
    kind = "joint" if settings.is_joint else settings.structure
    reads = dataset.n_rows * len(dataset.table.columns) * len(dataset.classes)
    reads *= settings.epochs or 1
    each = (
        reads * FACTORS.get(kind, FACTORS["other"]) * n_evaluations(MOST_SETTINGS) / MOST_SETTINGS
    )
    return int(np.clip(READS / max(each, 1), FEWEST_SETTINGS, MOST_SETTINGS))


def _near(asked: TrainSettings, filled: TrainSettings, rng: np.random.Generator) -> TrainSettings:
    """Sample settings near the filled ones, except for what was asked for."""

    def around(value: float | None, decades: float) -> float | None:
        factor = float(10 ** rng.uniform(-decades, decades))
        return None if value is None else value * factor

    values: dict[str, Any] = {
        "lr": around(filled.lr, 0.6),
        "lambda_": around(filled.lambda_, 0.7),
        "gamma": around(filled.gamma, 0.5),
        "dropout": float(0.4 * rng.random() ** 2),
        "jitter": float(rng.choice([0.0, 0.03, 0.06, 0.12, 0.12])),
        "average": float(rng.choice([0.0, 0.7, 0.9])),
        "quantize_from": float(rng.choice([0.0, 0.25, 0.5])),
    }
    int_bits = int(rng.choice([3, 4, 4, 5]))
    if filled.int_bits is not None:
        values["int_bits"] = int_bits
    return replace(filled, **{k: v for k, v in values.items() if getattr(asked, k) is None})
