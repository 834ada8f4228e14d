"""Scores of every family of at most one feature parent, with and without the class."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.structure.graph import Structure
from bncc.structure.table_sums import TableSums, log_gamma_term, log_likelihood_term, table_sums

NEGLIGIBLE_NATS = 1e-6
"""Gains below it are rounding: a feature with one state gains exactly 0 in theory."""


@dataclass(frozen=True, eq=False)
class FamilyScores:
    """A decomposable score: s(X, parents) of all families that ETAN chooses among, in nats."""

    # s(C, {}), the same for every structure; it counts where scores of different prior strengths
    # are compared
    of_class: float
    alone: FloatArray  # (n,) float64: s(X_i, {})
    given_class: FloatArray  # (n,) float64: s(X_i, {C})
    given_feature: FloatArray  # (n, n) float64: s(X_i, {X_j}) at [i, j]; the diagonal is -inf
    given_both: FloatArray  # (n, n) float64: s(X_i, {C, X_j}) at [i, j]; the diagonal is -inf


def bdeu_families(
    X: IntArray,
    y: IntArray,
    n_states: Sequence[int],
    n_classes: int,
    alphas: Sequence[float],
) -> tuple[FamilyScores, ...]:
    r"""
    Return the BDeu scores of all families, for several equivalent sample sizes at once.

    .. math::
       s(X, \Pi) = J(X, \Pi) - J(\Pi), \quad J(S) = \sum_{s}
       \ln\frac{\Gamma(\alpha/|S| + N_s)}{\Gamma(\alpha/|S|)}

    where the sum goes over the :math:`|S|` joint states of the variables S.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int.

    References
    ----------
    S2, sections 2 and 4.
    """
    sums = table_sums(X, y, n_states, n_classes, [log_gamma_term(alpha) for alpha in alphas])
    return tuple(bdeu_families_of_sums(each) for each in sums)


def bic_families(X: IntArray, y: IntArray, n_states: Sequence[int], n_classes: int) -> FamilyScores:
    r"""
    Return the BIC scores of all families.

    .. math::
       s(X, \Pi) = \sum_{jk} N_{jk} \ln\frac{N_{jk}}{N_j} - \tfrac12 q (r - 1) \ln N

    with q the product of the parents' cardinalities, whether or not their states occur.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int.
    """
    (sums,) = table_sums(X, y, n_states, n_classes, (log_likelihood_term(),))
    return bic_families_of_sums(sums, n_states, n_classes, len(y))


def bdeu_families_of_sums(sums: TableSums) -> FamilyScores:
    """Return the BDeu scores of all families from sums of log-gamma, whose pairs it overwrites."""
    return _differences(sums)


def bic_families_of_sums(
    sums: TableSums, n_states: Sequence[int], n_classes: int, n_samples: int
) -> FamilyScores:
    """Return the BIC scores of all families from sums of N ln N, whose pairs it overwrites."""
    scores = _differences(sums)
    price = 0.5 * np.log(max(n_samples, 1))
    r = np.asarray(n_states, dtype=np.float64)
    scores.alone[:] -= price * (r - 1)
    scores.given_class[:] -= price * (r - 1) * n_classes
    per_pair = price * np.outer(r - 1, r)
    scores.given_feature[:] -= per_pair
    scores.given_both[:] -= per_pair * n_classes
    return FamilyScores(
        scores.of_class - float(price) * (n_classes - 1),
        scores.alone, scores.given_class, scores.given_feature, scores.given_both,
    )  # fmt: skip


def _differences(sums: TableSums) -> FamilyScores:
    """Return J(X_i, pa) - J(pa) of all families."""
    if sums.pair is None:
        raise ValueError("pairs without the class were not counted")
    given_feature, given_both = sums.pair, sums.pair_class
    given_feature -= sums.single[None, :]
    given_both -= sums.single_class[None, :]
    np.fill_diagonal(given_feature, -np.inf)
    np.fill_diagonal(given_both, -np.inf)
    return FamilyScores(
        sums.of_class - sums.none,
        sums.single - sums.none,
        sums.single_class - sums.of_class,
        given_feature,
        given_both,
    )


def score_of(structure: Structure, families: FamilyScores) -> float:
    """Return the score of a structure, the class's own included."""
    total = families.of_class
    for i, (parents, has_class) in enumerate(
        zip(structure.parents, structure.class_is_parent, strict=True)
    ):
        if len(parents) > 1:
            raise ValueError(f"feature {i} has more than one feature parent")
        if parents:
            pairs = families.given_both if has_class else families.given_feature
            total += float(pairs[i, parents[0]])
        else:
            total += float((families.given_class if has_class else families.alone)[i])
    return total
