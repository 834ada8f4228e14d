"""The result: a sum of tables of integer costs."""

from dataclasses import dataclass

import numpy as np

from bncc._types import IntArray
from bncc.structure.decision_tables import Grids


@dataclass(frozen=True, eq=False)
class Learned:
    """A sum of tables; the class of the least sum is decided for, of equal ones the first."""

    grids: Grids  # Where each table is read
    tables: tuple[IntArray, ...]  # Costs in ``0 .. 2**bits - 1``; the least of each row is 0.
    prior: IntArray  # (n_classes,) int64: The classes' own costs; the least is 0
    frac_bits: int  # A cost of 1 is ``2**-frac_bits`` nats

    def costs(self, X: IntArray) -> IntArray:
        """
        Return the sums of samples.

        Shapes: `X` (n_samples, n_features) int; returns (n_samples, n_classes) int64, in units of
        ``2**-frac_bits`` nats.
        """
        sums = np.tile(self.prior, (len(X), 1))
        for grid, table in zip(self.grids.tables, self.tables, strict=True):
            sums += table[grid.rows(X)]
        return sums
