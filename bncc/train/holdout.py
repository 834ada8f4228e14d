"""Which rows are held out of training, to judge by."""

import numpy as np

from bncc.data.dataset import Dataset
from bncc.train.settings import TrainSettings


def split_rows(dataset: Dataset, settings: TrainSettings) -> tuple[Dataset, Dataset]:
    """Hold rows out."""
    nothing = dataset.take(np.arange(0))
    if settings.validation == 0:
        return dataset, nothing
    rest, held = dataset.split.holdout(dataset.y, settings.validation, settings.seed)
    if len(held) == 0 or len(np.unique(dataset.y[rest])) < 2:
        return dataset, nothing
    kept = dataset.take(rest)
    # What the columns tell apart may all be among the rows held out.
    if tells_apart(dataset) and not tells_apart(kept):
        return dataset, nothing
    return kept, dataset.take(held)


def tells_apart(dataset: Dataset) -> bool:
    """Return whether there are two rows that differ in a column."""
    return any(
        not column.missing.all()
        and (column.missing.any() or bool((column.values != column.values[0]).any()))
        for column in dataset.table.columns
    )
