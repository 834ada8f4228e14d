"""TAN Random: every feature but the first of a random order has a random earlier parent."""

import numpy as np

from bncc._types import IntArray
from bncc.structure.candidates import subset
from bncc.structure.graph import Structure
from bncc.structure.learner import Learner, Problem
from bncc.structure.options import order_name, order_of, width_of
from bncc.structure.pools import earlier


def random_tan(order: IntArray, rng: np.random.Generator) -> Structure:
    """
    Draw a tree.

    Shapes: `order` (n_features,) int64.

    References
    ----------
    S0, section 4.2 (TAN Random).
    """
    choice = np.ones(len(order), dtype=np.int64)
    choice[order[:1]] = 0
    return subset(earlier(order), 1, rng).choose(choice)


def _learn(problem: Problem) -> Structure:
    rng = np.random.default_rng(problem.seed)
    return random_tan(order_of(problem.options, problem.X.shape[1], rng), rng)


LEARNERS = (Learner("random", _learn, {"order": order_name, "width": width_of}),)
