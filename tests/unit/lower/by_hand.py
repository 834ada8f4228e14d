"""Programs written down as plain lists, and inputs to compare them on."""

from collections.abc import Mapping, Sequence

import numpy as np

from bncc._types import IntArray
from bncc.discretize.feature import Feature
from bncc.program.ir import Program, Table


def table(
    features: Sequence[int],
    costs: Sequence[Sequence[int]],
    entry_bits: int = 32,
    maps: Mapping[int, tuple[int, ...]] | None = None,
) -> Table:
    """Return a table called after the features it reads."""
    name = ",".join(f"x{f}" for f in features)
    return Table(name, tuple(features), np.array(costs, dtype=np.int64), entry_bits, maps or {})


def program(
    n_states: Sequence[int],
    prior: Sequence[int],
    tables: Sequence[Table],
    cost_bits: int = 32,
    frac_bits: int = 0,
) -> Program:
    """Return a program over features ``x0, x1, ...`` with classes ``c0, c1, ...``."""
    return Program(
        features=tuple(Feature(f"x{i}", "state", n) for i, n in enumerate(n_states)),
        classes=tuple(f"c{c}" for c in range(len(prior))),
        frac_bits=frac_bits,
        prior=np.array(prior, dtype=np.int64),
        tables=tuple(tables),
        cost_bits=cost_bits,
    )


def as_lists(some: Program) -> tuple[list[int], list[tuple[tuple[int, ...], list[list[int]]]]]:
    """Return prior and tables as lists, for comparisons with ``==``."""
    return some.prior.tolist(), [(t.features, t.costs.tolist()) for t in some.tables]


def inputs(n_states: Sequence[int], most: int = 500) -> IntArray:
    """Return all joint states when they are few, else random ones, (n, n_features) int64."""
    if np.prod([float(n) for n in n_states]) <= most:
        return np.indices(tuple(n_states)).reshape(len(n_states), -1).T.astype(np.int64)
    return np.random.default_rng(0).integers(0, n_states, (most, len(n_states)))


def margins(costs: IntArray) -> IntArray:
    """Return the cost of every class minus that of class 0."""
    return costs - costs[:, :1]
