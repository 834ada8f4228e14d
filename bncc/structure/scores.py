"""Scores of features and arcs: conditional mutual information and BDeu."""

from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln

from bncc._types import FloatArray, IntArray
from bncc.structure.table_sums import (
    TableSums,
    log_gamma_term,
    log_likelihood_term,
    table_sums,
)


def conditional_mutual_information(
    X: IntArray, y: IntArray, n_states: Sequence[int], n_classes: int
) -> FloatArray:
    r"""
    Return I(X_i; X_j | C) of all pairs, from plain relative frequencies.

    .. math::
       I(X_i; X_j \mid C) = \frac1N \sum_{abc} N_{abc} \ln \frac{N_{abc} N_c}{N_{ac} N_{bc}}

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int; returns (n_features, n_features)
    float64, symmetric, in nats, >= 0.

    References
    ----------
    Friedman, Geiger and Goldszmidt, Bayesian network classifiers, 1997, section 4.1.
    """
    terms = (log_likelihood_term(),)
    (sums,) = table_sums(X, y, n_states, n_classes, terms, with_marginal=False)
    return information_of_sums(sums, len(y))


def information_of_sums(sums: TableSums, n_samples: int) -> FloatArray:
    """
    Return I(X_i; X_j | C) of all pairs from sums of N ln N, whose pairs it overwrites.

    Shapes: returns (n_features, n_features) float64, as of `conditional_mutual_information`.
    """
    joint = sums.pair_class
    np.fill_diagonal(joint, sums.single_class)
    # In place: with ten thousand features each copy would take 800 MB.
    joint -= sums.single_class[:, None]
    joint -= sums.single_class[None, :] - sums.of_class
    joint /= max(n_samples, 1)
    return np.maximum(joint, 0.0, out=joint)


def bdeu(counts: IntArray, alpha: float) -> float:
    r"""
    Return the BDeu score of a node given its parents.

    .. math::
       \sum_j \ln\frac{\Gamma(\alpha/q)}{\Gamma(\alpha/q + N_{j})} +
       \sum_{jk} \ln\frac{\Gamma(\alpha/(qr) + N_{jk})}{\Gamma(\alpha/(qr))}

    Shapes: `counts` (q, r) int.
    """
    q, r = counts.shape
    parents = gammaln(alpha / q) - gammaln(alpha / q + counts.sum(axis=1))
    cells = gammaln(alpha / (q * r) + counts) - gammaln(alpha / (q * r))
    return float(parents.sum() + cells.sum())


def bdeu_gains(
    X: IntArray, y: IntArray, n_states: Sequence[int], n_classes: int, alpha: float
) -> FloatArray:
    """
    Return what an arc between two features gains in BDeu: s(X_i,{C,X_j}) - s(X_i,{C}).

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int; returns (n_features, n_features)
    float64, gains in nats; symmetric, as BDeu scores equivalent graphs alike.

    References
    ----------
    S2, sections 2.1 and 3.
    """
    terms = (log_gamma_term(alpha),)
    (sums,) = table_sums(X, y, n_states, n_classes, terms, with_marginal=False)
    # With J(S) the sum of log-gamma terms over the joint table of S and C, a BDeu score is
    # s(X_i, pa) = J(X_i, pa) - J(pa), as alpha / q of the parents is alpha / cells of their table.
    gains = sums.pair_class
    gains -= sums.single_class[:, None]
    gains -= sums.single_class[None, :] - sums.of_class
    np.fill_diagonal(gains, -np.inf)
    return gains
