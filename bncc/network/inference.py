"""Inference: exact posteriors by variable elimination, and rows drawn parents before children."""

from collections.abc import Sequence
from math import prod

import numpy as np

from bncc._types import AnyArray, BoolArray, FloatArray, IntArray
from bncc.errors import NetworkError
from bncc.network.network import Network

MAX_FACTOR = 2**24
"""Largest number of entries of a factor: 128 MiB. More rows are processed in batches."""

_Factor = tuple[tuple[int, ...], AnyArray]
"""Unknown variables, and numbers with an axis for the rows and one for each of these."""


def log_joint(
    network: Network, target: int, X: IntArray, is_missing: BoolArray | None = None
) -> FloatArray:
    r"""
    Return ln p(c, x_K) for every state c of a variable, x_K the known others.

    .. math:: p(c, x_K) = \sum_{x_M} \prod_i p(x_i \mid x_{pa(i)})

    Rows in which the same variables are known are looked at together. Variables below which
    nothing is known are left out first; the others go in an order of least fill-in.

    Shapes: `X` (n_samples, n_variables) int; `is_missing` (n_samples, n_variables) bool; returns
    (n_samples, n_states of the target) float64, natural logarithms; -inf where a row is impossible.
    """
    unknown = np.zeros(X.shape, dtype=bool) if is_missing is None else is_missing.copy()
    unknown[:, target] = True
    patterns, which = np.unique(unknown, axis=0, return_inverse=True)
    found = np.empty((len(X), network.n_states[target]))
    for k, pattern in enumerate(patterns):
        rows = np.flatnonzero(which.reshape(-1) == k)
        found[rows] = _eliminated(network, target, X[rows], pattern)
    return found


def log_posterior(
    network: Network, target: int, X: IntArray, is_missing: BoolArray | None = None
) -> FloatArray:
    """
    Return ln p(c | x_K) for every state c of a variable, x_K the known others.

    Parameters
    ----------
    network, target, X, is_missing
        As in `log_joint`.

    Returns
    -------
    (n_samples, n_states of the target) float64
        Natural logarithms; NaN where what is known is impossible.

    Raises
    ------
    NetworkError
        If a factor would hold more than `MAX_FACTOR` numbers for one row.
    """
    joint = log_joint(network, target, X, is_missing)
    with np.errstate(invalid="ignore"):
        return np.asarray(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))


def _eliminated(network: Network, target: int, X: IntArray, unknown: BoolArray) -> FloatArray:
    """Return the answer for rows in which the same variables are unknown."""
    needed = _ancestors(network, [target, *np.flatnonzero(~unknown).tolist()])
    scopes = [{j for j in (*network.parents[i], i) if unknown[j]} for i in needed]
    order, widest = _order(scopes, target, network.n_states)
    if widest > MAX_FACTOR:
        raise NetworkError(
            f"with {int(unknown.sum())} unknown variables a factor would hold {widest} numbers, "
            f"more than {MAX_FACTOR}; leave fewer unknown"
        )
    part = max(1, MAX_FACTOR // widest)
    return np.concatenate(
        [
            _summed(network, target, X[start : start + part], unknown, needed, order)
            for start in range(0, len(X), part)
        ]
    )


def _ancestors(network: Network, of: Sequence[int]) -> list[int]:
    """Return some variables and all above them, ascending."""
    found, to_see = set(of), list(of)
    while to_see:
        above = set(network.parents[to_see.pop()]) - found
        found |= above
        to_see += above
    return sorted(found)


def _order(
    scopes: Sequence[set[int]], target: int, n_states: Sequence[int]
) -> tuple[list[int], int]:
    """
    Return the unknown variables but the target so that few new pairs arise; the widest factor.

    Ties in new pairs go to the variable of the smaller factor, then to the smaller index.
    """
    near: dict[int, set[int]] = {}
    for scope in scopes:
        for i in scope:
            near.setdefault(i, set()).update(scope - {i})
    order, widest = [], n_states[target]
    costs: dict[int, tuple[int, int, int]] = {}
    while len(near) > 1:
        for i in near.keys() - costs.keys() - {target}:
            pairs = sum(len(near[i] - near[j]) - 1 for j in near[i]) // 2
            costs[i] = (pairs, prod(n_states[j] for j in (i, *near[i])), i)
        i = min(costs.values())[2]
        widest = max(widest, costs[i][1])
        order.append(i)
        touched = near.pop(i)
        for j in touched:
            near[j] |= touched - {j}
            near[j].discard(i)
        for j in {i, *touched}.union(*(near[j] for j in touched)):
            costs.pop(j, None)
    return order, widest


def _summed(
    network: Network,
    target: int,
    X: IntArray,
    unknown: BoolArray,
    needed: Sequence[int],
    order: Sequence[int],
) -> FloatArray:
    factors = [_factor(network, i, X, unknown) for i in needed]
    log_scale = np.zeros(len(X))
    for i in order:
        with_i = [factor for factor in factors if i in factor[0]]
        scope, values = _product(with_i)
        axis = scope.index(i)
        scope, values = scope[:axis] + scope[axis + 1 :], values.sum(axis=axis + 1)
        # Products of many probabilities would leave float64.
        most = values.max(axis=tuple(range(1, values.ndim)), keepdims=True)
        most = np.where(most > 0, most, 1.0)
        log_scale = log_scale + np.log(most).reshape(-1)
        factors = [f for f in factors if i not in f[0]] + [(scope, values / most)]
    total = np.zeros((len(X), network.n_states[target]))
    with np.errstate(divide="ignore"):
        for scope, values in factors:
            total += np.log(values) if scope else np.log(values)[:, np.newaxis]
    return np.asarray(total + log_scale[:, np.newaxis])


def _factor(network: Network, i: int, X: IntArray, unknown: BoolArray) -> _Factor:
    """Return a table at the known states of each row; a row of its own only if these differ."""
    axes = [j for j in (*network.parents[i], i) if network.n_states[j] > 1 or unknown[j]]
    table = network.tables[i].reshape([network.n_states[j] for j in axes])
    known = [j for j in axes if not unknown[j]]
    scope = tuple(j for j in axes if unknown[j])
    table = table.transpose([axes.index(j) for j in (*known, *scope)])
    if not known:
        return scope, table[np.newaxis]
    return scope, table[tuple(X[:, j] for j in known)]


def _product(factors: Sequence[_Factor]) -> _Factor:
    """Multiply factors."""
    scope, values = factors[0]
    for other, more in factors[1:]:
        joint = tuple(dict.fromkeys((*scope, *other)))
        values = _aligned(scope, values, joint) * _aligned(other, more, joint)
        scope = joint
    return scope, values


def _aligned(scope: tuple[int, ...], values: AnyArray, joint: tuple[int, ...]) -> AnyArray:
    """Return a factor with an axis for every variable of a larger scope."""
    order = [scope.index(j) + 1 for j in joint if j in scope]
    shape = [values.shape[scope.index(j) + 1] if j in scope else 1 for j in joint]
    return values.transpose([0, *order]).reshape([len(values), *shape])


_PART = 1 << 16
"""Rows per batch of cumulative probabilities."""


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
    Return rows in which all states of a variable are as frequent, its children sampled again.

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
