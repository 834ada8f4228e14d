"""Forest TAN: a spanning forest of the arcs that raise the BDeu score, and of no others."""

from collections.abc import Sequence

from bncc._types import IntArray
from bncc.structure.family_scores import NEGLIGIBLE_NATS
from bncc.structure.graph import Structure, forest
from bncc.structure.learner import Learner, Problem
from bncc.structure.options import DEFAULT_ALPHA, alpha_of
from bncc.structure.scores import bdeu_gains
from bncc.structure.spanning_forest import maximum_spanning_forest


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


def _learn(problem: Problem) -> Structure:
    return forest_tan(*problem.data, alpha_of(problem.options))


LEARNERS = (Learner("forest", _learn, {"alpha": alpha_of}),)
