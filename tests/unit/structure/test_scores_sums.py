"""Sums over tables: the terms by their definitions, looked up or computed."""

import numpy as np
import pytest
from scipy.special import gammaln

from bncc.structure import scores as table_sums
from bncc.structure.scores import log_gamma_term, log_likelihood_term

COUNTS = np.array([[0, 1, 2], [70_000, 9, 1_000_000]])


@pytest.mark.no_cover
@pytest.mark.parametrize("listed", [4, 1 << 16])
def test_terms_equal_their_definitions_whether_listed_or_not(monkeypatch, listed):
    """A count beyond the list is computed, and so is a table too small to pay for a list."""
    monkeypatch.setattr(table_sums, "LISTED_COUNTS", listed)
    for counts in (COUNTS, np.tile(COUNTS, (1, 1000)), np.tile(COUNTS[:, :2], (9000, 1))):
        expected = gammaln(counts + 2.0 / 6) - gammaln(2.0 / 6)
        assert log_gamma_term(2.0)(counts, 6) == pytest.approx(expected, rel=1e-14, abs=1e-13)
        expected = counts * np.log(np.maximum(counts, 1))
        assert log_likelihood_term()(counts, 6) == pytest.approx(expected, rel=1e-14)


def test_a_count_of_zero_adds_nothing():
    for term in (log_gamma_term(0.3), log_likelihood_term()):
        assert not term(np.zeros((2, 3), np.int64), 6).any()
        assert term(np.zeros((0, 3), np.int64), 6).shape == (0, 3)


def test_sums_of_the_smallest_tables():
    """Three rows: x = 0 0 1, c = 0 1 1."""
    X, y = np.array([[0], [0], [1]]), np.array([0, 1, 1])
    count = lambda counts, n_cells: counts.astype(float) ** 2 * n_cells  # noqa: E731
    (sums,) = table_sums.table_sums(X, y, (2,), 2, (count,))
    assert (sums.none, sums.of_class) == (9.0, 2 * (1 + 4))
    assert sums.single.tolist() == [2 * (4 + 1)]
    assert sums.single_class.tolist() == [4 * 3]
    assert sums.pair.tolist() == sums.pair_class.tolist() == [[0.0]]
