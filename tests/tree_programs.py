"""Random decision trees, and programs whose tables they address, as boosting grows them."""

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from bncc.discretize.feature import Feature
from bncc.program.ir import Program, Table
from bncc.structure.decision_tables import BranchingTable


def random_tree(
    rng: np.random.Generator, n_states: Sequence[int], n_leaves: int, depth: int = 8
) -> BranchingTable:
    """Return a tree of at most so many leaves and levels, cut at random where there is a choice."""
    root: dict = {"depth": 0, "region": {}}
    leaves = [root]
    while len(leaves) < n_leaves:
        able = [leaf for leaf in leaves if leaf["depth"] < depth and _cuts(leaf, n_states)]
        if not able:
            break
        leaf = able[int(rng.integers(len(able)))]
        choices = _cuts(leaf, n_states)
        f, first, last = choices[int(rng.integers(len(choices)))]
        cut = int(rng.integers(first, last))
        below, above = (
            {"depth": leaf["depth"] + 1, "region": {**leaf["region"], f: ends}}
            for ends in ((first, cut), (cut + 1, last))
        )
        leaf.update(feature=f, cut=cut, below=below, above=above)
        leaves.remove(leaf)
        leaves += [below, above]
    return _in_preorder(root)


def _cuts(leaf: dict, n_states: Sequence[int]) -> list[tuple[int, int, int]]:
    ends = ((f, *leaf["region"].get(f, (0, n - 1))) for f, n in enumerate(n_states))
    return [(f, first, last) for f, first, last in ends if first < last]


def _in_preorder(root: dict) -> BranchingTable:
    features, cuts, below, above = [], [], [], []
    n_rows = 0

    def visit(node: dict) -> int:
        nonlocal n_rows
        if "feature" not in node:
            n_rows += 1
            return -n_rows
        k = len(features)
        features.append(node["feature"])
        cuts.append(node["cut"])
        below.append(0)
        above.append(0)
        below[k], above[k] = visit(node["below"]), visit(node["above"])
        return k

    visit(root)
    return BranchingTable(tuple(features), tuple(cuts), tuple(below), tuple(above))


def tree_program(
    n_features: int,
    n_states: int,
    n_classes: int,
    n_trees: int,
    n_leaves: int,
    *,
    bits: int = 4,
    depth: int = 8,
    seed: int = 0,
    has_prior: bool = False,
) -> Program:
    """Return a program of trees over features of one cardinality, every row with a zero."""
    rng = np.random.default_rng(seed)
    features = tuple(Feature(f"x{i}", "state", n_states) for i in range(n_features))
    tables = []
    for _ in range(n_trees):
        tree = random_tree(rng, [n_states] * n_features, n_leaves, depth)
        costs = rng.integers(0, 1 << bits, (tree.n_rows, n_classes))
        costs[np.arange(tree.n_rows), rng.integers(0, n_classes, tree.n_rows)] = 0
        tables.append(Table(f"x{tree.read[-1]}", tree.read, costs, 16, tree=tree))
    prior = rng.integers(0, 1 << bits, n_classes) * has_prior
    classes = tuple(f"c{c}" for c in range(n_classes))
    return Program(features, classes, 2, prior, tuple(tables))


@st.composite
def tree_programs(draw: st.DrawFn, max_classes: int = 26, max_trees: int = 10) -> Program:
    """Draw programs of trees small enough to compile by the dozen."""
    return tree_program(
        draw(st.integers(1, 40)),
        draw(st.sampled_from([2, 3, 16, 255, 300])),
        draw(st.integers(2, max_classes)),
        draw(st.integers(1, max_trees)),
        draw(st.sampled_from([2, 3, 8, 16])),
        bits=draw(st.integers(1, 9)),
        seed=draw(st.integers(0, 2**16)),
        has_prior=draw(st.booleans()),
    )
