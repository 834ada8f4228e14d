"""Trees and forests in which every feature has the class as a parent."""

from collections.abc import Sequence

import numpy as np

from bncc._types import IntArray
from bncc.structure.candidates import subset
from bncc.structure.graph import Structure, forest
from bncc.structure.learner import Learner, Problem
from bncc.structure.options import (
    DEFAULT_ALPHA,
    Options,
    alpha_of,
    choice_of,
    order_name,
    order_of,
    width_of,
)
from bncc.structure.orders import earlier
from bncc.structure.scores import NEGLIGIBLE_NATS, bdeu_gains, conditional_mutual_information
from bncc.structure.spanning_trees import maximum_spanning_forest

SCORES = ("cmi", "bdeu")
"""Weights of arcs: conditional mutual information, or gains of BDeu."""


def naive_bayes(n_features: int) -> Structure:
    """Return the structure in which the class is the only parent."""
    return forest([None] * n_features)


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


def _learn_chow_liu(problem: Problem) -> Structure:
    if _score(problem.options) == "bdeu":
        return bdeu_tree(*problem.data, alpha_of(problem.options))
    return chow_liu_tree(*problem.data)


def forest_tan(
    X: IntArray,
    y: IntArray,
    n_states: Sequence[int],
    n_classes: int,
    alpha: float = DEFAULT_ALPHA,
) -> Structure:
    """
    Return the forest TAN of greatest BDeu score.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int.

    References
    ----------
    S2, section 2.1.
    """
    gains = bdeu_gains(X, y, n_states, n_classes, alpha)
    return forest(maximum_spanning_forest(gains, threshold=NEGLIGIBLE_NATS))


def _learn_forest(problem: Problem) -> Structure:
    return forest_tan(*problem.data, alpha_of(problem.options))


def random_tan(order: IntArray, rng: np.random.Generator) -> Structure:
    """
    Sample a random tree.

    Shapes: `order` (n_features,) int64.

    References
    ----------
    S0, section 4.2 (TAN Random).
    """
    choice = np.ones(len(order), dtype=np.int64)
    choice[order[:1]] = 0
    return subset(earlier(order), 1, rng).choose(choice)


def _learn_random(problem: Problem) -> Structure:
    rng = np.random.default_rng(problem.seed)
    return random_tan(order_of(problem.options, problem.X.shape[1], rng), rng)


LEARNERS = (
    Learner("naive", lambda problem: naive_bayes(problem.X.shape[1])),
    Learner(
        "chow-liu",
        _learn_chow_liu,
        {"score": _score, "alpha": alpha_of},
        {"alpha": ("score", "bdeu")},
    ),
    Learner("forest", _learn_forest, {"alpha": alpha_of}),
    Learner("random", _learn_random, {"order": order_name, "width": width_of}),
)
