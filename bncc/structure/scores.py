"""Scores of features and arcs: conditional mutual information and BDeu."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from bncc._types import FloatArray, IntArray
from bncc.structure.counts import Term, class_counts, pair_sums, single_sums


def conditional_mutual_information(
    X: IntArray, y: IntArray, n_states: Sequence[int], n_classes: int
) -> FloatArray:
    r"""Return I(X_i; X_j | C) of all pairs, from plain relative frequencies.

    .. math::
       I(X_i; X_j \mid C) = \frac1N \sum_{abc} N_{abc} \ln \frac{N_{abc} N_c}{N_{ac} N_{bc}}

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
    (n_features, n_features) float64
        Symmetric, in nats, >= 0. The diagonal is I(X_i; X_i | C) = H(X_i | C).

    References
    ----------
    Friedman, Geiger and Goldszmidt, Bayesian network classifiers, 1997, section 4.1.
    """
    k = np.arange(1, len(y) + 1)
    x_log_x = np.concatenate(([0.0], k * np.log(k)))

    def term(n_cells: int) -> FloatArray:
        return x_log_x

    single = single_sums(X, y, n_states, n_classes, term)
    joint = pair_sums(X, y, n_states, n_classes, term)
    np.fill_diagonal(joint, single)
    prior = x_log_x[class_counts(y, n_classes)].sum()
    # In place: with ten thousand features each copy would take 800 MB.
    joint -= single[:, None]
    joint -= single[None, :] - prior
    joint /= max(len(y), 1)
    return np.maximum(joint, 0.0, out=joint)


def bdeu(counts: IntArray, alpha: float) -> float:
    r"""Return the BDeu score of a node given its parents.

    .. math::
       \sum_j \ln\frac{\Gamma(\alpha/q)}{\Gamma(\alpha/q + N_{j})} +
       \sum_{jk} \ln\frac{\Gamma(\alpha/(qr) + N_{jk})}{\Gamma(\alpha/(qr))}

    Parameters
    ----------
    counts : (q, r) int
        Rows with parent configuration j and state k.
    alpha : float
        Equivalent sample size, > 0.

    Returns
    -------
    float
        Natural log of the marginal likelihood of the node's column.
    """
    q, r = counts.shape
    parents = gammaln(alpha / q) - gammaln(alpha / q + counts.sum(axis=1))
    cells = gammaln(alpha / (q * r) + counts) - gammaln(alpha / (q * r))
    return float(parents.sum() + cells.sum())


def bdeu_gains(
    X: IntArray, y: IntArray, n_states: Sequence[int], n_classes: int, alpha: float
) -> FloatArray:
    """Return what an arc between two features gains in BDeu: s(X_i,{C,X_j}) - s(X_i,{C}).

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
    alpha : float
        Equivalent sample size, > 0.

    Returns
    -------
    (n_features, n_features) float64
        Gains in nats; symmetric, as BDeu scores equivalent graphs alike. The diagonal is -inf.

    References
    ----------
    S2, sections 2.1 and 3.
    """
    k = np.arange(len(y) + 1)

    @lru_cache(maxsize=256)
    def log_gamma(n_cells: int) -> FloatArray:
        return np.asarray(gammaln(k + alpha / n_cells) - gammaln(alpha / n_cells))

    term: Term = log_gamma
    # With J(S) the sum of log-gamma terms over the joint table of S and C, a BDeu score is
    # s(X_i, pa) = J(X_i, pa) - J(pa), as alpha / q of the parents is alpha / cells of their table.
    single = single_sums(X, y, n_states, n_classes, term)
    prior = log_gamma(n_classes)[class_counts(y, n_classes)].sum()
    gains = pair_sums(X, y, n_states, n_classes, term)
    gains -= single[:, None]
    gains -= single[None, :] - prior
    np.fill_diagonal(gains, -np.inf)
    return gains
