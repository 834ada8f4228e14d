"""
Averaged one-dependence estimators (AODE): an ensemble with each feature in turn as a parent.

S2 compares its classifiers with them. Estimates are those of Weka's AODE with ``-M -W 1``.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from bncc._types import FloatArray, IntArray
from bncc.baselines.baseline import DOUBLE_BITS, Baseline, Options, Rows
from bncc.errors import OptionError

PART = 1024
"""Rows per batch: each takes C times the number of all states in doubles."""


@dataclass(frozen=True, eq=False)
class Averaged:
    r"""
    All one-dependence estimators of a data set.

    .. math::
       P(c, x) \propto \sum_{i:\,n(x_i) \ge F} P(c, x_i) \prod_{j \ne i} P(x_j \mid c, x_i)

    A row in which no value reaches the frequency F is classified by naive Bayes.
    """

    # (n_features,) int64: Index of each feature's first state among all states
    offsets: IntArray
    # (n_classes, n_all) float64: Natural logarithms of P(c, x_i), by class and by state of all
    # features
    log_joint: FloatArray
    # (n_classes, n_all, n_all) float64: ln P(x_j | c, x_i), by class, x_j and x_i; 0 where both are
    # states of one feature
    log_given: FloatArray
    is_frequent: np.ndarray  # (n_all,) bool: True if a state is frequent enough for a parent
    log_naive: FloatArray  # (n_classes, n_all) float64: ln P(x_j | c)
    log_prior: FloatArray  # (n_classes,) float64: ln P(c)

    def log_scores(self, X: IntArray) -> FloatArray:
        """
        Return the logarithm of the sum for each class.

        Shapes: `X` (n, n_features) int; returns (n, n_classes) float64, up to a constant per row.
        """
        states = X + self.offsets
        ones = np.zeros((len(X), self.is_frequent.size))
        np.put_along_axis(ones, states, 1.0, axis=1)
        is_parent = self.is_frequent[states]
        terms = np.stack(
            [
                np.take_along_axis(ones @ given + joint, states, axis=1)
                for given, joint in zip(self.log_given, self.log_joint, strict=True)
            ],
            axis=1,
        )
        with np.errstate(divide="ignore"):  # a row without parents has a sum of 0
            averaged = logsumexp(terms, axis=2, b=is_parent[:, np.newaxis, :])
        naive = ones @ self.log_naive.T + self.log_prior
        return np.where(is_parent.any(axis=1)[:, np.newaxis], averaged, naive)

    def predict(self, X: IntArray) -> IntArray:
        """
        Return the class of each row.

        Shapes: `X` (n, n_features) int; returns (n,) int64, classes, the smallest on ties.
        """
        parts = np.array_split(X, max(1, -(-len(X) // PART)))
        return np.concatenate([self.log_scores(part).argmax(axis=1) for part in parts])


def averaged(rows: Rows, weight: float, least: int) -> Averaged:
    r"""
    Count all pairs of values, and compute the estimates.

    With N rows, C classes, and r_j states of feature j, m-estimates of weight m are

    .. math::
       P(c, x_i) = \frac{n(c, x_i) + m / (C r_i)}{N + m}, \quad
       P(x_j \mid c, x_i) = \frac{n(c, x_i, x_j) + m / r_j}{n(c, x_i) + m}
    """
    n_states = np.array(rows.n_states)
    offsets = np.cumsum(n_states) - n_states
    feature_of = np.repeat(np.arange(rows.n_features), n_states)
    ones = np.zeros((len(rows.X), feature_of.size), dtype=np.float32)  # exact counts up to 2**24
    np.put_along_axis(ones, rows.X + offsets, 1.0, axis=1)
    share = weight / n_states[feature_of]  # m / r_j of each state
    pairs = np.stack([ones[rows.y == c].T @ ones[rows.y == c] for c in range(rows.n_classes)])
    pairs = pairs.astype(np.float64)
    counts = np.diagonal(pairs, axis1=1, axis2=2)
    of_class = np.bincount(rows.y, minlength=rows.n_classes)
    given = (pairs + share[:, np.newaxis]) / (counts + weight)[:, np.newaxis, :]
    given[:, feature_of[:, np.newaxis] == feature_of] = 1
    return Averaged(
        offsets=offsets,
        log_joint=np.log((counts + share / rows.n_classes) / (len(rows.X) + weight)),
        log_given=np.log(given),
        is_frequent=counts.sum(axis=0) >= least,
        log_naive=np.log((counts + share) / (of_class + weight)[:, np.newaxis]),
        log_prior=np.log((of_class + weight / rows.n_classes) / (len(rows.X) + weight)),
    )


def aode(rows: Rows, options: Options, seed: int) -> Baseline:
    """Learn averaged one-dependence estimators from counts."""
    weight = float(options["weight"])
    if not weight > 0:
        raise OptionError(f"a weight of {weight:g} leaves probabilities of 0; use one above 0")
    found = averaged(rows, weight, int(options["least"]))
    n_all = sum(rows.n_states)
    pairs = n_all**2 - sum(r**2 for r in rows.n_states)
    entries = rows.n_classes * (n_all + pairs)
    operations = rows.n_classes * rows.n_features * (rows.n_features + 1)
    lack = (
        f"{entries:,} probabilities and an exponential for each feature are too large for a device"
    )
    return Baseline(found.predict, entries * DOUBLE_BITS, operations, None, lack)
