"""A sure-leaf front: a small tree that answers where it is sure to decide as the tables do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor
from typing import Any

import numpy as np

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.boosting.branches import Nodes, branching_table
from bncc.boosting.settings import BoostSettings
from bncc.boosting.single_tree import MOST_DEPTH
from bncc.boosting.sums import Learned, Samples, fold_of_samples
from bncc.structure.decision_tables import BranchingTable, TableEnsemble

CRITERION = "entropy"
SURE = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08)
"""Limits that are tried on the share of a sure leaf's rows that the tables decide differently."""
MOST_DIFFERING = 0.005
"""
Largest share of all held-out rows that sure leaves may decide differently than the tables.

A guard against overfitting: the rows on which a tree is grown agree with its leaves more often than
others do, and the more so the smaller the leaves are. The share of decisions that differ is known
more exactly than the difference in error, by which luck would choose.
"""
UNSURE = -1
"""In place of a class: a leaf that leaves the decision to the tables."""


def with_front(learned: Learned, samples: Samples, settings: BoostSettings) -> Learned:
    """
    Return tables behind a front, if one is asked for and any of its leaves is sure.

    The front is the first table. A row of a sure leaf has cost 0 for its class, and for all others
    more than the other tables and the prior can add up to; other rows are zero. So the sum decides
    what the front does where it is sure, and what the tables do elsewhere.
    """
    if not settings.front:
        return learned
    front = fit_front(learned, samples, settings)
    if front is None:
        return learned
    parts = (learned.prior, *learned.tables)
    most = 1 + sum(int(part.max()) for part in parts)
    costs = np.zeros((front.tree.n_rows, samples.n_classes), dtype=np.int64)
    costs[front.is_sure] = most
    costs[front.is_sure, front.decisions[front.is_sure]] = 0
    return replace(
        learned,
        grids=TableEnsemble((front.tree, *learned.grids.tables)),
        tables=(costs, *learned.tables),
        front=front.record,
    )


@dataclass(frozen=True, eq=False)
class Front:
    """A tree whose sure leaves decide."""

    tree: BranchingTable
    decisions: IntArray  # (n_leaves,) int64: Classes of the leaves from left to right, or `UNSURE`
    answers: float  # Share of training rows that sure leaves decide
    differing: float  # Cross-validated share of rows that they decide differently than the tables

    @property
    def is_sure(self) -> BoolArray:
        """Mask of the sure leaves."""
        return np.asarray(self.decisions != UNSURE)

    @property
    def record(self) -> dict[str, Any]:
        """The front in a model's record."""
        return {
            "leaves": self.tree.n_rows,
            "sure": int(self.is_sure.sum()),
            "answers": round(self.answers, 6),
            "differing": round(self.differing, 6),
        }


