"""The grid of one table: its bounds, its size-aware choice, and its meaning."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bncc.boosting.boost import Bounds, grow
from bncc.boosting.cuts import Cut, bins_of, numpy_best_cuts
from bncc.structure.decision_tables import DecisionTable
from tests.tiers import examples


def grown(X, targets, bounds, features=None):
    """Grow a table on one class whose slopes are -targets."""
    bins = bins_of(X)
    slopes = np.stack([-targets, np.ones(len(X))], axis=1).astype(np.float32)
    features = np.arange(X.shape[1]) if features is None else np.array(features)
    return grow(bins, slopes, features, bounds, numpy_best_cuts(bins, 1.0))


def test_a_step_between_two_cuts_is_found_whole():
    X = np.tile(np.arange(10), 20)[:, None]
    targets = np.where((X[:, 0] > 2) & (X[:, 0] <= 6), 1.0, -1.0)
    grid, cells = grown(X, targets, Bounds(16, 4, 0.5))
    assert grid == DecisionTable((0,), ((2, 6),))
    assert cells.tolist() == grid.rows(X).tolist()


def test_nothing_to_gain_is_no_table():
    X = np.tile(np.arange(4), 5)[:, None]
    assert grown(X, np.zeros(20), Bounds(16, 4, 0.5))[0] is None
    assert grown(X * 0, np.ones(20), Bounds(16, 4, 0.5), features=[])[0] is None


@pytest.mark.parametrize(
    ("exponent", "cuts"), [(0.0, ((1,), (1,))), (1.0, ((1, 2, 3),))], ids=["gain", "gain per row"]
)
def test_a_gain_counts_for_less_where_it_adds_more_rows(exponent, cuts):
    """There are two rows: a cut of feature 0 makes three and gains 3; of feature 1, four and 4."""
    bins = bins_of(np.stack([np.arange(6), np.arange(6)], axis=1))
    slopes = np.zeros((6, 2), dtype=np.float32)

    def best_cuts(slopes, cells, n_cells, features):
        offers = {0: Cut(0, n_cells, 3.0), 1: Cut(1, 1, 4.0)}
        return [offers[f] for f in features.tolist() if f == 0 or n_cells > 1]

    grid, _ = grow(bins, slopes, np.arange(2), Bounds(4, 2, exponent), best_cuts)
    assert grid is not None
    assert grid.cuts == cuts


@settings(deadline=None, max_examples=examples(25))
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(2, 24), features=st.integers(1, 4))
def test_bounds_hold_and_cells_are_rows(seed, rows, features):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (60, 4))
    grid, cells = grown(X, rng.normal(size=60), Bounds(rows, features, 0.5), features=[0, 2, 3])
    assert grid.n_rows <= rows
    assert len(grid.features) <= features
    assert set(grid.features) <= {0, 2, 3}
    assert list(grid.features) == sorted(grid.features)
    assert cells.tolist() == grid.rows(X).tolist()
