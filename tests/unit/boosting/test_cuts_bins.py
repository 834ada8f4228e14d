"""States in bins: one for each that is seen, or 256 of about as many samples."""

import numpy as np
import pytest

from bncc.boosting.cuts import MOST_BINS, bins_of


def test_each_state_that_is_seen_has_a_bin_and_cuts_lie_halfway():
    X = np.array([[7, 0], [3, 0], [12, 0], [3, 0]], dtype=np.uint16)
    bins = bins_of(X)
    assert bins.codes.tolist() == [[1, 0, 2, 0], [0, 0, 0, 0]]
    assert [cuts.tolist() for cuts in bins.cuts] == [[5, 9], []]
    assert bins.n_bins.tolist() == [3, 1]


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.int64])
def test_neighbours_are_cut_at_the_lower_one(kind):
    """Sums of states do not overflow their kind."""
    X = np.array([[254], [255]], dtype=kind)
    assert bins_of(X).cuts[0].tolist() == [254]
    assert bins_of(X).codes.tolist() == [[0, 1]]


def test_many_states_are_cut_into_bins_of_about_as_many_samples():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 60_000, (20_000, 1)).astype(np.uint16)
    bins = bins_of(X)
    counts = np.bincount(bins.codes[0])
    assert len(counts) == MOST_BINS == bins.n_bins[0]
    assert counts.min() > 40
    assert counts.max() < 120


def test_a_state_that_most_samples_have_keeps_a_bin_of_its_own():
    X = np.concatenate([np.zeros(5000), np.arange(1, 1001)]).astype(np.uint16)[:, None]
    bins = bins_of(X)
    assert bins.cuts[0][0] == 0
    assert (bins.codes[0] == 0).sum() == 5000
