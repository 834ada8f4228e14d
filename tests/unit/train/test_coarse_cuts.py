"""Cuts that the high byte of a reading decides."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.data.dataset import Column, Table
from bncc.discretize.feature import Feature
from bncc.discretize.fit import fit_features
from bncc.discretize.float_order import float_key, float_keys
from bncc.train.coarse_cuts import LEAST_SPAN, WIDTHS, coarse, coarse_inputs
from bncc.train.fit_tables import sum_inputs


def column(values, missing=None) -> Column:
    values = np.asarray(values)
    return Column(
        "a", "integer", values, np.zeros(len(values), bool) if missing is None else missing
    )


def fitted(of: Column, n_bins: int = 256) -> Feature:
    labels = np.zeros(len(of.values), dtype=np.int64)
    return sum_inputs(fit_features(Table((of,)), labels, "quantile", n_bins=n_bins))[0]


@pytest.mark.parametrize(("kind", "bits"), [("int16", 8), ("int32", 8), ("int32", 16)])
@pytest.mark.parametrize("n_bins", [2, 5, 256])
def test_the_highest_bits_decide_every_cut(kind, bits, n_bins):
    rng = np.random.default_rng(n_bins)
    low = WIDTHS[bits][kind] - bits
    most = 2 ** (WIDTHS[bits][kind] - 1) - 1
    of = column((rng.normal(0, most / 4, 2000)).astype(np.int64).clip(-most, most))
    feature = fitted(of, n_bins)
    assert feature.kind == kind
    found = coarse(feature, of, bits)
    assert found.n_states == len(found.thresholds) + 1
    assert 1 <= len(found.thresholds) <= len(feature.thresholds)
    assert list(found.thresholds) == sorted(set(found.thresholds))
    probes = np.unique(np.concatenate([of.values, rng.integers(-most, most, 500)]))
    for threshold in found.thresholds:
        assert threshold & (2**low - 1) == 2**low - 1
        assert np.array_equal(probes > threshold, probes >> low > threshold >> low)
        assert of.values.min() <= threshold < of.values.max()
    nearest = np.abs(np.subtract.outer(feature.thresholds, found.thresholds)).min(axis=1)
    assert nearest.max() <= 2**low  # half a step, or to the outermost


def floats_like(values, missing=None) -> Column:
    return replace(column(values, missing), kind="float")


@pytest.mark.parametrize("n_bins", [2, 5, 256])
@pytest.mark.parametrize("center", [0, 10, -3])
def test_the_high_half_of_the_key_decides_every_cut_of_a_float(n_bins, center):
    rng = np.random.default_rng(n_bins)
    of = floats_like(rng.normal(center, 2, 2000).astype(np.float32).astype(np.float64))
    feature = fitted(of, n_bins)
    assert feature.kind == "float32"
    found = coarse(feature, of, 16)
    assert 1 <= len(found.thresholds) <= len(feature.thresholds)
    assert list(found.thresholds) == sorted(set(found.thresholds))
    keys = float_keys(of.values)
    for threshold in found.thresholds:
        assert threshold == np.float32(threshold)
        assert float_key(threshold) & 0xFFFF == 0xFFFF
        above = keys >> 16 > float_key(threshold) >> 16
        assert np.array_equal(of.values > threshold, above)
        assert of.values.min() <= threshold < of.values.max()
    for threshold in feature.thresholds:
        steps = np.abs(np.array([t - threshold for t in found.thresholds]))
        assert steps.min() <= max(abs(threshold) / 128, 1e-38)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_cut_beside_zero_is_no_negative_zero(sign):
    """The key of -0.0 ends in ones, but 0.0 does not exceed it."""
    most = np.repeat(0.0, 500)
    of = floats_like(np.concatenate([most, sign * np.geomspace(1e-44, 1e3, 500)]))
    feature = replace(fitted(of), thresholds=(-1e-44, 0.0, 1e-44), n_states=4)
    found = coarse(feature, of, 16)
    assert float_key(-0.0) not in map(float_key, found.thresholds)
    assert len(np.unique(found.states(of))) > 1
    assert coarse(replace(feature, thresholds=(0.0,)), of, 16).thresholds != (-0.0,)


def test_missing_floats_stay_below_all_others():
    rng = np.random.default_rng(0)
    missing = rng.random(3000) < 0.2
    of = floats_like(np.where(missing, 0.0, rng.normal(size=3000)), missing)
    assert fitted(of).has_missing_below
    found = coarse(fitted(of), of, 16)
    assert found.has_missing_below
    assert all(float_key(threshold) & 0xFFFF == 0xFFFF for threshold in found.thresholds)
    states = found.states(of)
    assert (states[missing] == 0).all()
    assert (states[~missing] > 0).all()


def test_readings_of_few_high_bytes_keep_their_cuts():
    few = column(np.arange(-100, 256 * (LEAST_SPAN - 2)))
    assert coarse(fitted(few), few, 8) == fitted(few)
    enough = column(np.arange(-100, 256 * (LEAST_SPAN - 2) + 1))
    assert coarse(fitted(enough), enough, 8) != fitted(enough)


def test_missing_readings_stay_below_all_others():
    rng = np.random.default_rng(0)
    values, missing = rng.integers(-30000, 30000, 3000), rng.random(3000) < 0.2
    of = column(values, missing)
    found = coarse(fitted(of), of, 8)
    assert found.has_missing_below
    assert found.missing_state == 0
    states = found.states(of)
    assert (states[missing] == 0).all()
    assert (states[~missing] > 0).all()
    assert all(threshold & 255 == 255 for threshold in found.thresholds[1:])


def test_other_columns_and_no_bits_change_nothing():
    rng = np.random.default_rng(1)
    floats = Column("b", "float", rng.normal(size=500), np.zeros(500, bool))
    table = Table((column(rng.integers(-30000, 30000, 500)), floats))
    features = fit_features(table, np.zeros(500, np.int64), "quantile", n_bins=64)
    assert coarse_inputs(features, table, 0) == features
    for bits, changed in ((8, [True, False]), (16, [False, True])):
        found = coarse_inputs(features, table, bits)
        assert [a != b for a, b in zip(found, features, strict=True)] == changed
