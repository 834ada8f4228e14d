"""Derivatives of the losses: equal to finite differences, and alike in both engines."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.boosting.native_engine import NativeSlopes
from bncc.boosting.sums import NumpySlopes, Samples, fold_of_samples, taken
from bncc.data.splits import SplitRule

STEP = 1e-5


def samples_by_chance(n: int, n_classes: int, rng: np.random.Generator) -> Samples:
    X = np.empty((n, 0), dtype=np.uint8)
    return Samples(X, rng.integers(0, n_classes, n), rng.exponential(1.0, n), n_classes)


def losses(sums: np.ndarray, samples: Samples) -> np.ndarray:
    log_p = sums - np.log(np.exp(sums).sum(axis=1, keepdims=True))
    return -samples.weights * log_p[np.arange(len(sums)), samples.y]


def test_slopes_are_those_of_the_weighted_losses():
    rng = np.random.default_rng(1)
    samples = samples_by_chance(7, 3, rng)
    sums = rng.normal(size=(7, 3))
    slopes = NumpySlopes(samples).of(sums)
    for c in range(3):
        step = STEP * np.eye(3)[c]
        above, below = losses(sums + step, samples), losses(sums - step, samples)
        assert slopes[:, c] == pytest.approx((above - below) / (2 * STEP), abs=1e-6)
        curvature = (above - 2 * losses(sums, samples) + below) / STEP**2
        assert slopes[:, 3 + c] == pytest.approx(curvature, abs=1e-4)


def test_slopes_are_added_up_by_row():
    samples = samples_by_chance(3, 2, np.random.default_rng(2))
    slopes = np.arange(12.0).reshape(3, 4)
    gradient, curvature = NumpySlopes(samples).by_row(slopes, np.array([1, 0, 1]), 3)
    assert gradient.tolist() == [[4, 5], [8, 10], [0, 0]]
    assert curvature.tolist() == [[6, 7], [12, 14], [0, 0]]


@pytest.mark.cc
@pytest.mark.parametrize("n_classes", [2, 8, 10, 26, 255])
def test_both_engines_find_the_same_slopes(require_tool, n_classes):
    require_tool("gcc")
    rng = np.random.default_rng(n_classes)
    samples = samples_by_chance(50, n_classes, rng)
    sums = rng.normal(scale=3.0, size=(50, n_classes)).astype(np.float32)
    ours, reference = NativeSlopes(samples), NumpySlopes(samples)
    slopes = ours.of(sums)
    assert slopes == pytest.approx(reference.of(sums), rel=1e-4, abs=1e-6)
    row = rng.integers(0, 4, 50)
    found, expected = ours.by_row(slopes, row, 5), reference.by_row(slopes, row, 5)
    assert np.stack(found) == pytest.approx(np.stack(expected), rel=1e-6)


def test_variants_of_a_row_are_in_one_fold():
    def folds(n_copies: int, seed: int) -> np.ndarray:
        samples = samples_by_chance(35, 2, np.random.default_rng(0))
        return fold_of_samples(replace(samples, n_copies=n_copies), seed)

    found = folds(5, 2).reshape(5, 7)
    assert (found == found[0]).all()
    assert np.bincount(found[0]).tolist() == [3, 2, 2]
    assert not np.array_equal(folds(1, 2), folds(1, 3))


def test_groups_and_blocks_in_time_are_in_one_fold():
    samples = samples_by_chance(30, 2, np.random.default_rng(0))

    def folds(split: SplitRule, n_copies: int = 1) -> np.ndarray:
        return fold_of_samples(replace(samples, split=split, n_copies=n_copies), 2)

    groups = np.arange(30) % 5
    found = folds(SplitRule(groups=groups))
    assert sorted(set(found.tolist())) == [0, 1, 2]
    assert all(len(set(found[groups == k].tolist())) == 1 for k in range(5))
    assert (np.diff(folds(SplitRule(ordered=True))) >= 0).all()
    assert set(folds(SplitRule(groups=np.arange(30) % 2)).tolist()) == {0, 1}
    assert (folds(SplitRule(groups=np.zeros(30, np.int64))) == folds(SplitRule())).all()
    half = SplitRule(groups=np.arange(15) % 5)
    assert (folds(half, 2)[:15] == folds(half, 2)[15:]).all()
    part = taken(replace(samples, split=SplitRule(groups=groups)), groups < 2)
    assert part.split.groups.tolist() == groups[groups < 2].tolist()


def test_taken_samples_have_a_mean_weight_of_one():
    samples = samples_by_chance(9, 2, np.random.default_rng(0))
    rows = np.arange(9) < 4
    found = taken(samples, rows)
    assert found.y.tolist() == samples.y[:4].tolist()
    assert found.weights == pytest.approx(samples.weights[:4] / samples.weights[:4].mean())
    assert not taken(replace(samples, weights=np.zeros(9)), rows).weights.any()
