"""The best cut: by hand, and both engines alike."""

import numpy as np
import pytest

from bncc.boosting.cuts import bins_of, numpy_best_cuts
from bncc.boosting.native_engine import native_best_cuts
from bncc.boosting.sums import NumpySlopes, Samples

RELATIVE = 1e-4
"""Tolerance of gains in single precision."""


def slopes_by_chance(n: int, n_classes: int, rng: np.random.Generator) -> np.ndarray:
    samples = Samples(
        np.empty((n, 0), dtype=np.uint8),
        rng.integers(0, n_classes, n),
        rng.exponential(1.0, n),
        n_classes,
    )
    return NumpySlopes(samples).of(rng.normal(size=(n, n_classes)).astype(np.float32))


def test_the_gain_is_that_of_both_sides_beyond_the_whole():
    """One class, l2 1: sides of (2, 3) and (-4, 1) gain 4/4 + 16/2 - 4/5."""
    bins = bins_of(np.array([[0], [0], [1]]))
    slopes = np.array([[1.0, 2.0], [1.0, 1.0], [-4.0, 1.0]], dtype=np.float32)
    (cut,) = numpy_best_cuts(bins, 1.0)(slopes, np.zeros(3, dtype=np.int64), 1, np.array([0]))
    assert (cut.feature, cut.bin) == (0, 0)
    assert cut.gain == pytest.approx(4 / 4 + 16 / 2 - 4 / 5)


def test_cells_are_cut_all_at_once():
    """Opposite slopes cancel out in one cell, and add up in two."""
    bins = bins_of(np.array([[0], [1], [0], [1]]))
    slopes = np.array([[1, 1], [-1, 1], [-1, 1], [1, 1]], dtype=np.float32)
    best_cuts = numpy_best_cuts(bins, 1.0)
    assert best_cuts(slopes, np.zeros(4, dtype=np.int64), 1, np.array([0])) == []
    (cut,) = best_cuts(slopes, np.array([0, 0, 1, 1]), 2, np.array([0]))
    assert cut.gain == pytest.approx(4 * 1 / 2)


@pytest.mark.cc
@pytest.mark.parametrize("n_classes", [2, 4, 6, 10, 26, 40, 255])
@pytest.mark.parametrize("n_cells", [1, 5])
def test_both_engines_find_the_same_cuts(require_tool, n_classes, n_cells):
    require_tool("gcc")
    rng = np.random.default_rng(n_classes)
    n = 400
    X = np.stack([rng.integers(0, r, n) for r in (1, 2, 5, 300)], axis=1)
    bins, slopes = bins_of(X), slopes_by_chance(n, n_classes, rng)
    cells = rng.integers(0, n_cells, n)
    read = np.array([3, 1, 2])
    ours = native_best_cuts(bins, 3.0, n_classes, 8)(slopes, cells, n_cells, read)
    reference = numpy_best_cuts(bins, 3.0)(slopes, cells, n_cells, read)
    assert [(cut.feature, cut.bin) for cut in ours] == [(c.feature, c.bin) for c in reference]
    gains = [cut.gain for cut in reference]
    assert [cut.gain for cut in ours] == pytest.approx(gains, rel=RELATIVE)
    assert len(gains) >= 2
