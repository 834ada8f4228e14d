"""Confusion matrix and recall: which classes a classifier mistakes for which."""

from collections.abc import Sequence

import numpy as np

from bncc._types import IntArray


def confusion_matrix(y: IntArray, decisions: IntArray, n_classes: int) -> IntArray:
    """
    Count decisions by true class, (n_classes, n_classes) int64; rows are true classes.

    Rows of an unknown class (``y < 0``) are left out.
    """
    known = y >= 0
    confusion = np.zeros((n_classes, n_classes), dtype=np.int64)
    np.add.at(confusion, (y[known], decisions[known]), 1)
    return confusion


def recall_of(confusion: Sequence[Sequence[int]]) -> list[float | None]:
    """Return for each true class the fraction of its rows that are found; None without rows."""
    totals = [sum(row) for row in confusion]
    return [
        row[c] / n if n else None for c, (row, n) in enumerate(zip(confusion, totals, strict=True))
    ]
