"""One branching table as a classification tree (CART) of the states."""

from math import floor

import numpy as np

from bncc.boosting.branches import Nodes, branching_table
from bncc.boosting.settings import BoostSettings
from bncc.boosting.sums import Samples, Scores
from bncc.structure.decision_tables import BranchingTable

CRITERION = "gini"
"""Criterion of cuts.

Validation errors in percent, means of six splits, gini and entropy, 255 cuts a column. All cuts are
no better, nor are at least 5 rows in a leaf.

========  ============  ============  ============  ============
leaves    phoneme       magic04       dry_bean      wifi
========  ============  ============  ============  ============
16        18.06  20.28  17.64  17.48  10.52  11.35  2.80   2.80
32        15.78  16.20  16.60  16.44  8.92   9.41   3.27   3.39
64        15.10  15.37  15.98  15.65  9.07   8.67   3.39   3.51
128       14.24  14.97  15.50  15.40  8.93   9.14   3.39   3.51
========  ============  ============  ============  ============
"""
MOST_DEPTH = 64
"""Limit on depth without one of the settings: C99 translates at least 127 nested blocks."""
LEAST_SHARE = 1e-3
"""Share of a class that a leaf lacks, so that its score is finite."""


def fit_tree(samples: Samples, settings: BoostSettings) -> tuple[BranchingTable, Scores]:
    """
    Grow a classification tree, best first; its scores are logarithms of the leaves' class shares.

    The best class of a leaf, the first on ties, is the decision of scikit-learn's tree. Where no
    cut helps, the first column that varies is cut, without effect.
    """
    from sklearn.tree import DecisionTreeClassifier

    fitted = DecisionTreeClassifier(
        criterion=CRITERION,
        max_leaf_nodes=settings.leaves,
        max_depth=settings.depth or MOST_DEPTH,
        random_state=settings.seed % 2**32,
    ).fit(samples.X, samples.y, sample_weight=samples.weights)
    tree = fitted.tree_
    shares = np.full((tree.node_count, samples.n_classes), LEAST_SHARE)
    values = tree.value[:, 0, :]
    shares[:, fitted.classes_] = np.maximum(values, LEAST_SHARE)
    # Shares that differ by rounding may have the same logarithm.
    shares[np.arange(len(shares)), fitted.classes_[values.argmax(axis=1)]] *= 1.0 + LEAST_SHARE
    if tree.node_count == 1:
        f = int(np.flatnonzero((samples.X != samples.X[0]).any(axis=0))[0])
        nodes = Nodes((f, -1, -1), (int(samples.X[:, f].min()), -1, -1), (1, -1, -1), (2, -1, -1))
        shares = np.repeat(shares, 3, axis=0)
    else:
        # A threshold is halfway between two states of the samples.
        nodes = Nodes(
            tree.feature.tolist(),
            [floor(threshold) for threshold in tree.threshold.tolist()],
            tree.children_left.tolist(),
            tree.children_right.tolist(),
        )
    table, leaves = branching_table(nodes)
    return table, Scores(np.log(shares[leaves]), np.zeros(samples.n_classes))
