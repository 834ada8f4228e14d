"""Tables addressed by a decision tree."""

import numpy as np

from bncc.structure.decision_tables import BranchingTable

TREE = BranchingTable(features=(0, 1, 0), cuts=(4, 2, 6), below=(1, -1, -3), above=(2, -2, -4))


def test_rows_are_the_leaves_from_left_to_right():
    X = np.array([[4, 2], [4, 3], [5, 0], [6, 9], [7, 0]])
    assert TREE.n_rows == 4
    assert TREE.rows(X).tolist() == [0, 1, 2, 2, 3]


def test_a_tree_without_samples_has_no_rows_to_find():
    assert TREE.rows(np.empty((0, 2), dtype=np.int64)).shape == (0,)
