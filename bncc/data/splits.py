"""All splits and folds: at random by class, by whole groups of rows, or by blocks in file order."""

import warnings
from dataclasses import dataclass, replace

import numpy as np

from bncc._types import IntArray
from bncc.errors import DataError
from bncc.wording import counted

MOST_STRATIFIED = 1000
"""Groups that scikit-learn deals by their classes, in time that grows with their number squared;
more of them balance the classes by themselves."""


@dataclass(frozen=True, eq=False)
class SplitRule:
    """Rule by which rows are split and dealt to folds."""

    # (n_rows,) int64 or None: Group of each row, never on both sides of a split; None where rows
    # are their own
    groups: IntArray | None = None
    ordered: bool = False  # True if held-out rows and folds are blocks in file order
    column: str = "groups"  # Where the groups are from, for messages
    labels: tuple[str, ...] = ()  # Label of each group by its number, where they are from a file

    @property
    def present(self) -> frozenset[str]:
        """Labels of the groups that occur, none where they have no labels."""
        if self.groups is None or not self.labels:
            return frozenset()
        return frozenset(self.labels[k] for k in np.unique(self.groups).tolist())

    @property
    def is_random(self) -> bool:
        """True if rows are split individually and at random."""
        return self.groups is None and not self.ordered

    @property
    def words(self) -> str:
        """Name of the units of a split."""
        if self.groups is None:
            return "blocks of rows in file order" if self.ordered else "random rows of each class"
        return f"whole groups of '{self.column}'" + (" in file order" if self.ordered else "")

    def take(self, rows: IntArray) -> "SplitRule":
        """Return the rule for only these rows, in this order."""
        groups = None if self.groups is None else self.groups[rows]
        return replace(self, groups=groups)

    def most_folds(self, n_rows: int) -> int:
        """Return the largest number of folds for a number of rows."""
        return n_rows if self.groups is None else len(np.unique(self.groups))

    def units(self, n_rows: int, least: int) -> IntArray:
        """
        Return the unit of each row, (n_rows,) int64: rows of one unit are wrong together.

        Each row is a unit where rows are random. Else groups are, or where these are fewer than
        `least`, about equal parts of them in file order; without groups, parts of all rows. So is
        a group divided that has far more rows than one `least`-th of all.
        """
        if self.is_random:
            return np.arange(n_rows)
        groups = np.zeros(n_rows, dtype=np.int64) if self.groups is None else self.groups
        _, group, sizes = np.unique(groups, return_inverse=True, return_counts=True)
        of_all = np.ceil(least * sizes / n_rows - 1 / 2).astype(np.int64)
        n_parts = np.maximum(-(-least // len(sizes)), of_all)
        first = np.cumsum(sizes) - sizes
        place = np.empty(n_rows, dtype=np.int64)
        by_group = np.argsort(group, kind="stable")
        place[by_group] = np.arange(n_rows) - first[group[by_group]]
        part = place * n_parts[group] // sizes[group]
        unit = (np.cumsum(n_parts) - n_parts)[group] + part
        return np.asarray(np.unique(unit, return_inverse=True)[1], dtype=np.int64)

    def holdout(self, y: IntArray, fraction: float, seed: int) -> tuple[IntArray, IntArray]:
        """
        Set a share of the rows aside, ascending row numbers of the rest and of those.

        Groups are set aside whole, so that the share is only nearly the fraction, and of the
        choices by one seed the first is taken that leaves rows of every class. With blocks, seed 0
        takes the last one, seed 1 the one before it, and so on. A single group is never split.
        """
        if self.is_random:
            return stratified_holdout(y, fraction, seed)
        _check_fraction(fraction)
        most = self.most_folds(len(y))
        if most < 2:
            return np.arange(len(y)), np.arange(0)
        share = min(fraction, 1 - fraction)
        fold = self.folds(y, min(most, max(2, round(1 / share))), seed)
        n_folds = int(fold.max()) + 1
        k = n_folds - 1 - seed % n_folds if self.ordered else _keeping_classes(y, fold)
        held = fold == k if fraction <= 1 / 2 else fold != k
        return np.flatnonzero(~held), np.flatnonzero(held)

    def folds(self, y: IntArray, n_folds: int, seed: int) -> IntArray:
        """Deal rows to folds of nearly equal size, (n_rows,) int64 in ``0 .. n_folds - 1``."""
        if self.is_random:
            return stratified_folds(y, n_folds, seed)
        most = self.most_folds(len(y))
        if not 2 <= n_folds <= most:
            what = counted(most, "row" if self.groups is None else "group")
            what += "" if self.groups is None else f" of '{self.column}'"
            raise DataError(
                f"{what} cannot be split into {n_folds} folds; choose 2 .. {most}"
                if most >= 2
                else f"these rows have {what}, and folds need two; add rows of others, or "
                "use no validation set"
            )
        if self.ordered:
            return _blocks(np.arange(len(y)) if self.groups is None else self.groups, n_folds)
        assert self.groups is not None
        return _dealt_groups(np.asarray(y), self.groups, n_folds, seed)


def _blocks(groups: IntArray, n_folds: int) -> IntArray:
    """Deal groups in the order of their first rows to consecutive folds of about as many rows."""
    _, first, row, sizes = np.unique(
        groups, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)
    middle = np.cumsum(sizes[order]) - sizes[order] / 2
    fold = np.empty(len(sizes), dtype=np.int64)
    fold[order] = np.minimum(n_folds * middle / len(groups), n_folds - 1).astype(np.int64)
    return _without_empty(fold[row])


def _dealt_groups(y: IntArray, groups: IntArray, n_folds: int, seed: int) -> IntArray:
    """Deal whole groups at random, the classes in balance as far as these allow."""
    from sklearn.model_selection import GroupKFold, StratifiedGroupKFold  # takes its time

    _, codes = np.unique(groups, return_inverse=True)
    _, classes = np.unique(y, return_inverse=True)
    by_class = codes.max() < MOST_STRATIFIED and np.bincount(classes).max() >= n_folds
    kind = StratifiedGroupKFold if by_class else GroupKFold
    splitter = kind(n_folds, shuffle=True, random_state=seed % 2**32)
    fold = np.zeros(len(y), dtype=np.int64)
    with warnings.catch_warnings():
        # A class of fewer rows than folds is no fault: its rows are where their groups are.
        warnings.simplefilter("ignore", UserWarning)
        for k, (_, held) in enumerate(splitter.split(classes, classes, codes)):
            fold[held] = k
    return _without_empty(fold)


def _without_empty(fold: IntArray) -> IntArray:
    """Return folds counted without those that a large group has left empty."""
    return np.asarray(np.unique(fold, return_inverse=True)[1], dtype=np.int64)


def _keeping_classes(y: IntArray, fold: IntArray) -> int:
    """Return the first fold without which the most classes still occur."""
    kept = [len(np.unique(y[fold != k])) for k in range(int(fold.max()) + 1)]
    return int(np.argmax(kept))


def _check_fraction(fraction: float) -> None:
    if not 0.0 < fraction < 1.0:
        raise DataError(f"the validation fraction is {fraction}; choose one in 0 .. 1")


def stratified_holdout(y: IntArray, fraction: float, seed: int) -> tuple[IntArray, IntArray]:
    """
    Set a share of the rows aside, class by class.

    A class of one row stays whole in the rest, and no class is set aside entirely, so that the
    rest can still learn every class.

    Shapes: `y` (n_rows,) int; returns rest_rows, held_rows (n,) int64, row numbers, ascending;
    together every row once.
    """
    _check_fraction(fraction)
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
    """
    Deal rows to folds of equal size (up to one row), class by class.

    Shapes: `y` (n_rows,) int; returns (n_rows,) int64, the fold of each row, in ``0 .. n_folds -
    1``; a class's rows differ by at most one between folds.
    """
    y = np.asarray(y)
    if not 2 <= n_folds <= len(y):
        raise DataError(f"{len(y)} rows cannot be split into {n_folds} folds; choose 2 .. {len(y)}")
    generator = np.random.default_rng(seed)
    order = np.concatenate(
        [generator.permutation(np.flatnonzero(y == label)) for label in np.unique(y)]
    )
    return _dealt(order, n_folds)


def shuffled_folds(y: IntArray, n_folds: int, rng: np.random.Generator) -> IntArray:
    """
    Deal rows to folds as S1's learners do: one shuffle of all rows, then class by class.

    Returns (n_rows,) int64 in ``0 .. n_folds - 1``; folds differ by one row at most, in all and
    in each class.
    """
    shuffled = rng.permutation(len(y))
    return _dealt(shuffled[np.argsort(y[shuffled], kind="stable")], n_folds)


def _dealt(order: IntArray, n_folds: int) -> IntArray:
    """Deal rows round-robin, sorted by class."""
    fold = np.empty(len(order), dtype=np.int64)
    fold[order] = np.arange(len(order)) % n_folds
    return fold
