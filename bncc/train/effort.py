"""
Effort of gradient descent: the settings that it takes where the options leave them open.

The values were chosen on validation rows, fifths of the training rows of the papers' splits of
letter, satimage and usps, by ``python -m benchmarks.accuracy.defaults --validation``.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import sqrt
from typing import Any

from bncc.data.dataset import Dataset
from bncc.progress import Progress, part_of, silence
from bncc.train.effort_search import searched
from bncc.train.settings import TrainSettings

INT_BITS = 4
"""B_I of the recipe, whatever B: a table then spans 16 nats, and with few bits a unit is large."""
WIDE = 16
"""Number of features beyond which some can be dropped without loss."""
LEAST_GAMMA, MOST_SCALE = 2.0, 4.0
"""Target margin in nats of up to `WIDE` features, where a unit is small, and its largest factor."""
MOST_DROPOUT = 0.25
JITTER, JITTER_OF_TREES = 0.06, 0.12
NARROW = 8
"""Number of features up to which there is no jitter; it grows up to `WIDE` features."""
EPOCHS, LARGEST_BATCH, SMALLEST_BATCH = 100, 100, 32
STEPS_PER_EPOCH = 25
SHARED: Mapping[str, Any] = {
    "epochs": EPOCHS, "average": 0.9, "quantize_from": 0.25,
}  # fmt: skip
BY_LOSS: Mapping[str, Mapping[str, Any]] = {
    "hybrid": {"lr": 0.2, "lambda_": 500.0},
    "free": {"lr": 0.1, "lambda_": 10.0},
    "cross-entropy": {"lr": 0.1},
}


SEARCHING = 0.9
"""Share of the progress of a search; the training has the rest."""


def settled(
    settings: TrainSettings, dataset: Dataset, progress: Progress = silence
) -> tuple[TrainSettings, Progress]:
    """Return settings with what the effort finds, and the progress callback of their training."""
    if not settings.descends or settings.effort in (None, "quick"):
        return settings, progress
    filled = with_recipe(settings, dataset.n_rows, len(dataset.table.columns))
    if not settings.is_thorough:
        return filled, progress
    found = searched(dataset, settings, filled, part_of(progress, 0.0, SEARCHING))
    return found, part_of(progress, SEARCHING, 1.0)


def with_default(settings: TrainSettings) -> TrainSettings:
    """Return settings of a single training with its default effort, if it has any use."""
    if not settings.descends or settings.effort is not None:
        return settings
    return replace(settings, effort="default")


def with_recipe(settings: TrainSettings, n_rows: int, n_features: int) -> TrainSettings:
    """Return settings with the recipe's values where the options leave them open."""
    values: dict[str, Any] = {**SHARED, **BY_LOSS[settings.loss]}
    values["batch_size"] = min(LARGEST_BATCH, max(SMALLEST_BATCH, n_rows // STEPS_PER_EPOCH))
    values["dropout"] = MOST_DROPOUT * max(0.0, 1 - WIDE / max(n_features, 1))
    jitter = JITTER if settings.structure == "naive" else JITTER_OF_TREES
    values["jitter"] = jitter * min(1.0, max(0.0, (n_features - NARROW) / (WIDE - NARROW)))
    if "rounding" in settings.uses and settings.frac_bits is None:
        values["int_bits"] = INT_BITS
    if "hinge" in settings.uses:
        values["gamma"] = gamma_of(settings, n_features)
    used = {k: v for k, v in values.items() if getattr(settings, k) is None}
    return replace(settings, **used)


def gamma_of(settings: TrainSettings, n_features: int) -> float:
    """Return a target margin in nats: it grows with the root of a cost's unit and of the terms."""
    scale: float = min(MOST_SCALE, sqrt(max(1.0, n_features / WIDE)))
    if "rounding" not in settings.uses:
        return LEAST_GAMMA * scale
    int_bits = INT_BITS if settings.int_bits is None else settings.int_bits
    if settings.frac_bits is not None:
        int_bits = settings.total_bits - settings.frac_bits
    unit: float = 2.0 ** (int_bits - settings.total_bits)
    return scale * max(LEAST_GAMMA, 4.0 * sqrt(unit))
