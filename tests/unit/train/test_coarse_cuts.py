"""Cuts that the high byte of a reading decides."""

import numpy as np
import pytest

from bncc.data.dataset import Column, Table
from bncc.discretize.feature import Feature
from bncc.discretize.fit import fit_features
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


@pytest.mark.parametrize("kind", ["int16", "int32"])
@pytest.mark.parametrize("n_bins", [2, 5, 256])
def test_the_high_byte_decides_every_cut(kind, n_bins):
    rng = np.random.default_rng(n_bins)
    low = WIDTHS[kind] - 8
    most = 2 ** (WIDTHS[kind] - 1) - 1
    of = column((rng.normal(0, most / 4, 2000)).astype(np.int64).clip(-most, most))
    feature = fitted(of, n_bins)
    assert feature.kind == kind
    found = coarse(feature, of, 8)
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
    first, second = coarse_inputs(features, table, 8)
    assert first != features[0]
    assert second == features[1]
