"""What a sum is learned from and made of meanwhile: samples, scores, the unit of its costs."""

from dataclasses import dataclass

import numpy as np

from bncc._types import AnyArray, FloatArray, IntArray
from bncc.structure.decision_tables import Grid


@dataclass(frozen=True, eq=False)
class Samples:
    """What a sum is learned from."""

    X: IntArray  # (n_samples, n_features) int: States
    y: IntArray  # (n_samples,) int: Classes
    weights: FloatArray  # (n_samples,) float64: Of mean 1
    n_classes: int  # C


@dataclass(frozen=True, eq=False)
class Scores:
    """What a sum adds up; the class of the largest sum is decided for."""

    # (n_rows, n_classes) float64: Natural logarithms of odds, up to a constant of each row: all
    # tables below one another
    rows: FloatArray
    prior: FloatArray  # (n_classes,) float64: The same of the classes themselves


@dataclass(frozen=True)
class Unit:
    """What costs are counted in."""

    bits: int  # A table's costs are below ``2**bits``; those of the prior have no bound
    frac_bits: int  # A cost of 1 is ``2**-frac_bits`` nats

    @property
    def nats(self) -> float:
        """A cost of 1."""
        return 2.0**-self.frac_bits

    @property
    def most(self) -> int:
        """The largest cost in a table."""
        return int(2**self.bits - 1)

    def costs(self, scores: AnyArray, most: float = np.inf) -> AnyArray:
        """
        Return costs, counted from each row's best class on.

        Shapes: `scores` (..., n_classes) float; returns (..., n_classes) float, whole numbers >= 0,
        rounded half to even.
        """
        apart = scores.max(axis=-1, keepdims=True) - scores
        return np.asarray(np.minimum(np.rint(apart / self.nats), most))


def rows_of(tables: tuple[Grid, ...], X: IntArray) -> IntArray:
    """
    Return the rows that samples read, of all tables below one another.

    Shapes: `X` (n_samples, n_features) int; returns (n_samples, n_tables) uint32, indices of
    `Scores.rows`.
    """
    rows = np.empty((len(X), len(tables)), dtype=np.uint32)
    begin = 0
    for t, grid in enumerate(tables):
        rows[:, t] = grid.rows(X) + begin
        begin += grid.n_rows
    return rows


def by_table(rows: AnyArray, tables: tuple[Grid, ...]) -> tuple[AnyArray, ...]:
    """Cut the rows of all tables, (n_rows, ...), into those of each."""
    ends = np.cumsum([grid.n_rows for grid in tables])[:-1]
    return tuple(np.split(rows, ends))
