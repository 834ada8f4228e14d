"""Probabilities where some features are not known: of classes, and of states."""

from collections.abc import Sequence

import numpy as np

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.model.model import Model
from bncc.structure.counts import family_rows
from bncc.structure.decision_tables import TableEnsemble
from bncc.structure.graph import Structure, acyclic_part, topological_order

PART = 1 << 20
"""Largest number of entries of a message; more rows are processed in batches."""


def log_joint(
    structure: Structure,
    n_states: Sequence[int],
    log_tables: tuple[FloatArray, Sequence[FloatArray]],
    X: IntArray,
    is_missing: BoolArray | None = None,
) -> FloatArray:
    r"""
    Return ln p(c, x) of the known features of each row, in O(n r^2) a row and class.

    .. math::
       p(c, x_K) = \sum_{x_M} p(c) \prod_i p(x_i \mid x_{pa(i)}, c), \quad
       m_i(x_{pa(i)}, c) = \sum_{x_i} p(x_i \mid x_{pa(i)}, c) \prod_{j:\,pa(j)=i} m_j(x_i, c)

    The sum over x_i has one term where feature i is known.

    Shapes: `X` (n_samples, n_features) int; `is_missing` (n_samples, n_features) bool; returns
    (n_samples, n_classes) float64, with nothing missing the plain sum of prior and tables, in the
    order of the features.

    References
    ----------
    S2, section 4, table 4; S1, the experiments of figure 5.
    """
    if any(len(parents) > 1 for parents in structure.parents):
        raise ValueError("a feature has two feature parents; only forests are summed out here")
    if structure.class_parents or structure.given:
        raise ValueError("the class has a parent, or a feature is given; no forest is below it")
    order = topological_order(structure)
    if is_missing is None or not is_missing.any():
        return _plain(structure, n_states, log_tables, X)
    widest = max(table.size for table in log_tables[1])
    n_rows = max(1, PART // widest)
    parts = [slice(start, start + n_rows) for start in range(0, len(X), n_rows)]
    return np.concatenate(
        [_upward(structure, order, n_states, log_tables, X[p], is_missing[p]) for p in parts]
    )


def _plain(
    structure: Structure,
    n_states: Sequence[int],
    log_tables: tuple[FloatArray, Sequence[FloatArray]],
    X: IntArray,
) -> FloatArray:
    total = np.tile(log_tables[0], (len(X), 1))
    for i, table in enumerate(log_tables[1]):
        total += table[family_rows(X, structure, n_states, i)]
    return total


def _upward(
    structure: Structure,
    order: Sequence[int],
    n_states: Sequence[int],
    log_tables: tuple[FloatArray, Sequence[FloatArray]],
    X: IntArray,
    is_missing: BoolArray,
) -> FloatArray:
    log_prior, tables = log_tables
    total = np.tile(log_prior, (len(X), 1))
    below: dict[int, FloatArray] = {}
    for i in reversed(order):
        table = tables[i].reshape(-1, n_states[i], len(log_prior))
        message = _message(table, below.pop(i, None), X[:, i], is_missing[:, i])
        if not structure.parents[i]:
            total += message[:, 0]
            continue
        (parent,) = structure.parents[i]
        below[parent] = below[parent] + message if parent in below else message
    return total


def _message(
    table: FloatArray, below: FloatArray | None, x: IntArray, is_missing: BoolArray
) -> FloatArray:
    """Return ln m of a feature, (rows, parent's states, C), from what its children sent."""
    message = np.moveaxis(table[:, x], 1, 0).copy()
    if below is not None:
        message += below[np.arange(len(x)), x][:, np.newaxis]
    missing = np.flatnonzero(is_missing)
    if below is None:
        message[missing] = np.logaddexp.reduce(table, axis=1)
    elif len(missing):
        terms = [table[:, k] + below[missing, k][:, np.newaxis] for k in range(table.shape[1])]
        message[missing] = np.logaddexp.reduce(terms, axis=0)
    return message


def state_frequencies(model: Model) -> tuple[FloatArray, ...]:
    r"""
    Return how often each state of each feature is expected.

    A cost is a negative log-probability in units of the model's format, so that tables by counting
    give the frequencies of states in the training rows, up to rounding. Every feature's states are
    summed over those of its parents,

    .. math:: P(x_i \mid c) = \sum_u P(x_i \mid u, c) \prod_{j} P(u_j \mid c)

    which is exact with at most one parent in addition to the class. Where arcs form a cycle, all
    states of the parent in an arc that closes it count as equally frequent. Neither these sums nor
    tables that were trained to discriminate are such probabilities. The frequencies are then a
    guess: they decide which code is fast on average, and a wrong guess never makes the emitted
    code wrong. Boosted tables have no such probabilities; all states count as equally frequent.
    """
    structure = model.structure
    if isinstance(structure, TableEnsemble):
        return tuple(np.full(n, 1 / n) for n in model.n_states)
    unit = 2.0**-model.q_format.frac_bits
    given_class: dict[int, FloatArray] = {}
    for i in topological_order(acyclic_part(structure)):
        weights = np.ones((1, model.n_classes))
        for j in structure.parents[i]:
            joint = weights[:, None] * given_class.get(j, _uniform(model, j))
            weights = joint.reshape(-1, model.n_classes)
        rows = model.tables[i].reshape(-1, model.n_states[i], model.n_classes)
        given_class[i] = (_probabilities(rows, unit) * weights[:, None]).sum(axis=0)
    classes = _probabilities(model.prior[:, None], unit)[:, 0]
    return tuple(given_class[i] @ classes for i in range(model.n_features))


def _uniform(model: Model, j: int) -> FloatArray:
    return np.full((model.n_states[j], model.n_classes), 1 / model.n_states[j])


def _probabilities(costs: np.ndarray, unit: float) -> FloatArray:
    """Return what costs mean along the last axis but one, 1 in all."""
    likely = np.exp((costs.min(axis=-2, keepdims=True) - costs) * unit)
    return np.asarray(likely / likely.sum(axis=-2, keepdims=True))
