"""The gate of boosted tables: the first of them decide alone where their margin is large."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bncc._types import BoolArray, IntArray

GATE = "gate"
"""
Key in a model's training record: cross-validated facts of its gate.

``answers`` is the share of rows that the tables before it decide, ``differing`` the share of rows
that they decide differently than all tables.
"""


@dataclass(frozen=True)
class Gate:
    """Number of tables that are summed first, and the margin from which on their sum decides."""

    tables: int  # At least one, fewer than all
    # Least difference of the second smallest and the smallest cost, at least 1, in units of a cost
    margin: int

    def decides(self, costs: IntArray) -> BoolArray:
        """
        Return whether the first tables decide.

        Shapes: `costs` (n_samples, n_classes) int, the sums of the first tables and the prior;
        returns (n_samples,) bool.
        """
        return np.asarray(margins(costs) >= self.margin)


def margins(costs: IntArray) -> IntArray:
    """
    Return the second smallest cost less the smallest, 0 on ties.

    Shapes: `costs` (n_samples, n_classes) int; returns (n_samples,) int.
    """
    least = np.partition(costs, 1, axis=1)
    return np.asarray(least[:, 1] - least[:, 0])


def summed(
    prior: IntArray, terms: Iterable[IntArray], n_samples: int, gate: Gate | None
) -> IntArray:
    """
    Add up the terms of tables: those before a gate where they decide, else all.

    Shapes: `prior` (n_classes,) int; `terms` (n_samples, n_classes) int each; returns
    (n_samples, n_classes) int64.
    """
    total: IntArray = np.tile(np.asarray(prior, dtype=np.int64), (n_samples, 1))
    first = None
    for t, term in enumerate(terms):
        total += term
        if gate is not None and t + 1 == gate.tables:
            first = total.copy()
    if gate is None or first is None:
        return total
    return np.where(gate.decides(first)[:, None], first, total)
