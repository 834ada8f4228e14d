"""Chow-Liu: the tree-augmented naive Bayes of greatest likelihood."""

from collections.abc import Sequence

from bncc._types import IntArray
from bncc.structure.graph import Structure, forest
from bncc.structure.learner import Learner
from bncc.structure.scores import conditional_mutual_information
from bncc.structure.spanning_forest import maximum_spanning_forest


def chow_liu_tree(X: IntArray, y: IntArray, n_states: Sequence[int], n_classes: int) -> Structure:
    """Return the maximum spanning tree of I(X_i; X_j | C), directed away from feature 0.

    Parameters
    ----------
    X : (n_samples, n_features) int
        States.
    y : (n_samples,) int
        Class indices.
    n_states : sequence of int
        Cardinality of each feature.
    n_classes : int
        C.

    Returns
    -------
    Structure
        A TAN structure with n_features - 1 arcs.

    References
    ----------
    Friedman, Geiger and Goldszmidt, Bayesian network classifiers, 1997, theorem 4.2.
    """
    weights = conditional_mutual_information(X, y, n_states, n_classes)
    return forest(maximum_spanning_forest(weights))


LEARNERS = (Learner("chow-liu", lambda problem: chow_liu_tree(*problem.data)),)
