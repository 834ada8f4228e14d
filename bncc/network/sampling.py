"""Forward sampling: rows drawn from a network, parents before their children."""

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.network.network import Network

_PART = 1 << 16
"""Rows whose cumulative probabilities are looked at in turn."""


def parent_rows(network: Network, X: IntArray, i: int) -> IntArray:
    """
    Return the row of variable i's table that each sample reads.

    Shapes: `X` (n_samples, n_variables) int; returns (n_samples,) int64, rows in ``0 .. n_rows(i) -
    1``.
    """
    row = np.zeros(len(X), dtype=np.int64)
    for j in network.parents[i]:
        row = row * network.n_states[j] + X[:, j]
    return row


def sample(network: Network, n_samples: int, seed: int) -> IntArray:
    """
    Draw rows from a network.

    Parameters
    ----------
    network : Network
        The network.
    n_samples : int
        Rows to draw, >= 0.
    seed : int
        Of the random numbers, >= 0.

    Returns
    -------
    (n_samples, n_variables) int64
        States; equal for an equal network and seed. A state of probability 0 is never drawn.
    """
    rng = np.random.default_rng(seed)
    X = np.zeros((n_samples, network.n_variables), dtype=np.int64)
    for i in network.order:
        _sample_one(network, X, i, rng)
    return X


def with_even_classes(network: Network, X: IntArray, target: int, seed: int) -> IntArray:
    """
    Return rows in which all states of a variable are as frequent, its children sampled anew.

    Shapes: `X` (n_samples, n_variables) int; returns (n_samples, n_variables) int64, states; a row
    may be impossible where a variable below the target is not its child.
    """
    rng = np.random.default_rng(seed)
    X = np.array(X)
    X[:, target] = rng.integers(0, network.n_states[target], len(X))
    for i in network.order:
        if target in network.parents[i]:
            _sample_one(network, X, i, rng)
    return X


def _sample_one(network: Network, X: IntArray, i: int, rng: np.random.Generator) -> None:
    """Sample variable i of all rows, its parents as they are there."""
    upto = np.cumsum(network.tables[i], axis=1)
    upto /= upto[:, -1:]  # 1 exactly, above every draw
    rows, draws = parent_rows(network, X, i), rng.random(len(X))
    for start in range(0, len(X), _PART):
        part = slice(start, start + _PART)
        X[part, i] = _states(upto[rows[part]], draws[part])


def _states(upto: FloatArray, draws: FloatArray) -> IntArray:
    """Return the first state whose cumulative probability is above the draw."""
    return np.asarray((upto <= draws[:, np.newaxis]).sum(axis=1))
