r"""
Decisions where some features are missing at run time: these are summed out, in integers.

The C's ``m_predict_missing`` follows the same rule bit for bit. A missing feature is skipped if
nothing below it is known, nor the class, which is what is asked: its table sums to one. Every other
one is summed out by integer additions of probabilities, `bncc.model.missing_form`: in a forest by
messages from the leaves upward (S1, figure 5), in other networks, and where the class has parents,
over all joint states.
"""

from collections.abc import Iterator

import numpy as np

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.errors import DataError
from bncc.model import missing_form
from bncc.model.missing_form import LogAdd, MissingForm, missing_form_of
from bncc.model.model import Model

PART = 1 << 20
"""Largest number of entries of a message, or states; more rows are processed in batches."""

__all__ = ["costs", "log_proba", "predict", "scores", "why_not"]

why_not = missing_form.why_not


def costs(model: Model, X: IntArray, is_missing: BoolArray) -> IntArray:
    r"""
    Return the cost of every class from the features that are known.

    In a forest feature i sends its parent, for each of the parent's states, the cost

    .. math:: m_i(p, c) = \bigoplus_{k = 0, 1, \ldots}
              \Big( 2^F q_i[p, k, c] + \sum_{j:\,pa(j)=i} m_j(k, c) \Big),

    one term alone where it is known, 0 where it and all below it are missing; a root sends it to
    the sum. In other networks, and where the class has parents, the sum over the joint states of
    those that are not skipped, the last feature fastest, has as terms the whole costs.

    Shapes: `X` (n_samples, n_features) int; `is_missing` (n_samples, n_features) bool; returns
    (n_samples, n_classes) int64, costs in units of ``2**-(B_F + F)`` nats.
    """
    form = missing_form_of(model)
    X, is_missing = _checked(model, X, is_missing)
    upward = _upward if form.is_forest else _jointly
    width = form.widest * model.n_classes if form.is_forest else model.n_features
    size = max(1, PART // width)
    parts = [slice(start, start + size) for start in range(0, len(X), size)]
    none = np.empty((0, model.n_classes), dtype=np.int64)
    return np.concatenate([none, *(upward(model, form, X[p], is_missing[p]) for p in parts)])


def scores(model: Model, X: IntArray, is_missing: BoolArray) -> IntArray:
    """
    Return ``cost[c] - min cost``: 0 for the decision.

    Shapes: `X` (n_samples, n_features) int; `is_missing` (n_samples, n_features) bool; returns
    (n_samples, n_classes) int64, scores in units of ``2**-(B_F + F)`` nats, >= 0.
    """
    total = costs(model, X, is_missing)
    return np.asarray(total - total.min(axis=1, keepdims=True))


def predict(model: Model, X: IntArray, is_missing: BoolArray) -> IntArray:
    """
    Return the class index of least cost, the smallest on ties.

    Shapes: `X` (n_samples, n_features) int; `is_missing` (n_samples, n_features) bool; returns
    (n_samples,) int64, class indices.
    """
    return np.asarray(costs(model, X, is_missing).argmin(axis=1), dtype=np.int64)


def log_proba(model: Model, X: IntArray, is_missing: BoolArray) -> FloatArray:
    """
    Return the normalized log-probability of every class that the integer costs stand for.

    Shapes: `X` (n_samples, n_features) int; `is_missing` (n_samples, n_features) bool; returns
    (n_samples, n_classes) float64, natural logarithms, each row summing to one after
    exponentiation.
    """
    bits = model.q_format.frac_bits + missing_form_of(model).log_add.extra_bits
    theta = -scores(model, X, is_missing).astype(np.float64) * 2.0**-bits
    return np.asarray(theta - np.log(np.exp(theta).sum(axis=1, keepdims=True)))


def _checked(model: Model, X: IntArray, is_missing: BoolArray) -> tuple[IntArray, BoolArray]:
    """Return states, 0 where missing, and where they are, after checking both."""
    X, is_missing = np.asarray(X, dtype=np.int64), np.asarray(is_missing, dtype=np.bool_)
    if X.ndim != 2 or X.shape[1] != model.n_features or X.shape != is_missing.shape:
        raise DataError(
            f"states of shape {X.shape} and gaps of shape {is_missing.shape} given; both need one "
            f"column for each of the model's {model.n_features} features"
        )
    X = np.where(is_missing, 0, X)
    if ((X < 0) | (X >= np.array(model.n_states))).any():
        raise DataError("a state is out of range; states of feature i run from 0 to n_states[i]-1")
    return X, is_missing


def _upward(model: Model, form: MissingForm, X: IntArray, is_missing: BoolArray) -> IntArray:
    total = np.tile(form.prior, (len(X), 1))
    below: dict[int, IntArray] = {}
    used = ~is_missing
    for i in form.upward:
        table = form.tables[i].reshape(-1, model.n_states[i], model.n_classes)
        message = _message(form.log_add, table, below.pop(i, None), X[:, i], is_missing[:, i])
        message[~used[:, i]] = 0
        parent = form.parent[i]
        if parent is None:
            total += message[:, 0]
            continue
        used[:, parent] |= used[:, i]
        below[parent] = below[parent] + message if parent in below else message
    return total


def _message(
    log_add: LogAdd, table: IntArray, below: IntArray | None, x: IntArray, is_missing: BoolArray
) -> IntArray:
    """
    Return what a feature sends, (rows, parent's states, C), from what its children sent.

    Without children one that is missing sends nothing.
    """
    message = np.moveaxis(table[:, x], 1, 0).copy()
    if below is None:
        return message
    message += below[np.arange(len(x)), x][:, np.newaxis]
    missing = np.flatnonzero(is_missing)
    states = range(table.shape[1])
    message[missing] = log_add.fold(table[:, k] + below[missing, k][:, np.newaxis] for k in states)
    return message


def _jointly(model: Model, form: MissingForm, X: IntArray, is_missing: BoolArray) -> IntArray:
    """Sum over joint states, rows with as many of them in step, whatever they lack."""
    used = ~is_missing
    used[:, list(form.structure.class_parents)] = True
    for i in form.upward:
        used[:, list(form.structure.parents[i])] |= used[:, [i]]
    sizes = np.where(is_missing & used, np.array(model.n_states), 1)
    n_joint = sizes.prod(axis=1)
    total = np.empty((len(X), model.n_classes), dtype=np.int64)
    for n in np.unique(n_joint).tolist():
        rows = np.flatnonzero(n_joint == n)
        costs_of = _joint_costs(model, form, X[rows], used[rows], sizes[rows])
        total[rows] = form.log_add.fold(costs_of)
    return total


def _joint_costs(
    model: Model, form: MissingForm, X: IntArray, used: BoolArray, sizes: IntArray
) -> Iterator[IntArray]:
    """
    Yield the costs of rows for every joint state of the features that are summed out.

    These have as many states in ``sizes``, all others 1; every row has as many joint states.
    """
    # The last feature is the fastest.
    strides = np.flip(np.cumprod(np.flip(sizes, axis=1), axis=1), axis=1) // sizes
    read = np.flatnonzero(used.any(axis=0)).tolist()
    read += range(model.n_features, len(form.tables))
    for k in range(int(sizes[0].prod())):
        states = X + k // strides % sizes
        total = np.tile(form.prior, (len(X), 1))
        for t in read:
            costs_of = form.tables[t][model.lookups[t].rows(states)]
            total += costs_of * used[:, [t]] if t < model.n_features else costs_of
        yield total
