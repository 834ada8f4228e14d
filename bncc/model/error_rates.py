"""Error rates: confusion matrix, recall, and 95 % intervals, of rows in groups or in order too."""

from collections.abc import Sequence
from math import sqrt
from typing import TypeGuard

import numpy as np

from bncc._types import BoolArray, IntArray


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


def macro_f1(confusion: Sequence[Sequence[int]]) -> float | None:
    """
    Return the mean F1 of the classes that rows have or are decided for; None without rows.

    F1 of a class is twice the rows that are found over the rows that have the class plus those
    decided for it.
    """
    columns = [sum(column) for column in zip(*confusion, strict=True)]
    totals = [sum(row) + column for row, column in zip(confusion, columns, strict=True)]
    found = [2 * confusion[c][c] / total for c, total in enumerate(totals) if total]
    return sum(found) / len(found) if found else None


Z = 1.959963984540054
"""Quantile of the normal distribution: 95 % are between -Z and Z."""

INDEPENDENT = "Wilson"
"""Name of the interval of rows that are independent of each other."""


def wilson(p: float, n: float, z: float = Z) -> tuple[float, float]:
    r"""
    Return Wilson's interval of an error rate p that was measured on n rows.

    .. math::
       \frac{p + \frac{z^2}{2n} \pm z \sqrt{\frac{p (1 - p)}{n} + \frac{z^2}{4 n^2}}}
            {1 + \frac{z^2}{n}}
    """
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def wilson_of_units(misses: BoolArray, units: IntArray) -> tuple[float, float]:
    r"""
    Return an interval for rows that are correlated within units, such as persons or hours.

    Wilson's, with the quantile of Student's t for the G units, and with the effective number of
    rows :math:`n_e = p (1 - p) / v` in place of n, where v is the variance of the rate between
    units,

    .. math:: v = \frac{G}{G - 1} \sum_g \frac{(m_g - p\, n_g)^2}{n^2}

    with :math:`m_g` errors in the :math:`n_g` rows of unit g. So many rows as there are units
    count where there is no error, or nothing but errors; never more than there are.

    Shapes: `misses` (n_rows,) bool; `units` (n_rows,) int.
    """
    from scipy.special import stdtrit  # takes its time

    _, codes = np.unique(units, return_inverse=True)
    sizes, n, p = np.bincount(codes), len(misses), float(misses.mean())
    n_units = len(sizes)
    excess = np.bincount(codes, misses) - p * sizes
    variance = n_units / (n_units - 1) * float((excess**2).sum()) / n**2
    if p in (0.0, 1.0):
        effective = float(n_units)
    else:
        effective = min(float(n), p * (1 - p) / variance) if variance > 0 else float(n)
    return wilson(p, effective, float(stdtrit(n_units - 1, 0.975)))


def error_interval(misses: BoolArray, units: IntArray | None, what: str) -> tuple[list[float], str]:
    """
    Return a 95 % interval of an error rate and its name: that of units if there are several.

    Shapes: `misses` (n_rows,) bool; `units` (n_rows,) int or None; `what` is their name.
    """
    n_units = 0 if units is None else len(np.unique(units))
    if units is None or n_units < 2:
        return list(wilson(float(misses.mean()), len(misses))), INDEPENDENT
    method = f"Wilson, effective number of rows from {n_units} {what}"
    return list(wilson_of_units(misses, units)), method


def interval_words(interval: Sequence[float], method: str) -> str:
    """Describe a 95 % interval with its method and the assumptions of that."""
    low, high = (100 * end for end in interval)
    taken = ", assuming independent rows" if method == INDEPENDENT else ""
    return f"95 % interval {low:.2f} to {high:.2f} % ({method}{taken})"


def is_interval(value: object) -> TypeGuard[Sequence[float]]:
    """Return whether a value of a training record is an interval: two fractions in order."""
    return (
        isinstance(value, Sequence)
        and len(value) == 2
        and all(type(end) in (int, float) for end in value)
        and 0 <= value[0] <= value[1] <= 1
    )