def fit_front(learned: Learned, samples: Samples, settings: BoostSettings) -> Front | None:
    """
    Fit a front to the decisions of tables; None without a sure leaf.

    It reads only cuts that the tables have. Trees of half as many leaves, and so on, overfit less:
    the first one with a sure leaf is taken.
    """
    cuts = learned.grids.used_cuts
    task = _Task(
        np.stack([np.searchsorted(cuts[f], samples.X[:, f], side="left") for f in cuts], axis=1),
        learned.costs(samples.X).argmin(axis=1),
        samples.weights,
        samples.n_classes,
        settings.front,
        MOST_DIFFERING if settings.front_differing is None else settings.front_differing,
        settings.seed,
        fold_of_samples(samples, settings.seed),
    )
    while task.leaves >= 2:
        front = _fit(task, cuts)
        if front is not None:
            return front
        task = replace(task, leaves=task.leaves // 2)
    return None


def _fit(task: "_Task", cuts: Mapping[int, Sequence[int]]) -> Front | None:
    """Fit a front of one size; `cuts` are those of each feature that is read."""
    limit, differing = sure_limit(task)
    if limit is None:
        return None
    grown = _grow(task)
    decisions = np.where(grown.shares < limit, grown.decisions, UNSURE)
    answers = float((decisions[grown.leaves_of(task.X)] != UNSURE).mean())
    if len(decisions) == 1 or answers == 0:
        return None
    tree, leaves = branching_table(_merged(grown, decisions, tuple(cuts), tuple(cuts.values())))
    return Front(tree, decisions[leaves], answers, differing)


@dataclass(frozen=True, eq=False)
class _Task:
    """The rows of a front."""

    X: IntArray  # (n_samples, n_read) int64: The number of cuts below each state
    decided: IntArray  # (n_samples,) int64: Decisions of the tables
    weights: FloatArray  # (n_samples,) float64
    n_classes: int
    leaves: int  # Most leaves of the tree
    most_differing: float  # See `MOST_DIFFERING`
    seed: int
    fold_of: IntArray  # (n_samples,) int64: Fold of the cross-validation

    def take(self, rows: BoolArray) -> "_Task":
        return replace(
            self,
            X=self.X[rows],
            decided=self.decided[rows],
            weights=self.weights[rows],
            fold_of=self.fold_of[rows],
        )


@dataclass(frozen=True, eq=False)
class _Grown:
    """A tree of scikit-learn; decisions and shares are of all nodes, and mean something at leaves.

    Shapes: `decisions` (n_nodes,) int64; `shares` (n_nodes,) float64.
    """

    fitted: Any
    decisions: IntArray  # The most frequent decision
    shares: FloatArray  # The estimated share of rows with another one

    def leaves_of(self, X: IntArray) -> IntArray:
        """
        Return the node of each sample's leaf.

        Shapes: `X` (n_samples, n_read) int; returns (n_samples,) int64.
        """
        return np.asarray(self.fitted.apply(X))


def sure_limit(task: _Task) -> tuple[float | None, float]:
    """
    Choose the largest limit of `SURE` that the guard admits, by cross-validation.

    Returns it with the share of held-out rows that differ; None if no limit is admitted.
    """
    n, n_folds = len(task.decided), int(task.fold_of.max()) + 1
    if n_folds < 2:
        return None, 0.0
    shares, is_other = np.empty(n), np.empty(n, dtype=np.bool_)
    for fold in range(n_folds):
        held = task.fold_of == fold
        grown, others = _grow(task.take(~held)), task.take(held)
        leaves = grown.leaves_of(others.X)
        shares[held] = grown.shares[leaves]
        is_other[held] = grown.decisions[leaves] != others.decided
    whole = task.weights.sum()
    differing = {t: float(task.weights[is_other & (shares < t)].sum() / whole) for t in SURE}
    admitted = [t for t in SURE if differing[t] <= task.most_differing]
    return (admitted[-1], differing[admitted[-1]]) if admitted else (None, 0.0)


def _grow(task: _Task) -> _Grown:
    """Grow a classification tree of decisions, best first."""
    from sklearn.tree import DecisionTreeClassifier

    fitted = DecisionTreeClassifier(
        criterion=CRITERION,
        max_leaf_nodes=task.leaves,
        max_depth=MOST_DEPTH,
        random_state=task.seed % 2**32,
    ).fit(task.X, task.decided, sample_weight=task.weights)
    n_nodes, leaves = fitted.tree_.node_count, fitted.apply(task.X)
    votes = np.zeros((n_nodes, task.n_classes))
    np.add.at(votes, (leaves, task.decided), task.weights)
    whole = votes.sum(axis=1)
    others = np.divide(whole - votes.max(axis=1), whole, out=np.ones(n_nodes), where=whole > 0)
    # Rows count as they are: a single one of large weight proves as little as any.
    n_rows = np.bincount(leaves, minlength=n_nodes)
    return _Grown(fitted, votes.argmax(axis=1), (n_rows * others + 0.5) / (n_rows + 1))


def _merged(
    grown: _Grown, decisions: IntArray, features: Sequence[int], cuts: Sequence[Sequence[int]]
) -> Nodes:
    """
    Return a tree without the cuts between leaves that decide alike, but for the root.

    Sets the decisions of the leaves that take their place.
    """
    tree = grown.fitted.tree_
    below, above = tree.children_left.tolist(), tree.children_right.tolist()
    for node in reversed(range(1, tree.node_count)):  # nodes are in front of those below them
        sides = below[node], above[node]
        if sides[0] < 0 or any(below[side] >= 0 for side in sides):
            continue
        if decisions[sides[0]] == decisions[sides[1]]:
            decisions[node] = decisions[sides[0]]
            below[node] = above[node] = -1
    read = [max(0, k) for k in tree.feature.tolist()]
    # A threshold is halfway between two levels of the samples.
    places = [max(0, floor(threshold)) for threshold in tree.threshold.tolist()]
    return Nodes(
        [features[k] for k in read],
        [cuts[k][at] for k, at in zip(read, places, strict=True)],
        below,
        above,
    )
