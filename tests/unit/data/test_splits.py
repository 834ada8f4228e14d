"""Seeded stratified splits, rare classes included."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.data import splits
from bncc.data.splits import SplitRule, stratified_folds, stratified_holdout
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
    """Another seed gives another split."""
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
        with pytest.raises(DataError, match="cannot be split into"):
            stratified_folds(y, n_folds, seed)
        return
    folds = stratified_folds(y, n_folds, seed)
    for rows in (np.ones(len(y), dtype=bool), *(y == label for label in set(cells))):
        counts = np.bincount(folds[rows], minlength=n_folds)
        assert counts.max() - counts.min() <= 1
        assert len(counts) == n_folds


def test_there_are_at_least_two_folds() -> None:
    """One fold is no split."""
    with pytest.raises(DataError, match="10 rows cannot be split into 1 folds; choose 2 \\.\\. 10"):
        stratified_folds(np.zeros(10, dtype=int), 1, 0)


rows_in_groups = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 12)), min_size=2, max_size=60
).filter(lambda rows: len({group for _, group in rows}) > 1)


@given(rows_in_groups, st.floats(0.02, 0.98), st.integers(0, 2**40), st.booleans())
def test_a_group_is_never_on_both_sides_of_a_holdout(
    rows: list[tuple[int, int]], fraction: float, seed: int, ordered: bool
) -> None:
    """And neither side is empty; the same seed gives the same rows."""
    y, groups = np.array(rows).T
    rule = SplitRule(groups, ordered)
    rest, held = rule.holdout(y, fraction, seed)
    assert sorted([*rest, *held]) == list(range(len(y)))
    assert len(rest)
    assert len(held)
    assert not set(groups[rest]) & set(groups[held])
    assert rule.holdout(y, fraction, seed)[1].tolist() == held.tolist()


@given(rows_in_groups, st.integers(2, 8), st.integers(0, 2**40), st.booleans())
def test_a_group_is_in_one_fold(
    rows: list[tuple[int, int]], n_folds: int, seed: int, ordered: bool
) -> None:
    """Also after some rows are taken, as for folds within a fold; no fold is empty."""
    y, groups = np.array(rows).T
    taken = np.random.default_rng(seed % 100).permutation(len(y))
    rule = SplitRule(groups, ordered).take(taken)
    n_folds = min(n_folds, rule.most_folds(len(y)))
    folds = rule.folds(y[taken], n_folds, seed)
    assert set(folds) == set(range(folds.max() + 1))
    assert 1 <= folds.max() < n_folds
    for group in set(groups):
        assert len(set(folds[groups[taken] == group])) == 1


def test_many_groups_are_dealt_without_their_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Balancing classes would take too long."""
    monkeypatch.setattr(splits, "MOST_STRATIFIED", 20)
    groups = np.arange(400) // 4
    folds = SplitRule(groups).folds(np.arange(400) % 2, 5, 0)
    assert np.bincount(folds).tolist() == [80] * 5
    assert (folds.reshape(100, 4) == folds[::4, None]).all()


def test_groups_are_dealt_with_their_classes_in_balance() -> None:
    """Ten groups of one class each, five of either: every fold has one of both."""
    groups, y = np.repeat(np.arange(10), 6), np.repeat(np.arange(10) % 2, 6)
    folds = SplitRule(groups).folds(y, 5, 3)
    assert all((np.bincount(y[folds == k]) == 6).all() for k in range(5))
    rest, _ = SplitRule(groups).holdout(np.repeat([0, 0, 0, 0, 1, 0, 0, 0, 0, 0], 6), 0.1, 0)
    assert 4 in groups[rest], "the only group of a class is not set aside"


