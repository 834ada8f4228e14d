"""Growth of branching tables: against a slow search, and both engines alike."""

import numpy as np
import pytest

from bncc.boosting.branches import (
    LEAST_SAMPLES,
    BranchBounds,
    Nodes,
    branching_table,
    grow_branches,
    numpy_leaf_cuts,
)
from bncc.boosting.cuts import bins_of
from bncc.boosting.native_engine import NativeLeafCuts
from bncc.structure.decision_tables import BranchingTable
from tests.unit.boosting.test_cuts import RELATIVE, slopes_by_chance

L2 = 3.0


def worth(slopes: np.ndarray) -> float:
    gradient, curvature = np.split(slopes.astype(np.float64).sum(axis=0), 2)
    return float((gradient**2 / (curvature + L2)).sum())


def slow_growth(X, slopes, leaves, depth):
    """Grow by trying each cut between two states of each leaf: a list of cells, in any order."""
    cells = [(np.arange(len(X)), 0)]
    while len(cells) < leaves:
        found = []
        for place, (samples, level) in enumerate(cells):
            for f in range(X.shape[1] if level < depth else 0):
                states = np.unique(X[samples, f])
                for cut in states[:-1]:
                    below = samples[X[samples, f] <= cut]
                    above = samples[X[samples, f] > cut]
                    if min(len(below), len(above)) >= LEAST_SAMPLES:
                        gain = worth(slopes[below]) + worth(slopes[above]) - worth(slopes[samples])
                        found.append((gain, place, below, above, level + 1))
        if not found:
            break
        gain, place, below, above, level = max(found, key=lambda each: each[0])
        if gain <= 0:
            break
        cells[place : place + 1] = [(below, level), (above, level)]
    return {tuple(samples.tolist()) for samples, _ in cells}


def by_row(table, X, n) -> set:
    rows = table.rows(X)
    return {tuple(np.flatnonzero(rows == row).tolist()) for row in range(n)}


def few(seed: int, n: int = 120, n_classes: int = 3):
    rng = np.random.default_rng(seed)
    X = np.stack([rng.integers(0, r, n) for r in (1, 2, 7, 40)], axis=1)
    return X, slopes_by_chance(n, n_classes, rng)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("leaves", "depth"), [(2, 1), (6, 9), (9, 3)])
def test_the_leaf_of_the_largest_gain_is_the_next_to_be_cut(seed, leaves, depth):
    X, slopes = few(seed)
    bins = bins_of(X)
    bounds = BranchBounds(leaves, depth)
    features = np.arange(X.shape[1])
    table, cells = grow_branches(bins, slopes, features, bounds, numpy_leaf_cuts(bins, L2))
    assert by_row(table, X, table.n_rows) == slow_growth(X, slopes, leaves, depth)
    assert np.array_equal(table.rows(X), cells)
    assert np.bincount(cells).min() >= LEAST_SAMPLES


@pytest.mark.cc
@pytest.mark.parametrize("n_classes", [2, 4, 6, 10, 26, 255])
def test_both_engines_grow_the_same_trees(require_tool, n_classes):
    require_tool("gcc")
    X, slopes = few(n_classes, 500, n_classes)
    bins, features, bounds = bins_of(X), np.array([3, 2, 1]), BranchBounds(12, 6)
    ours, reference = (
        grow_branches(bins, slopes, features, bounds, cuts)
        for cuts in (NativeLeafCuts(bins, L2, n_classes), numpy_leaf_cuts(bins, L2))
    )
    assert ours[0] == reference[0]
    assert np.array_equal(ours[1], reference[1])


@pytest.mark.cc
def test_gains_of_a_leaf_are_the_same(require_tool):
    require_tool("gcc")
    X, slopes = few(1, 400)
    bins, samples, features = bins_of(X), np.arange(0, 400, 3), np.arange(4)
    ours = NativeLeafCuts(bins, L2, 3)(slopes)(samples, features)
    reference = numpy_leaf_cuts(bins, L2)(slopes)(samples, features)
    assert (ours.feature, ours.bin) == (reference.feature, reference.bin)
    assert ours.gain == pytest.approx(reference.gain, rel=RELATIVE)


@pytest.mark.parametrize("engine", [numpy_leaf_cuts, pytest.param(None, marks=pytest.mark.cc)])
def test_what_cannot_be_cut_is_no_table(engine, require_tool):
    X, slopes = few(0, 9)
    if engine is None:
        require_tool("gcc")
    for states in (X * 0, X):  # one state; too few samples for two leaves
        bins = bins_of(states)
        cuts = engine(bins, L2) if engine else NativeLeafCuts(bins, L2, 3)
        table, cells = grow_branches(bins, slopes, np.arange(4), BranchBounds(4, 4), cuts)
        assert table is None
        assert not cells.any()


def test_nodes_are_in_preorder_and_leaves_from_left_to_right():
    nodes = Nodes((5, 6, -1, -1, 7, -1, -1), (1, 2, 0, 0, 3, 0, 0), (4, 2, -1, -1, 5, -1, -1),
                  (1, 3, -1, -1, 6, -1, -1))  # fmt: skip
    table, leaves = branching_table(nodes)
    assert table == BranchingTable((5, 7, 6), (1, 3, 2), (1, -1, -3), (2, -2, -4))
    assert leaves == [5, 6, 2, 3]
