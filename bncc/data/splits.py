"""Seeded stratified splits: every class keeps its share in every part, as far as rows allow."""

import numpy as np

from bncc._types import IntArray
from bncc.errors import DataError


def stratified_holdout(y: IntArray, fraction: float, seed: int) -> tuple[IntArray, IntArray]:
    """Set a share of the rows aside, class by class.

    A class of one row stays whole in the rest, and no class is set aside entirely, so that the
    rest can still learn every class.

    Parameters
    ----------
    y : (n_rows,) int
        Class index of each row.
    fraction : float
        Share to set aside, in 0 .. 1 exclusive; the count is rounded by largest remainders.
    seed : int
        Same seed, same split, on any machine.

    Returns
    -------
    rest_rows, held_rows : (n,) int64
        Row numbers, ascending; together every row once.

    Raises
    ------
    DataError
        If the fraction is not between 0 and 1.
    """
    if not 0.0 < fraction < 1.0:
        raise DataError(f"the fraction of rows to hold out is {fraction}; choose one in 0 .. 1")
    y = np.asarray(y)
    classes, counts = np.unique(y, return_counts=True)
    quota = counts * fraction
    held_counts = np.floor(quota).astype(np.int64)
    left_over = round(len(y) * fraction) - int(held_counts.sum())
    by_remainder = np.argsort(held_counts - quota, kind="stable")
    held_counts[by_remainder[: max(left_over, 0)]] += 1
    held_counts = np.minimum(held_counts, counts - 1)
    generator = np.random.default_rng(seed)
    held = np.zeros(len(y), dtype=np.bool_)
    for label, n_held in zip(classes, held_counts, strict=True):
        held[generator.permutation(np.flatnonzero(y == label))[:n_held]] = True
    return np.flatnonzero(~held), np.flatnonzero(held)


def stratified_folds(y: IntArray, n_folds: int, seed: int) -> IntArray:
    """Deal rows to folds of equal size (up to one row), class by class.

    Parameters
    ----------
    y : (n_rows,) int
        Class index of each row.
    n_folds : int
        Number of folds, 2 .. n_rows.
    seed : int
        Same seed, same folds, on any machine.

    Returns
    -------
    (n_rows,) int64
        The fold of each row, in ``0 .. n_folds - 1``; a class's rows differ by at most one
        between folds.

    Raises
    ------
    DataError
        If there are fewer rows than folds, or fewer than two folds.
    """
    y = np.asarray(y)
    if not 2 <= n_folds <= len(y):
        raise DataError(f"{len(y)} rows cannot be dealt to {n_folds} folds; choose 2 .. {len(y)}")
    generator = np.random.default_rng(seed)
    order = np.concatenate(
        [generator.permutation(np.flatnonzero(y == label)) for label in np.unique(y)]
    )
    folds = np.empty(len(y), dtype=np.int64)
    folds[order] = np.arange(len(y)) % n_folds
    return folds
