"""Decision trees as they are printed: what they decide, and no comparison that decides nothing."""

import numpy as np
import pytest

from bncc.lower.kernels.branches.trees import (
    Node,
    branches_of,
    leaf_depths,
    leaves_of,
    nodes,
)
from bncc.program.ir import Table
from bncc.structure.decision_tables import BranchingTable
from tests.tree_programs import random_tree

N_STATES = (9, 6, 5)


def table_of(tree):
    costs = np.zeros((tree.n_rows, 2), dtype=np.int64)
    return Table("t", tree.read, costs, 1, tree=tree)


def decided(branch, states):
    while isinstance(branch, Node):
        branch = branch.above if states[branch.feature] >= branch.least else branch.below
    return branch


def chain(*sides):
    """Return the tree of one feature whose cuts are compared from the lowest on."""
    n = len(sides) - 1
    last = (-1 - n,)
    return BranchingTable(
        (0,) * n, tuple(range(n)), tuple(-1 - k for k in range(n)), (*range(1, n), *last)
    )


@pytest.mark.parametrize(
    ("sides", "n_nodes", "deepest"),
    [
        ((0, 0, 1), 1, 1),  # Below -60 and up to -57: one leaf
        ((1, 0, 0), 1, 1),
        ((0, 1, 1, 2), 2, 2),
        ((0, 0, 0, 0), 0, 0),
        ((0, 1, 0), 2, 2),
    ],
)
def test_no_cut_is_compared_between_equal_leaves(sides, n_nodes, deepest):
    tree = chain(*sides)
    branch = branches_of(table_of(tree), (len(sides),), sides)
    assert [decided(branch, (s,)) for s in range(len(sides))] == list(sides)
    assert sum(1 for _ in nodes(branch)) == n_nodes
    assert max(leaf_depths(branch)) == deepest


def test_a_cut_is_dropped_whose_other_side_is_a_node_of_the_feature():
    """Above the first cut, the second one decides between a leaf and that of the other side."""
    tree = BranchingTable((0, 0, 0), (3, 1, 5), (1, -1, -3), (2, -2, -4))
    branch = branches_of(table_of(tree), (7,), (0, 1, 1, 2))
    assert [decided(branch, (s,)) for s in range(7)] == [0, 0, 1, 1, 1, 1, 2]
    assert [node.least for node in nodes(branch)] == [6, 2]


def test_a_cut_is_dropped_whose_lower_side_is_one_comparison_away():
    """The upper side is two away, so the lower one's highest branch becomes the upper side."""
    tree = BranchingTable((0, 0, 0, 0), (3, 1, 6, 5), (1, -1, 3, -3), (2, -2, -5, -4))
    branch = branches_of(table_of(tree), (8,), (0, 1, 1, 2, 3))
    assert [decided(branch, (s,)) for s in range(8)] == [0, 0, 1, 1, 1, 1, 2, 3]
    assert [node.least for node in nodes(branch)] == [2, 7, 6]


def test_equal_sides_of_a_node_are_one_whatever_they_compare():
    tree = BranchingTable((1, 0, 0), (2, 1, 1), (1, -1, -3), (2, -2, -4))
    branch = branches_of(table_of(tree), (4, 4), (0, 1, 0, 1))
    assert branch == Node(0, 2, 1, 0)


def test_a_table_of_levels_has_no_cut_between_equal_rows():
    table = Table("t", (0,), np.zeros((6, 2), dtype=np.int64), 1, maps={0: (0, 1, 2, 3, 4, 5)})
    branch = branches_of(table, (6,), (3, 3, 3, 3, 3, 4))
    assert branch == Node(0, 5, 4, 3)


@pytest.mark.parametrize("seed", range(30))
def test_a_tree_decides_as_its_table_and_is_no_deeper(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, N_STATES, int(rng.integers(2, 40)))
    leaves = rng.integers(0, int(rng.integers(1, 4)), tree.n_rows).tolist()
    branch = branches_of(table_of(tree), N_STATES, leaves)
    X = np.array(list(np.ndindex(*N_STATES)))
    rows = tree.rows(X)
    assert [decided(branch, x) for x in X.tolist()] == [leaves[row] for row in rows]
    assert max(leaf_depths(branch)) <= tree.depth
    assert set(leaves_of(branch)) <= set(leaves)
    for node in nodes(branch):
        assert node.above != node.below
        above, below = node.above, node.below
        is_below = isinstance(below, Node) and below.feature == node.feature
        assert not (is_below and below.above == above)
        is_above = isinstance(above, Node) and above.feature == node.feature
        assert not (is_above and above.below == below)
