"""Confusion matrix and recall by hand."""

import numpy as np

from bncc.model.error_rates import confusion_matrix, recall_of


def test_rows_are_true_classes_and_unknown_ones_are_left_out():
    y, decisions = np.array([0, 0, 1, -1, 1, 1]), np.array([0, 2, 1, 1, 0, 1])
    confusion = confusion_matrix(y, decisions, 3)
    assert confusion.tolist() == [[1, 0, 1], [1, 2, 0], [0, 0, 0]]
    assert recall_of(confusion.tolist()) == [1 / 2, 2 / 3, None]
