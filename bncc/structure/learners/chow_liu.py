"""Chow-Liu: the tree-augmented naive Bayes of greatest likelihood, or of greatest BDeu."""

from collections.abc import Sequence

from bncc._types import IntArray
from bncc.structure.graph import Structure, forest
from bncc.structure.learner import Learner, Problem
from bncc.structure.option_readers import Options, choice_of
from bncc.structure.options import DEFAULT_ALPHA, alpha_of
from bncc.structure.scores import bdeu_gains, conditional_mutual_information
from bncc.structure.spanning_forest import maximum_spanning_forest

SCORES = ("cmi", "bdeu")
"""Weights of arcs: conditional mutual information, or gains of BDeu."""


def chow_liu_tree(X: IntArray, y: IntArray, n_states: Sequence[int], n_classes: int) -> Structure:
    """
    Return the maximum spanning tree of I(X_i; X_j | C), directed away from feature 0.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int.

    References
    ----------
    Friedman, Geiger and Goldszmidt, Bayesian network classifiers, 1997, theorem 4.2.
    """
    weights = conditional_mutual_information(X, y, n_states, n_classes)
    return forest(maximum_spanning_forest(weights))


def bdeu_tree(
    X: IntArray,
    y: IntArray,
    n_states: Sequence[int],
    n_classes: int,
    alpha: float = DEFAULT_ALPHA,
) -> Structure:
    """
    Return the TAN of greatest BDeu score, directed away from feature 0.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int.

    References
    ----------
    S2, section 2, equation 3.
    """
    return forest(maximum_spanning_forest(bdeu_gains(X, y, n_states, n_classes, alpha)))


def _score(options: Options) -> str:
    return choice_of(options, "score", SCORES)


def _learn(problem: Problem) -> Structure:
    if _score(problem.options) == "bdeu":
        return bdeu_tree(*problem.data, alpha_of(problem.options))
    return chow_liu_tree(*problem.data)


LEARNERS = (
    Learner("chow-liu", _learn, {"score": _score, "alpha": alpha_of}, {"alpha": ("score", "bdeu")}),
)
