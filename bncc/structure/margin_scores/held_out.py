"""Validation rows with cross-validated probabilities of their states, in integers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bncc._types import AnyArray, IntArray
from bncc.data.splits import SplitRule, shuffled_folds

DEFAULT_FOLDS = 5
"""S1, section 5."""
EPSILON = 1e-4
"""Smallest probability, used for zero counts; for 0/0 all states are equally likely."""
MOST = 2**30
"""Upper bound on the magnitude of a log joint, so that differences fit 32 bits."""
MOST_SCALE = 2**20


@dataclass(frozen=True, eq=False)
class HeldOut:
    """
    Rows with probabilities that are estimated from the other folds.

    Index ``n_features`` represents no parent: a feature with one state.
    """

    columns: IntArray  # (n_features + 1, n_samples) int32: States of each feature, then zeros
    y: IntArray  # (n_samples,) int32: Class indices
    n_states: tuple[int, ...]  # Cardinality of each feature, and 1
    n_classes: int  # C
    fold: IntArray  # (n_samples,) int32: Fold of each row
    n_folds: int  # K
    scale: int  # Integer units per nat
    logs: AnyArray  # (n_samples + 1,) float64: Natural logarithms of counts; the first is unused

    @property
    def n_features(self) -> int:
        """Number of features, and the index that represents no parent."""
        return len(self.columns) - 1

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.y)

    def prior(self) -> IntArray:
        """
        Return log P(c) by fold.

        Shapes: returns (n_folds, n_classes) int32, in units of ``1 / scale`` nats.
        """
        counts = np.bincount(self.fold * self.n_classes + self.y, minlength=self._cells(1))
        counts = counts.reshape(self.n_folds, self.n_classes)
        others = counts.sum(axis=0) - counts
        return self._log_ratio(others, others.sum(axis=1, keepdims=True))

    def table(self, child: int, parent: int) -> IntArray:
        r"""
        Return :math:`\log P(x_i \mid x_p, c)` by fold.

        Maximum likelihood on the rows outside the fold, without smoothing. `EPSILON` replaces the
        probability of a state with no such row or few of many; if the parent's state does not occur
        either, all states are equally likely.

        Shapes: returns (n_folds, n_states[child], n_states[parent], n_classes) int32, in units of
        ``1 / scale`` nats.
        """
        shape = self.n_folds, self.n_states[child], self.n_states[parent], self.n_classes
        cells = self.cells(child, parent) * self.n_classes + self.y
        counts = np.bincount(cells, minlength=self._cells(shape[1] * shape[2])).reshape(shape)
        others = counts.sum(axis=0) - counts
        return self._log_ratio(others, others.sum(axis=1, keepdims=True))

    def cells(self, child: int, parent: int) -> IntArray:
        """
        Return the row of `table` that each sample reads.

        Shapes: returns (n_samples,) int64, index of (fold, state, parent state).
        """
        cells = self.fold.astype(np.int64) * self.n_states[child] + self.columns[child]
        return np.asarray(cells * self.n_states[parent] + self.columns[parent])

    def by_row(self, child: int, parent: int, table: IntArray) -> IntArray:
        """
        Return the entries of a table that each sample reads.

        Shapes: returns (n_samples, n_classes) int32, of the sample's own fold and states.
        """
        return np.asarray(table.reshape(-1, self.n_classes)[self.cells(child, parent)])

    def _cells(self, n_rows: int) -> int:
        return self.n_folds * n_rows * self.n_classes

    def _log_ratio(self, part: IntArray, whole: IntArray) -> IntArray:
        logs = self.logs[part] - self.logs[whole]
        nats = np.where(part > 0, np.maximum(logs, np.log(EPSILON)), np.log(EPSILON))
        nats = np.where(whole > 0, nats, -np.log(part.shape[1]))
        return np.asarray(np.rint(nats * self.scale), dtype=np.int32)


def hold_out(
    X: IntArray,
    y: IntArray,
    n_states: Sequence[int],
    n_classes: int,
    n_folds: int = DEFAULT_FOLDS,
    seed: int = 0,
    origin: IntArray | None = None,
    split: SplitRule | None = None,
) -> HeldOut:
    """
    Assign rows to folds.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int; `origin` (n_samples,) int.

    References
    ----------
    S1, section 5 (cross-validation on the training data, one partition for all learners).
    """
    n_samples, n_features = X.shape
    first, row = np.arange(n_samples), np.arange(n_samples)
    if origin is not None:
        _, first, row = np.unique(origin, return_index=True, return_inverse=True)
    n_folds = max(1, min(n_folds, len(first)))
    if split is None or split.is_random:
        fold = shuffled_folds(y[first], n_folds, np.random.default_rng(seed))[row]
    else:
        rule = split.take(first if origin is None else origin[first])
        n_folds = max(2, min(n_folds, rule.most_folds(len(first))))
        fold = rule.folds(y[first], n_folds, seed)[row]
        n_folds = int(fold.max()) + 1
    columns = np.zeros((n_features + 1, n_samples), dtype=np.int32)
    columns[:-1] = X.T
    logs = np.log(np.maximum(np.arange(n_samples + 1), 1))
    return HeldOut(
        columns, y.astype(np.int32), (*n_states, 1), n_classes,
        fold.astype(np.int32), n_folds, scale_for(n_features), logs,
    )  # fmt: skip


def scale_for(n_features: int) -> int:
    """Return the integer units per nat."""
    most = MOST / ((n_features + 1) * -np.log(EPSILON) + 1)
    return max(1, min(MOST_SCALE, 1 << (int(most).bit_length() - 1)))
