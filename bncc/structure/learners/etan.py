"""Extended TAN: a forest in which the class and a feature are both optional parents."""

from collections.abc import Sequence

import numpy as np

from bncc._types import IntArray
from bncc.errors import OptionError
from bncc.structure.counts import class_family_counts, family_counts
from bncc.structure.graph import Structure
from bncc.structure.learner import Learner, Problem
from bncc.structure.options import DEFAULT_ALPHA, LEAST, MOST, Options, alpha_of, choice_of
from bncc.structure.scores import (
    NEGLIGIBLE_NATS,
    FamilyScores,
    bdeu,
    bdeu_families,
    bic_families,
    score_of,
)
from bncc.structure.spanning_trees import maximum_branching

DEFAULT_ALPHAS = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 50.0, 70.0)
"""The grid of S2, section 4."""


def alphas_of(options: Options) -> tuple[float, ...]:
    """Return the candidate equivalent sample sizes."""
    text = options.get("alphas")
    if text is None:
        return DEFAULT_ALPHAS
    try:
        alphas = [float(part) for part in text.split(",")]
    except ValueError:
        alphas = []
    if not alphas or not all(LEAST <= a <= MOST for a in alphas) or len(set(alphas)) < len(alphas):
        raise OptionError(
            f"structure option alphas={text} is not a list of different positive numbers; try "
            "alphas=1,2,5,10"
        )
    return tuple(sorted(alphas))


def best_alpha(
    structure: Structure,
    X: IntArray,
    y: IntArray,
    n_states: Sequence[int],
    n_classes: int,
    alphas: Sequence[float],
) -> float:
    """
    Return the equivalent sample size at which a structure has its highest BDeu score.

    For a structure with the highest score among all structures and alphas, this is its alpha.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int.

    References
    ----------
    S2, section 4.
    """
    of_class = class_family_counts(X, y, structure, n_states, n_classes)
    totals = np.array([bdeu(of_class, alpha) for alpha in alphas])
    for i, has_class in enumerate(structure.class_is_parent):
        cells = family_counts(X, y, structure, n_states, n_classes, i)
        tables = np.moveaxis(cells, 1, 2).reshape(-1, n_states[i]) if has_class else cells.sum(2)
        totals += [bdeu(tables, alpha) for alpha in alphas]
    return float(alphas[int(totals.argmax())])


SCORES = ("bdeu", "bic")


def best_forest(families: FamilyScores, *, is_selective: bool = False) -> Structure:
    """
    Return the structure of greatest score in which each feature has at most one feature parent.

    With or without a feature parent, the class becomes a parent if it raises the score, since
    that closes no cycle. The weight of an arc is its gain over no arc, and the arcs are the
    branching of greatest weight: S2's search over roots in one run.

    References
    ----------
    S2, section 3, algorithms 1 to 3, and equation 7.
    """
    n = len(families.alone)
    class_alone = families.given_class > families.alone + NEGLIGIBLE_NATS
    without_arc = np.where(class_alone, families.given_class, families.alone)
    class_beside = np.ones((n, n), dtype=bool)
    with_arc = families.given_both
    if not is_selective:
        class_beside = families.given_both > families.given_feature + NEGLIGIBLE_NATS
        with_arc = np.where(class_beside, families.given_both, families.given_feature)
    gains = with_arc - without_arc[:, None]
    gains[gains <= NEGLIGIBLE_NATS] = 0.0
    parent = maximum_branching(gains.T)
    return Structure(
        tuple(() if j is None else (j,) for j in parent),
        tuple(
            bool(class_alone[i] if j is None else class_beside[i, j]) for i, j in enumerate(parent)
        ),
    )


def etan(
    X: IntArray,
    y: IntArray,
    n_states: Sequence[int],
    n_classes: int,
    alphas: Sequence[float] = (DEFAULT_ALPHA,),
    *,
    is_selective: bool = False,
) -> Structure:
    """
    Return the extended TAN of greatest BDeu score.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int.

    References
    ----------
    S2, sections 3 and 4: ETAN and S-ETAN at one alpha, A-ETAN and SA-ETAN at several.
    """
    return best_of_alphas(
        bdeu_families(X, y, n_states, n_classes, alphas), is_selective=is_selective
    )


def best_of_alphas(
    families_of_alphas: Sequence[FamilyScores], *, is_selective: bool = False
) -> Structure:
    """
    Return the structure of greatest score among those of several prior strengths.

    References
    ----------
    S2, section 4.
    """
    found = [best_forest(each, is_selective=is_selective) for each in families_of_alphas]
    pairs = zip(found, families_of_alphas, strict=True)
    return found[int(np.argmax([score_of(structure, each) for structure, each in pairs]))]


def etan_by_bic(
    X: IntArray,
    y: IntArray,
    n_states: Sequence[int],
    n_classes: int,
    *,
    is_selective: bool = False,
) -> Structure:
    """Return the extended TAN of greatest BIC."""
    families = bic_families(X, y, n_states, n_classes)
    return best_forest(families, is_selective=is_selective)


def _score(options: Options) -> str:
    return choice_of(options, "score", SCORES)


def _learner(name: str, is_selective: bool) -> Learner:
    def learn(problem: Problem) -> Structure:
        if _score(problem.options) == "bic":
            return etan_by_bic(*problem.data, is_selective=is_selective)
        return etan(*problem.data, (alpha_of(problem.options),), is_selective=is_selective)

    readers = {"alpha": alpha_of, "score": _score}
    return Learner(name, learn, readers, {"alpha": ("score", "bdeu")})


def _learner_of_alphas(name: str, is_selective: bool) -> Learner:
    def learn(problem: Problem) -> Structure:
        return etan(*problem.data, alphas_of(problem.options), is_selective=is_selective)

    return Learner(name, learn, {"alphas": alphas_of})


LEARNERS = (
    _learner("etan", False),
    _learner("s-etan", True),
    _learner_of_alphas("sa-etan", True),
    _learner_of_alphas("a-etan", False),
)
