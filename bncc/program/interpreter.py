"""The specification of a program: what it means, in ten lines."""

import numpy as np

from bncc._types import IntArray
from bncc.program.ir import Program, n_levels


def costs(program: Program, X: IntArray) -> IntArray:
    """
    Return the cost of every class for rows of valid states.

    Shapes: `X` (n_samples, n_features) int; returns (n_samples, n_classes) int64, costs in units of
    ``2**-frac_bits`` nats.
    """
    total = np.tile(program.prior.astype(np.int64), (len(X), 1))
    for table in program.tables:
        row = np.zeros(len(X), dtype=np.int64)
        for f, n in zip(table.features, n_levels(table, program.n_states), strict=True):
            level = np.array(table.maps[f])[X[:, f]] if f in table.maps else X[:, f]
            row = row * n + level
        total += table.costs[row]
    return total


def decisions(program: Program, X: IntArray) -> IntArray:
    """
    Return the class index of least cost, the smallest on ties.

    Shapes: `X` (n_samples, n_features) int; returns (n_samples,) int64, class indices.
    """
    return np.asarray(costs(program, X).argmin(axis=1))
