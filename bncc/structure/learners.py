"""The structure learners by the name that the command line gives them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bncc._types import IntArray
from bncc.errors import OptionError
from bncc.structure.chow_liu import chow_liu_tree
from bncc.structure.forest import DEFAULT_ALPHA, forest_tan
from bncc.structure.graph import Structure
from bncc.structure.naive import naive_bayes


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
    """

    X: IntArray
    y: IntArray
    n_states: Sequence[int]
    n_classes: int
    options: Mapping[str, str]

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


LEARNERS: Mapping[str, Learner] = {
    "naive": Learner(lambda p: naive_bayes(p.X.shape[1])),
    "chow-liu": Learner(lambda p: chow_liu_tree(*p.data)),
    "forest": Learner(lambda p: forest_tan(*p.data, alpha_of(p.options)), ("alpha",)),
}

ANNOUNCED = (
    "random", "tan-subset", "tan-all", "tan-heuristic", "hill-climb", "anneal", "etan", "s-etan",
    "sa-etan", "a-etan", "network-hill-climb", "tabu", "mmhc", "curriculum", "tables",
)  # fmt: skip
"""Names of the command line's contract whose learners are still to come."""


def alpha_of(options: Mapping[str, str]) -> float:
    """Return the equivalent sample size among structure options.

    Parameters
    ----------
    options : mapping of str to str
        Structure options; ``alpha`` may be absent.

    Returns
    -------
    float
        Alpha, > 0; 2 when absent.

    Raises
    ------
    OptionError
        If it is not a positive number.
    """
    text = options.get("alpha", str(DEFAULT_ALPHA))
    try:
        alpha = float(text)
    except ValueError:
        alpha = 0.0
    if not 0 < alpha < 1e9:
        raise OptionError(f"structure option alpha={text} is not a positive number; try alpha=2")
    return alpha


def find_learner(name: str) -> Learner:
    """Return the learner of a name.

    Parameters
    ----------
    name : str
        As on the command line.

    Returns
    -------
    Learner
        The learner.

    Raises
    ------
    OptionError
        If there is none of this name.
    """
    if name in LEARNERS:
        return LEARNERS[name]
    known = f"{', '.join(list(LEARNERS)[:-1])} or {list(LEARNERS)[-1]}"
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
    keys = sorted({*find_learner(name).option_keys, *extra_keys})
    for key in options:
        if key not in keys:
            known = f"its options are {', '.join(keys)}" if keys else "it has no options"
            raise OptionError(f"structure '{name}' knows no option '{key}'; {known}")
    alpha_of(options)


def learn_structure(
    name: str,
    X: IntArray,
    y: IntArray,
    n_states: Sequence[int],
    n_classes: int,
    options: Mapping[str, str] | None = None,
) -> Structure:
    """Learn a structure by name.

    Parameters
    ----------
    name : str
        ``naive``, ``chow-liu`` or ``forest``.
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
    return find_learner(name).learn(Problem(X, y, n_states, n_classes, options))
