"""Validation rows, and the errors of a classifier on them."""

from typing import Any

import numpy as np

from bncc._types import BoolArray, IntArray
from bncc.data.dataset import Dataset
from bncc.data.splits import SplitRule
from bncc.discretize.feature import states_of
from bncc.model import reference
from bncc.model.error_rates import confusion_matrix, error_interval, recall_of
from bncc.model.model import Model
from bncc.train.settings import TrainSettings


def split_rows(dataset: Dataset, settings: TrainSettings) -> tuple[Dataset, Dataset]:
    """Choose validation rows."""
    nothing = dataset.take(np.arange(0))
    if settings.validation == 0:
        return dataset, nothing
    rest, held = dataset.split.holdout(dataset.y, settings.validation, settings.seed)
    if len(held) == 0 or len(np.unique(dataset.y[rest])) < 2:
        return dataset, nothing
    kept = dataset.take(rest)
    # The differences between columns may all be among the validation rows.
    if tells_apart(dataset) and not tells_apart(kept):
        return dataset, nothing
    return kept, dataset.take(held)


def tells_apart(dataset: Dataset) -> bool:
    """Return whether any two rows differ in a column."""
    return any(
        not column.missing.all()
        and (column.missing.any() or bool((column.values != column.values[0]).any()))
        for column in dataset.table.columns
    )


BLOCKS = 20
"""Blocks of rows in file order between which the error varies over time."""


def decided(model: Model, dataset: Dataset) -> tuple[IntArray, IntArray]:
    """Return true classes, -1 for unknown ones, and the model's decisions."""
    X = states_of(model.features, dataset.table)
    return dataset.with_classes(model.classes).y, reference.predict(model, X)


def judged_record(
    y: IntArray, decisions: IntArray, n_classes: int, split: SplitRule, part: str
) -> dict[str, Any]:
    """
    Return ``confusion``, ``recall``, ``confusion_of``, ``error_interval``, ``interval_method``.

    Shapes: `y`, `decisions` (n_rows,) int.
    """
    confusion = confusion_matrix(y, decisions, n_classes).tolist()
    interval, method = (None, None) if part == "train" else _interval(decisions != y, split)
    return {
        "confusion": confusion,
        "recall": recall_of(confusion),
        "confusion_of": part,
        "error_interval": interval,
        "interval_method": method,
    }


def _interval(misses: BoolArray, split: SplitRule) -> tuple[list[float], str]:
    """Return a 95 % interval of the error rate, and its name."""
    if split.is_random:
        return error_interval(misses, None, "rows")
    least, what = (BLOCKS, "blocks") if split.groups is None else (1, "groups")
    return error_interval(misses, split.units(len(misses), least), what)
