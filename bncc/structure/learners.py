"""The structure learners by the name that the command line gives them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bncc._types import IntArray
from bncc.errors import OptionError
from bncc.structure.candidate_sets import CANDIDATE_SETS
from bncc.structure.chow_liu import chow_liu_tree
from bncc.structure.forest import forest_tan
from bncc.structure.graph import Structure
from bncc.structure.naive import naive_bayes
from bncc.structure.options import alpha_of, check_values, order_of
from bncc.structure.random_tan import random_tan


@dataclass(frozen=True)
class Problem:
    """What every learner is given.

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
    options : mapping of str to str
        The user's structure options, their keys already checked.
    seed : int
        Seed of everything random.
    """

    X: IntArray
    y: IntArray
    n_states: Sequence[int]
    n_classes: int
    options: Mapping[str, str]
    seed: int = 0

    @property
    def data(self) -> tuple[IntArray, IntArray, Sequence[int], int]:
        """The arguments that learners share, in their order."""
        return self.X, self.y, self.n_states, self.n_classes


@dataclass(frozen=True)
class Learner:
    """A structure learner and the option keys it knows.

    Parameters
    ----------
    learn : callable
        From a problem to a structure.
    option_keys : tuple of str
        Keys of `Problem.options` that it reads.
    """

    learn: Callable[[Problem], Structure]
    option_keys: tuple[str, ...] = ()


def _random(problem: Problem) -> Structure:
    rng = np.random.default_rng(problem.seed)
    return random_tan(order_of(problem.options, problem.X.shape[1], rng), rng)


LEARNERS: Mapping[str, Learner] = {
    "naive": Learner(lambda p: naive_bayes(p.X.shape[1])),
    "chow-liu": Learner(lambda p: chow_liu_tree(*p.data)),
    "forest": Learner(lambda p: forest_tan(*p.data, alpha_of(p.options)), ("alpha",)),
    "random": Learner(_random, ("order", "width")),
}
"""Structures that are learned before the tables."""

SUM = "tables"
"""A sum of boosted tables, which is no network."""
SUM_KEYS = ("tables", "rows", "features", "cuts", "dictionary", "rate", "decay", "shift")

KNOWN = (*LEARNERS, *CANDIDATE_SETS, SUM)

ANNOUNCED = (
    "hill-climb", "anneal", "etan", "s-etan", "sa-etan", "a-etan", "network-hill-climb", "tabu",
    "mmhc", "curriculum",
)  # fmt: skip
"""Names of the command line's contract whose learners are still to come."""


def option_keys(name: str) -> tuple[str, ...]:
    """Return the option keys that a structure knows.

    Parameters
    ----------
    name : str
        As on the command line.

    Returns
    -------
    tuple of str
        Keys.

    Raises
    ------
    OptionError
        If there is no structure of this name.
    """
    if name in LEARNERS:
        return LEARNERS[name].option_keys
    if name in CANDIDATE_SETS:
        return CANDIDATE_SETS[name].option_keys
    if name == SUM:
        return SUM_KEYS
    known = f"{', '.join(KNOWN[:-1])} or {KNOWN[-1]}"
    if name in ANNOUNCED:
        raise OptionError(f"structure '{name}' is not available yet; choose {known}")
    raise OptionError(f"unknown structure '{name}'; choose {known}")


def check_structure_options(
    name: str, options: Mapping[str, str], extra_keys: Sequence[str] = ()
) -> None:
    """Refuse a structure name or option key that nobody reads.

    Parameters
    ----------
    name : str
        Name of the learner.
    options : mapping of str to str
        The user's structure options.
    extra_keys : sequence of str
        Keys that someone beside the learner reads.

    Raises
    ------
    OptionError
        If the name or a key is unknown, or a value cannot be read.
    """
    keys = sorted({*option_keys(name), *extra_keys})
    for key in options:
        if key not in keys:
            known = f"its options are {', '.join(keys)}" if keys else "it has no options"
            raise OptionError(f"structure '{name}' knows no option '{key}'; {known}")
    check_values(options)


def learn_structure(
    name: str,
    X: IntArray,
    y: IntArray,
    n_states: Sequence[int],
    n_classes: int,
    options: Mapping[str, str] | None = None,
    seed: int = 0,
) -> Structure:
    """Learn a structure by name.

    Parameters
    ----------
    name : str
        One of `LEARNERS`.
    X : (n_samples, n_features) int
        States.
    y : (n_samples,) int
        Class indices.
    n_states : sequence of int
        Cardinality of each feature.
    n_classes : int
        C.
    options : mapping of str to str, optional
        Structure options; ``alpha`` for ``forest``.
    seed : int
        Seed of everything random.

    Returns
    -------
    Structure
        The learned structure.

    Raises
    ------
    OptionError
        If the name or an option is unknown.
    """
    options = options or {}
    check_structure_options(name, options)
    if name not in LEARNERS:
        raise OptionError(f"structure '{name}' is learned together with the tables; train a model")
    return LEARNERS[name].learn(Problem(X, y, n_states, n_classes, options, seed))
