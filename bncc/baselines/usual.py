"""The usual classifiers of scikit-learn, with what they cost and, where a generator is there, C."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, log2
from typing import Any

import numpy as np

from bncc._types import IntArray
from bncc.baselines import exporters
from bncc.baselines.rival import Code, Rival
from bncc.errors import OptionError

Options = Mapping[str, str | int | float | bool]

STATE_BITS = 8
"""Bits of a threshold on a state."""
DOUBLE_BITS = 64
"""Bits of a number of scikit-learn's."""


@dataclass(frozen=True, eq=False)
class Rows:
    """What a rival learns from.

    Parameters
    ----------
    X : (n, n_features) int64
        States, each below 256.
    y : (n,) int64
        Classes; every one occurs.
    n_states : tuple of int
        Cardinality of each feature.
    n_classes : int
        Number of classes.
    """

    X: IntArray
    y: IntArray
    n_states: tuple[int, ...]
    n_classes: int

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])


def tree(rows: Rows, options: Options, seed: int) -> Rival:
    """Learn a decision tree with at most ``leaves`` leaves.

    Parameters
    ----------
    rows : Rows
        Training rows.
    options : mapping
        ``leaves`` and ``by``, the generator.
    seed : int
        Of ties.

    Returns
    -------
    Rival
        Its operations are the mean depth of the training rows.
    """
    from sklearn.tree import DecisionTreeClassifier

    estimator = DecisionTreeClassifier(max_leaf_nodes=int(options["leaves"]), random_state=seed)
    return _of_trees(estimator.fit(rows.X, rows.y), [estimator], rows, options)


def forest(rows: Rows, options: Options, seed: int) -> Rival:
    """Learn a random forest of ``trees`` trees with at most ``leaves`` leaves each.

    Parameters
    ----------
    rows : Rows
        Training rows.
    options : mapping
        ``trees``, ``leaves`` and ``by``, the generator.
    seed : int
        Of bootstrap samples and candidate features.

    Returns
    -------
    Rival
        Its operations are the comparisons and one vote a tree.
    """
    from sklearn.ensemble import RandomForestClassifier

    estimator = RandomForestClassifier(
        int(options["trees"]), max_leaf_nodes=int(options["leaves"]), random_state=seed
    )
    estimator.fit(rows.X, rows.y)
    return _of_trees(estimator, estimator.estimators_, rows, options)


