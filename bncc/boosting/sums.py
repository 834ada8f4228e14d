"""Inputs and parts of boosted tables: samples, scores, derivatives, integer tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Protocol

import numpy as np

from bncc._types import AnyArray, BoolArray, FloatArray, IntArray
from bncc.data.splits import SplitRule
from bncc.model.gate import Gate, summed
from bncc.structure.decision_tables import GridTable, TableEnsemble


@dataclass(frozen=True, eq=False)
class Samples:
    """Training samples of boosted tables."""

    X: IntArray  # (n_samples, n_features) int: States
    y: IntArray  # (n_samples,) int: Classes
    weights: FloatArray  # (n_samples,) float64: Weights with mean 1
    n_classes: int  # C
    n_copies: int = 1  # Variants of each row, all rows in the order of the first ones
    split: SplitRule = field(default_factory=SplitRule)  # How rows, not variants, are held out


FOLDS = 3
"""Most folds of samples, each of which is held out in turn."""


def fold_of_samples(samples: Samples, seed: int) -> IntArray:
    """
    Return the fold of each sample, in which all variants of its row and its whole group are.

    Shapes: returns (n_samples,) int64, in ``0 .. FOLDS - 1``; two folds of two groups, and random
    ones of a single group.
    """
    n = len(samples.y) // samples.n_copies
    most = samples.split.most_folds(n)
    if samples.split.is_random or most < 2:
        fold_of: IntArray = np.random.default_rng([seed, 3]).permutation(n) % FOLDS
    else:
        fold_of = samples.split.folds(samples.y[:n], min(FOLDS, most), seed)
    return np.tile(fold_of, samples.n_copies)


def taken(samples: Samples, rows: BoolArray) -> Samples:
    """Return some samples, with all variants of their rows or none, and with weights of mean 1."""
    weights = samples.weights[rows]
    mean = weights.mean() or 1.0
    return replace(
        samples,
        X=samples.X[rows],
        y=samples.y[rows],
        weights=weights / mean,
        split=samples.split.take(np.flatnonzero(rows[: len(rows) // samples.n_copies])),
    )


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of boosted tables; the decision is the class with the largest sum."""

    # (n_rows, n_classes) float64: Log odds, up to a constant of each row: all tables concatenated
    rows: FloatArray
    prior: FloatArray  # (n_classes,) float64: The same of the classes themselves


@dataclass(frozen=True)
class Unit:
    """Fixed-point format of costs."""

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
        Return costs relative to each row's best class.

        Shapes: `scores` (..., n_classes) float; returns (..., n_classes) float, whole numbers >= 0,
        rounded half to even.
        """
        apart = scores.max(axis=-1, keepdims=True) - scores
        return np.asarray(np.minimum(np.rint(apart / self.nats), most))


def rows_of(tables: Sequence[GridTable], X: IntArray) -> IntArray:
    """
    Return the rows that samples read in all tables concatenated.

    Shapes: `X` (n_samples, n_features) int; returns (n_samples, n_tables) uint32, indices of
    `Scores.rows`.
    """
    rows = np.empty((len(X), len(tables)), dtype=np.uint32)
    begin = 0
    for t, grid in enumerate(tables):
        rows[:, t] = grid.rows(X) + begin
        begin += grid.n_rows
    return rows


def by_table(rows: AnyArray, tables: Sequence[GridTable]) -> tuple[AnyArray, ...]:
    """Split the rows of all tables, (n_rows, ...), into those of each."""
    ends = np.cumsum([grid.n_rows for grid in tables])[:-1]
    return tuple(np.split(rows, ends))


@dataclass(frozen=True, eq=False)
class Learned:
    """Boosted tables; the decision is the class with the smallest sum, the first on ties."""

    grids: TableEnsemble  # Layouts of the tables
    # Costs in ``0 .. 2**bits - 1``, those of a front aside; the smallest of each row is 0.
    tables: tuple[IntArray, ...]
    prior: IntArray  # (n_classes,) int64: The classes' own costs; the smallest is 0
    frac_bits: int  # A cost of 1 is ``2**-frac_bits`` nats
    # Record of the first table, if it is a front, see `bncc.boosting.front`
    front: Mapping[str, Any] | None = None
    gate: Gate | None = None  # See `bncc.boosting.gate`
    gate_record: Mapping[str, Any] | None = None  # Its record

    def costs(self, X: IntArray) -> IntArray:
        """
        Return the sums of samples: of the tables before a gate where they decide.

        Shapes: `X` (n_samples, n_features) int; returns (n_samples, n_classes) int64, in units of
        ``2**-frac_bits`` nats.
        """
        return summed(self.prior, _terms(self, X), len(X), self.gate)


def sums_of(learned: Learned, X: IntArray, n_tables: int | None = None) -> IntArray:
    """
    Return the sums of the prior and the first tables, or all, without a gate.

    Shapes: `X` (n_samples, n_features) int; returns (n_samples, n_classes) int64.
    """
    return summed(learned.prior, islice(_terms(learned, X), n_tables), len(X), None)


def _terms(learned: Learned, X: IntArray) -> Iterator[IntArray]:
    """Yield the costs that samples read in each table."""
    for grid, table in zip(learned.grids.tables, learned.tables, strict=True):
        yield table[grid.rows(X)]


class Slopes(Protocol):
    """Derivatives of weighted cross-entropies of some samples."""

    def of(self, sums: AnyArray) -> AnyArray:
        """
        Return the derivatives: w (p - 1[y]), then w p (1 - p).

        Shapes: `sums` (n_samples, n_classes) float; returns (n_samples, 2 * n_classes) float, all
        first derivatives, then all second ones.
        """

    def by_row(self, slopes: AnyArray, row: IntArray, n_rows: int) -> tuple[FloatArray, FloatArray]:
        """
        Add up derivatives by the row of a table.

        Shapes: `slopes` (n_samples, 2 * n_classes) float; `row` (n_samples,) int; returns gradient,
        curvature (n_rows, n_classes) float64, sums of the first and of the second derivatives.
        """


class NumpySlopes:
    """The reference implementation in numpy."""

    def __init__(self, samples: Samples) -> None:
        self._samples = samples

    def of(self, sums: AnyArray) -> AnyArray:
        """Return the derivatives; see `Slopes`."""
        p = np.exp(sums - sums.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        slopes = np.concatenate([p, p * (1.0 - p)], axis=1)
        slopes[np.arange(len(p)), self._samples.y] -= 1.0
        slopes *= self._samples.weights.astype(slopes.dtype)[:, None]
        return slopes

    def by_row(self, slopes: AnyArray, row: IntArray, n_rows: int) -> tuple[FloatArray, FloatArray]:
        """Add up derivatives by the row of a table; see `Slopes`."""
        lanes = [np.bincount(row, lane, n_rows) for lane in slopes.T]
        sums: FloatArray = np.stack(lanes, axis=1, dtype=np.float64)
        gradient, curvature = np.split(sums, 2, axis=1)
        return gradient, curvature
