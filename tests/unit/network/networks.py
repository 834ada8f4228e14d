"""Small handwritten networks, and random ones."""

import numpy as np

from bncc.network.network import Network, Variable


def drawn(parents, n_states, seed=0, *, names=None, zeros=0.0):
    """Return a network with random tables, some of whose entries may be 0."""
    rng = np.random.default_rng(seed)
    tables = []
    for of_variable, r in zip(parents, n_states, strict=True):
        n_rows = int(np.prod([n_states[j] for j in of_variable], dtype=int))
        table = rng.random((n_rows, r)) + 0.05
        table[:, 1:] *= rng.random((n_rows, r - 1)) >= zeros
        tables.append(table / table.sum(axis=1, keepdims=True))
    names = names or [f"v{i}" for i in range(len(parents))]
    variables = tuple(
        Variable(name, tuple(f"s{k}" for k in range(r)))
        for name, r in zip(names, n_states, strict=True)
    )
    return Network(variables, tuple(map(tuple, parents)), tuple(tables))


def assert_equal(one, other):
    """Require that two networks are the same, bit for bit."""
    assert (one.variables, one.parents) == (other.variables, other.parents)
    for a, b in zip(one.tables, other.tables, strict=True):
        np.testing.assert_array_equal(a, b)
