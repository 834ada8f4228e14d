"""Seeded stratified splits, rare classes included."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.data.splits import stratified_folds, stratified_holdout
from bncc.errors import DataError

labels = st.lists(st.integers(-1, 4), min_size=1, max_size=80)


@given(labels, st.floats(0.01, 0.99), st.integers(0, 9))
def test_a_holdout_parts_the_rows_and_keeps_every_class(
    cells: list[int], fraction: float, seed: int
) -> None:
    """Each row is in one part, in order; each class keeps a row and nearly its share."""
    y = np.array(cells)
    rest, held = stratified_holdout(y, fraction, seed)
    assert sorted([*rest, *held]) == list(range(len(y)))
    assert (np.diff(rest) > 0).all()
    assert (np.diff(held) > 0).all()
    assert set(y[rest]) == set(y)
    for label in set(cells):
        assert abs(int((y[held] == label).sum()) - fraction * cells.count(label)) <= 1


def test_the_holdout_is_the_share_asked_for() -> None:
    """The total is rounded once, not class by class."""
    y = np.repeat(np.arange(10), 5)
    _, held = stratified_holdout(y, 0.1, 0)
    assert len(held) == 5


def test_one_seed_gives_one_split() -> None:
    """And another seed another."""
    y = np.arange(300) % 3
    first, again, other = (stratified_holdout(y, 0.2, seed)[1] for seed in (1, 1, 2))
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()
    assert stratified_folds(y, 3, 1).tolist() == stratified_folds(y, 3, 1).tolist()
    assert stratified_folds(y, 3, 1).tolist() != stratified_folds(y, 3, 2).tolist()


def test_a_split_is_the_same_on_every_machine() -> None:
    """The generator is numpy's PCG64, whose stream is fixed."""
    _, held = stratified_holdout(np.arange(20) % 2, 0.2, 0)
    assert held.tolist() == [5, 8, 12, 19]


@pytest.mark.parametrize("fraction", [0.0, 1.0, -0.1, float("nan")])
def test_a_fraction_must_lie_between_zero_and_one(fraction: float) -> None:
    """Exclusive."""
    with pytest.raises(DataError, match=r"choose one in 0 \.\. 1"):
        stratified_holdout(np.array([0, 1]), fraction, 0)


@given(labels, st.integers(2, 8), st.integers(0, 9))
def test_folds_are_of_equal_size_and_mix_the_classes(
    cells: list[int], n_folds: int, seed: int
) -> None:
    """Sizes, and counts of each class, differ by at most one."""
    y = np.array(cells)
    if len(y) < n_folds:
        with pytest.raises(DataError, match="cannot be dealt to"):
            stratified_folds(y, n_folds, seed)
        return
    folds = stratified_folds(y, n_folds, seed)
    for rows in (np.ones(len(y), dtype=bool), *(y == label for label in set(cells))):
        counts = np.bincount(folds[rows], minlength=n_folds)
        assert counts.max() - counts.min() <= 1
        assert len(counts) == n_folds


def test_there_are_at_least_two_folds() -> None:
    """One fold is no split."""
    with pytest.raises(DataError, match=r"10 rows cannot be dealt to 1 folds; choose 2 \.\. 10"):
        stratified_folds(np.zeros(10, dtype=int), 1, 0)
