"""Counts of classes and table rows."""

import numpy as np

from bncc.structure import counts
from bncc.structure.graph import Structure


def test_rows_and_counts_of_a_family_follow_the_model():
    """Row = (x2 * 2 + x0) * 3 + x1: first parent outermost, the feature innermost."""
    structure = Structure(((), (2, 0), ()), (True,) * 3)
    X = np.array([[1, 2, 0], [0, 1, 1], [0, 1, 1]])
    y = np.array([0, 1, 1])
    assert counts.family_rows(X, structure, (2, 3, 2), 1).tolist() == [5, 7, 7]
    table = counts.family_counts(X, y, structure, (2, 3, 2), 2, 1)
    assert table.shape == (4, 3, 2)
    assert table[1, 2, 0] == 1
    assert table[2, 1, 1] == 2
    assert table.sum() == 3


def test_classes_without_rows_count_zero():
    assert counts.class_counts(np.array([2, 2]), 4).tolist() == [0, 0, 2, 0]
