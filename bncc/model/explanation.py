"""Explanation of a prediction: the contribution of each table, and changes that would flip it."""

from dataclasses import dataclass

import numpy as np

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.model.gate import Gate
from bncc.model.model import Model
from bncc.model.reference import costs, predict, rows

BLOCK = 256
"""States that are tried at once, the nearest first."""


@dataclass(frozen=True)
class Change:
    """The nearest state of one feature that changes the decision, all others held."""

    feature: int  # Which one
    state: int  # Its other state
    decision: int  # The class index that it leads to


def contributions(model: Model, X: IntArray) -> FloatArray:
    r"""
    Return the contributions of the prior and of each table to each class.

    With integer costs q and B_F fraction bits, table t says for class c

    .. math:: 2^{-B_F} \Bigl(\frac{1}{C} \sum_k q_t[k] - q_t[c]\Bigr)

    so that a table that tells no classes apart says 0, and the class of the largest sum over tables
    is decided for, but for ties. Where a table has vetoes, the mean is over the classes without
    one.

    Shapes: `X` (n_samples, n_features) int; returns (n_samples, 1 + n_tables, n_classes) float64,
    in nats, the prior first; 0 in the mean over classes, those that it calls impossible aside.
    """
    said = _costs_read(model, X)
    counts = np.ones(said.shape, dtype=np.bool_)
    if model.veto is not None:
        counts = said < model.veto
        counts |= ~counts.any(axis=2, keepdims=True)
    unit = 2.0**-model.q_format.frac_bits
    mean = said.mean(axis=2, keepdims=True, where=counts)
    return np.asarray(unit * (mean - said))


def impossible(model: Model, X: IntArray) -> BoolArray:
    """
    Return which classes have a probability of 0 in the prior and in each table.

    Shapes: `X` (n_samples, n_features) int; returns (n_samples, 1 + n_tables, n_classes) bool, the
    prior first.
    """
    said = _costs_read(model, X)
    veto = model.veto
    return np.zeros(said.shape, dtype=np.bool_) if veto is None else said >= veto


def _costs_read(model: Model, X: IntArray) -> IntArray:
    """Return the costs that are read of the prior and of each table, 0 of those behind a gate."""
    read = rows(model, X)
    said = np.empty((len(read), 1 + len(model.tables), model.n_classes), dtype=np.int64)
    said[:, 0] = model.prior
    for t, table in enumerate(model.tables):
        said[:, 1 + t] = table[read[:, t]]
    if model.gate is not None:
        said[_is_early(model.gate, said), 1 + model.gate.tables :] = 0
    return said


def _is_early(gate: Gate, said: IntArray) -> BoolArray:
    return gate.decides(said[:, : 1 + gate.tables].sum(axis=1))


def decided_at_gate(model: Model, X: IntArray) -> BoolArray:
    """
    Return whether the tables before a gate decide; False without one.

    Shapes: `X` (n_samples, n_features) int; returns (n_samples,) bool.
    """
    if model.gate is None:
        return np.zeros(len(X), dtype=np.bool_)
    return _is_early(model.gate, _costs_read(model, X))


def runner_up(model: Model, x: IntArray) -> tuple[int, int]:
    """
    Return the class that is decided for, and the next best one.

    Shapes: `x` (n_features,) int.
    """
    order = np.argsort(costs(model, x[None])[0], kind="stable")
    return int(order[0]), int(order[1])


def changes(model: Model, x: IntArray) -> tuple[Change, ...]:
    """
    Return for each feature the nearest state that changes the decision.

    Shapes: `x` (n_features,) int.
    """
    found = []
    decision = int(predict(model, x[None])[0])
    for f in sorted({f for lookup in model.lookups for f in lookup.features}):
        states = np.arange(model.n_states[f])
        nearest_first = np.argsort(np.abs(states - x[f]), kind="stable")[1:]
        for start in range(0, len(nearest_first), BLOCK):
            others = nearest_first[start : start + BLOCK]
            moved = np.tile(x, (len(others), 1))
            moved[:, f] = others
            decided = predict(model, moved)
            turned = np.flatnonzero(decided != decision)
            if len(turned):
                found.append(Change(f, int(others[turned[0]]), int(decided[turned[0]])))
                break
    return tuple(found)
