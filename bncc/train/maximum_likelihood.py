"""Tables from counts: add-one smoothing, and posterior means under a BDeu prior."""

from collections.abc import Sequence

import numpy as np

from bncc._types import AnyArray, FloatArray, IntArray
from bncc.structure.counts import class_counts, class_family_counts, family_counts
from bncc.structure.graph import Structure

LogTables = tuple[FloatArray, tuple[FloatArray, ...]]
"""Natural log-probabilities: the prior (n_classes,), and per feature a table (rows, n_classes)."""


def ml_log_tables(
    X: IntArray,
    y: IntArray,
    structure: Structure,
    n_states: Sequence[int],
    n_classes: int,
    smoothing: float = 1.0,
    weights: FloatArray | None = None,
) -> LogTables:
    r"""
    Return smoothed relative frequencies.

    .. math:: p(x_i \mid pa_i) = \frac{N(x_i, pa_i) + s}{N(pa_i) + s\,r_i}, \quad p(c) = N(c) / N

    The prior is not smoothed, as in the authors' code of S0 and in scikit-learn's CategoricalNB.
    The table of a class with parents is smoothed, like any other.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int; `weights` (n_samples,) float64;
    returns log_prior (n_classes,) float64, natural log-probabilities; minus infinity for a class
    without rows.
    """
    tables = []
    for i, has_class in enumerate(structure.class_is_parent):
        counts = family_counts(X, y, structure, n_states, n_classes, i, weights)
        tables.append(_log_means(counts, has_class, smoothing))
    _drop_given(tables, structure)
    if structure.class_parents:
        of_class = class_family_counts(X, y, structure, n_states, n_classes, weights)
        return np.zeros(n_classes), (*tables, _log_shares(of_class, smoothing))
    with np.errstate(divide="ignore"):
        log_prior = np.log(class_counts(y, n_classes, weights) / len(y))
    return log_prior, tuple(tables)


def bdeu_log_tables(
    X: IntArray,
    y: IntArray,
    structure: Structure,
    n_states: Sequence[int],
    n_classes: int,
    alpha: float,
    weights: FloatArray | None = None,
) -> LogTables:
    r"""
    Return posterior means under the BDeu prior, including the class.

    .. math::
       p(x_i \mid pa_i) = \frac{N(x_i, pa_i) + \alpha/(q_i r_i)}{N(pa_i) + \alpha/q_i}, \quad
       p(c) = \frac{N(c) + \alpha/C}{N + \alpha}

    Shapes: `weights` (n_samples,) float64; returns log_prior (n_classes,) float64, natural
    log-probabilities.
    """
    tables = []
    for i, has_class in enumerate(structure.class_is_parent):
        counts = family_counts(X, y, structure, n_states, n_classes, i, weights)
        cells = counts.size if has_class else counts.size // n_classes
        tables.append(_log_means(counts, has_class, alpha / cells))
    _drop_given(tables, structure)
    if structure.class_parents:
        of_class = class_family_counts(X, y, structure, n_states, n_classes, weights)
        return np.zeros(n_classes), (*tables, _log_shares(of_class, alpha / of_class.size))
    of_classes = class_counts(y, n_classes, weights)
    log_prior = np.log((of_classes + alpha / n_classes) / (len(y) + alpha))
    return log_prior, tuple(tables)


def _drop_given(tables: list[FloatArray], structure: Structure) -> None:
    for i in structure.given:
        tables[i] = np.zeros_like(tables[i])


def _log_shares(counts: AnyArray, pseudo_count: float) -> FloatArray:
    """Return the class's log table from counts of (parent state, class) cells."""
    smoothed = counts + pseudo_count
    theta = np.log(smoothed) - np.log(smoothed.sum(axis=1, keepdims=True))
    return np.asarray(np.minimum(theta, 0.0))


def _log_means(counts: AnyArray, has_class: bool, pseudo_count: float) -> FloatArray:
    """Return log tables from counts of (parent state, state, class) cells."""
    q, r, n_classes = counts.shape
    if not has_class:
        counts = np.repeat(counts.sum(axis=2, keepdims=True), n_classes, axis=2)
    smoothed = counts + pseudo_count
    theta = np.log(smoothed) - np.log(smoothed.sum(axis=1, keepdims=True))
    return np.asarray(np.minimum(theta, 0.0).reshape(q * r, n_classes))
