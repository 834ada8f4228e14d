"""Bins of equal frequency, of equal width, and halves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.discretize.binning import median_cuts, quantile_cuts, width_cuts


def test_quantiles_hold_equally_many_readings() -> None:
    """Eight distinct readings in four bins: two in each."""
    assert quantile_cuts(np.arange(8), 4).tolist() == [1.5, 3.5, 5.5]


def test_a_run_of_equal_readings_is_not_torn() -> None:
    """The cut moves to the nearer end of the run; coinciding cuts are one."""
    assert quantile_cuts(np.array([0, 0, 0, 0, 0, 0, 1, 2]), 4).tolist() == [0.5]


def test_more_bins_than_values_give_a_bin_per_value() -> None:
    """Three values never have more than two cuts."""
    assert quantile_cuts(np.array([5.0, 7.0, 9.0]), 50).tolist() == [6.0, 8.0]


def test_width_divides_the_range() -> None:
    """Equal steps, for any readings in between."""
    assert width_cuts(np.array([0.0, 0.1, 10.0]), 4).tolist() == [2.5, 5.0, 7.5]


def test_the_median_splits_even_and_odd_counts_as_the_median_does() -> None:
    """``x > cut`` is ``x > median`` when all readings differ."""
    for n in (2, 3, 4, 5, 10, 11):
        values = np.arange(n) ** 2
        (cut,) = median_cuts(values)
        assert ((values > cut) == (values > np.median(values))).all()


def test_the_median_of_two_values_separates_them_even_if_unequal_in_number() -> None:
    """Seven ones and three zeros are still two states, where ``x > median`` would be one."""
    assert median_cuts(np.array([1] * 7 + [0] * 3)).tolist() == [0.5]


@pytest.mark.parametrize("values", [[], [3.0], [3.0, 3.0]])
def test_a_constant_column_has_no_cut(values: list[float]) -> None:
    """Nor has an empty one."""
    cells = np.array(values)
    assert quantile_cuts(cells, 4).size == 0
    assert width_cuts(cells, 4).size == 0
    assert median_cuts(cells).size == 0


@given(st.lists(st.integers(-30, 30), min_size=1, max_size=50), st.integers(2, 12))
def test_no_quantile_bin_is_empty(cells: list[int], n_bins: int) -> None:
    """Every bin has readings, and there are never more than requested."""
    values = np.array(cells)
    cuts = quantile_cuts(values, n_bins)
    assert len(cuts) < n_bins
    assert np.bincount(np.searchsorted(cuts, values), minlength=len(cuts) + 1).min() > 0
