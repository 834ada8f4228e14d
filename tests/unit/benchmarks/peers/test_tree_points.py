"""Trees added to the peers: their rows, and their bytes without the library's."""

import numpy as np
import pytest

from benchmarks.peers.peers import peers_of
from benchmarks.peers.tree_points import (
    ADDED,
    COLUMNS,
    KNOWN,
    Figures,
    Tree,
    difference,
    figures_of,
    row_of,
)
from benchmarks.peers.uint8_sets import SETS, Fold
from bncc.baselines.exporters import is_installed


def test_the_added_trees_are_those_of_the_file():
    for tree in ADDED:
        (peer,) = (peer for peer in peers_of(tree.set) if peer.model == tree.model)
        assert peer.is_added
        assert peer.generator == "emlearn inline"
    found = [peer for name in SETS for peer in peers_of(name)]
    assert sum(peer.is_added for peer in found) == len(ADDED)
    for tree in KNOWN:
        assert tree.model in {peer.model for peer in peers_of(tree.set)}


def test_a_row_has_the_columns_of_the_file():
    row = dict(zip(COLUMNS, row_of(Tree("usps", 24), Figures(31.501, 324, 186)), strict=True))
    assert row == {
        "set": "usps", "model": "dt24_eml_inl_u8", "generator": "emlearn inline",
        "is_frontier": "0", "is_added": "1", "error": "31.50", "flash_m4": "324",
        "instructions_m0": "186",
    }  # fmt: skip


def test_a_difference_has_both_figures():
    row = {"set": "usps", "model": "dt64_eml_inl", "error": "21.50", "flash_m4": "696",
           "instructions_m0": "195"}  # fmt: skip
    words = difference(Tree("usps", 64, "int16_t"), Figures(21.5, 700, 199), [row])
    assert "bytes 696 in the file and 700 now" in words
    assert "instructions 195 in the file and 199 now" in words


@pytest.mark.no_cover
def test_a_small_tree_is_measured(require_bench, missing):
    if not is_installed("emlearn"):  # which changes numpy's settings when it is imported plainly
        missing("emlearn is not installed")
    for core in ("m0", "m4"):
        require_bench(f"cortex-{core}")
    X = np.random.default_rng(0).integers(0, 200, (300, 2)).astype(np.uint8)
    y = ((X[:, 0] // 50 + X[:, 1] // 70) % 3).astype(np.uint8)
    fold = Fold(X[:200], y[:200], X[200:], y[200:])
    small, large = (figures_of(Tree("some", leaves), fold) for leaves in (3, 16))
    assert large.error < 15 < small.error
    assert 40 < small.flash < large.flash < 300
    assert 10 < small.instructions < large.instructions < 150