def boosting(rows: Rows, options: Options, seed: int) -> Rival:
    """Learn ``rounds`` rounds of boosted trees with at most ``leaves`` leaves.

    Parameters
    ----------
    rows : Rows
        Training rows.
    options : mapping
        ``rounds``, ``leaves``, ``rate``.
    seed : int
        Of the learner.

    Returns
    -------
    Rival
        Without C: no generator here knows scikit-learn's boosting.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    estimator = HistGradientBoostingClassifier(
        max_iter=int(options["rounds"]), max_leaf_nodes=int(options["leaves"]),
        learning_rate=float(options["rate"]), early_stopping=False, random_state=seed,
    ).fit(rows.X, rows.y)  # fmt: skip
    trees = [tree for turn in estimator._predictors for tree in turn]
    leaves = sum(int(tree.nodes["is_leaf"].sum()) for tree in trees)
    inner = sum(len(tree.nodes) for tree in trees) - leaves
    bits = inner * _node_bits(rows) + leaves * (DOUBLE_BITS // 2)
    depth = sum(float(tree.nodes["depth"][tree.nodes["is_leaf"] == 1].mean()) for tree in trees)
    return Rival(
        _decide(estimator), bits, depth + len(trees), None,
        "neither emlearn nor m2cgen prints scikit-learn's boosting", {"trees": len(trees)},
    )  # fmt: skip


def linear(rows: Rows, options: Options, seed: int) -> Rival:
    """Learn a logistic regression on states as numbers.

    Parameters
    ----------
    rows : Rows
        Training rows.
    options : mapping
        ``C``, the inverse weight of the penalty.
    seed : int
        Without effect.

    Returns
    -------
    Rival
        In double precision.
    """
    from sklearn.linear_model import LogisticRegression

    estimator = LogisticRegression(C=float(options["C"]), max_iter=300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a descent that is stopped before it has converged
        estimator.fit(rows.X, rows.y)
    n = estimator.coef_.size + estimator.intercept_.size
    code, lack = _printed(
        "m2cgen", lambda: exporters.by_m2cgen(estimator, rows.n_features, rows.n_classes)
    )
    return Rival(_decide(estimator), n * DOUBLE_BITS, n, code, lack)


def svm(rows: Rows, options: Options, seed: int) -> Rival:
    """Learn a support vector machine with a Gaussian kernel, on states of mean 0 and variance 1.

    Parameters
    ----------
    rows : Rows
        Training rows.
    options : mapping
        ``C``, and ``gamma`` in units of 1 / n_features.
    seed : int
        Without effect.

    Returns
    -------
    Rival
        Without C. Its operations are those of the kernel and of the sums over support vectors.
    """
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    machine = SVC(C=float(options["C"]), gamma=float(options["gamma"]) / rows.n_features)
    estimator = make_pipeline(StandardScaler(), machine).fit(rows.X, rows.y)
    n_vectors, n_machines = int(machine.n_support_.sum()), rows.n_classes - 1
    # The vectors themselves are rows of states, a byte each.
    bits = n_vectors * (STATE_BITS * rows.n_features + DOUBLE_BITS * n_machines)
    operations = n_vectors * (2 * rows.n_features + 1 + n_machines)
    lack = f"{n_vectors} support vectors and an exponential for each are no code for a small device"
    return Rival(_decide(estimator), bits, operations, None, lack, {"support_vectors": n_vectors})


def gaussian(rows: Rows, options: Options, seed: int) -> Rival:
    """Learn a Gaussian naive Bayes on states as numbers.

    Parameters
    ----------
    rows : Rows
        Training rows.
    options : mapping
        ``smoothing``, the part of the largest variance that is added to all.
    seed : int
        Without effect.

    Returns
    -------
    Rival
        In C in fixed point, by emlearn.
    """
    from sklearn.naive_bayes import GaussianNB

    estimator = GaussianNB(var_smoothing=float(options["smoothing"])).fit(rows.X, rows.y)
    n = 2 * estimator.theta_.size + rows.n_classes
    code, lack = _printed(
        "emlearn",
        lambda: exporters.gaussian_by_emlearn(estimator, rows.n_features, rows.n_classes),
    )
    return Rival(_decide(estimator), n * DOUBLE_BITS, 3 * estimator.theta_.size, code, lack)


def categorical(rows: Rows, options: Options, seed: int) -> Rival:
    """Learn a categorical naive Bayes from counts.

    Parameters
    ----------
    rows : Rows
        Training rows.
    options : mapping
        ``alpha``, added to every count.
    seed : int
        Without effect.

    Returns
    -------
    Rival
        Without C: no generator here knows it. It is what ``bncc train --structure naive
        --parameters ml`` learns, and that has C.
    """
    from sklearn.naive_bayes import CategoricalNB

    estimator = CategoricalNB(alpha=float(options["alpha"]), min_categories=list(rows.n_states))
    estimator.fit(rows.X, rows.y)
    entries = rows.n_classes * (1 + sum(rows.n_states))
    lack = "no generator prints it; `bncc train --structure naive --parameters ml` learns the same"
    operations = rows.n_classes * (1 + rows.n_features)
    return Rival(_decide(estimator), entries * DOUBLE_BITS, operations, None, lack)


def _of_trees(estimator: Any, trees: list[Any], rows: Rows, options: Options) -> Rival:
    leaves = sum(int(each.tree_.n_leaves) for each in trees)
    inner = sum(int(each.tree_.node_count) for each in trees) - leaves
    bits = inner * _node_bits(rows) + leaves * max(1, ceil(log2(rows.n_classes)))
    X = rows.X[:2000].astype(np.float32)
    comparisons = sum(
        float(np.diff(each.tree_.decision_path(X).indptr).mean()) - 1 for each in trees
    )
    by = str(options["by"])
    if by not in ("emlearn", "m2cgen"):
        raise OptionError(f"no generator is called '{by}'; there are emlearn and m2cgen")
    code, lack = _printed(
        by,
        lambda: (
            exporters.trees_by_emlearn(estimator, rows.n_features)
            if by == "emlearn"
            else exporters.by_m2cgen(estimator, rows.n_features, rows.n_classes)
        ),
    )
    votes = len(trees) if len(trees) > 1 else 0
    decide = _elect(trees, rows.n_classes) if votes and by == "emlearn" else _decide(estimator)
    return Rival(
        decide, bits, comparisons + votes, code, lack,
        {"trees": len(trees), "leaves": leaves},
    )  # fmt: skip


def _node_bits(rows: Rows) -> int:
    """Return the bits of an inner node: a feature, a threshold, and which child follows it."""
    return max(1, ceil(log2(rows.n_features))) + STATE_BITS + 1


def _decide(estimator: Any) -> Callable[[IntArray], IntArray]:
    return lambda X: np.asarray(estimator.predict(X), dtype=np.int64)


def _elect(trees: list[Any], n_classes: int) -> Callable[[IntArray], IntArray]:
    """Let each tree name one class, as emlearn's C does; the smallest on ties."""

    def decide(X: IntArray) -> IntArray:
        votes = np.zeros((len(X), n_classes), dtype=np.int64)
        for each in trees:
            votes[np.arange(len(X)), each.predict(X).astype(np.int64)] += 1
        return np.asarray(votes.argmax(axis=1), dtype=np.int64)

    return decide


def _printed(by: str, emit: Callable[[], Code]) -> tuple[Code | None, str]:
    if not exporters.is_installed(by):
        return None, f"{by} is not installed; `pip install 'bncc[baselines]'` brings it"
    return emit(), ""