@given(st.integers(2, 60), st.integers(2, 9), st.floats(0.05, 0.5), st.integers(0, 20))
def test_ordered_splits_are_blocks_in_file_order(
    n: int, n_folds: int, fraction: float, seed: int
) -> None:
    """Blocks of nearly equal size; seed 0 holds out the last one, the next seed the one before."""
    y, rule, n_folds = np.arange(n) % 2, SplitRule(ordered=True), min(n, n_folds)
    folds = rule.folds(y, n_folds, seed)
    assert (np.diff(folds) >= 0).all()
    sizes = np.bincount(folds)
    assert len(sizes) == n_folds
    assert sizes.max() - sizes.min() <= 1
    rest, held = rule.holdout(y, fraction, seed)
    assert (np.diff(held) == 1).all()
    assert len(rest) + len(held) == n
    assert rule.holdout(y, fraction, 0)[1][-1] == n - 1
    before = rule.holdout(y, fraction, 1)[1]
    assert before[-1] + 1 == rule.holdout(y, fraction, 0)[1][0]


def test_ordered_groups_follow_the_first_row_of_each() -> None:
    """Groups that alternate stay whole."""
    groups = np.array([7, 7, 3, 7, 3, 3, 1, 1, 1])
    folds = SplitRule(groups, ordered=True).folds(np.zeros(9, dtype=int), 3, 0)
    assert folds.tolist() == [0, 0, 1, 0, 1, 1, 2, 2, 2]


def test_one_group_cannot_be_split() -> None:
    """It has no validation rows; the error for folds names the remedy."""
    rule = SplitRule(np.zeros(5, dtype=int), column="person")
    rest, held = rule.holdout(np.arange(5) % 2, 0.2, 0)
    assert (len(rest), len(held)) == (5, 0)
    with pytest.raises(DataError, match="these rows have 1 group of 'person', and folds need two"):
        rule.folds(np.arange(5) % 2, 2, 0)
    with pytest.raises(DataError, match=r"3 groups of 'groups' .* 4 folds; choose 2 \.\. 3"):
        SplitRule(np.arange(3)).folds(np.arange(3), 4, 0)
    with pytest.raises(DataError, match=r"choose one in 0 \.\. 1"):
        rule.holdout(np.arange(5), 1.0, 0)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (SplitRule(), [0, 1, 2, 3, 4, 5, 6, 7]),
        (SplitRule(ordered=True), [0, 0, 1, 1, 2, 3, 3, 4]),
        # as many groups as needed, and fewer: each in parts, in file order
        (SplitRule(np.array([9, 8, 7, 6, 5, 9, 8, 7])), [4, 3, 2, 1, 0, 4, 3, 2]),
        (SplitRule(np.array([1, 1, 0, 1, 1, 1, 0, 1]), ordered=True), [2, 2, 0, 3, 4, 4, 1, 5]),
        (SplitRule(np.array([0, 0, 0, 0, 1, 2, 3, 4])), [0, 0, 1, 1, 2, 3, 4, 5]),
    ],
)
def test_units_are_rows_groups_or_parts_of_them(rule: SplitRule, expected: list[int]) -> None:
    assert rule.units(8, 5).tolist() == expected


@given(st.lists(st.integers(0, 6), min_size=1, max_size=60), st.booleans(), st.integers(1, 9))
def test_units_are_enough_and_within_groups(cells: list[int], ordered: bool, least: int) -> None:
    """The units of a group have rows of no other one, consecutive and nearly as many in each."""
    groups = np.array(cells)
    unit = SplitRule(groups, ordered).units(len(groups), least)
    assert sorted(set(unit.tolist())) == list(range(unit.max() + 1))
    for one in set(cells):
        of_group = unit[groups == one]
        assert (np.diff(of_group) >= 0).all()
        sizes = np.bincount(of_group)[of_group[0] :]
        assert sizes.max() - sizes.min() <= 1
        assert not set(of_group) & set(unit[groups != one])
        assert len(sizes) >= min(len(of_group), least / len(set(cells)))
    assert np.bincount(unit).max() <= np.ceil(1.5 * len(groups) / least)
    even = np.arange(3 * least) % least
    assert SplitRule(even, ordered).units(3 * least, least).tolist() == even.tolist()
