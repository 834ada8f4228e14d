"""Scikit-learn's linear models, support vector machines, naive Bayes and trees, and their C."""

import warnings
from math import ceil, log2
from typing import Any

import numpy as np

from bncc.baselines import exporters
from bncc.baselines.baseline import DOUBLE_BITS, STATE_BITS, Baseline, Code, Options, Rows, decider
from bncc.baselines.exporters import elected
from bncc.errors import OptionError


def linear(rows: Rows, options: Options, seed: int) -> Baseline:
    """Learn a logistic regression on states as numbers."""
    from sklearn.linear_model import LogisticRegression

    estimator = LogisticRegression(C=float(options["C"]), max_iter=300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # from a descent that stops before convergence
        estimator.fit(rows.X, rows.y)
    n = estimator.coef_.size + estimator.intercept_.size
    code, lack = exporters.printed(
        "m2cgen", lambda: exporters.by_m2cgen(estimator, rows.n_features, rows.n_classes)
    )
    return Baseline(decider(estimator), n * DOUBLE_BITS, n, code, lack)


def svm(rows: Rows, options: Options, seed: int) -> Baseline:
    """Learn a support vector machine with a Gaussian kernel, on states of mean 0 and variance 1."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    machine = SVC(C=float(options["C"]), gamma=float(options["gamma"]) / rows.n_features)
    estimator = make_pipeline(StandardScaler(), machine).fit(rows.X, rows.y)
    n_vectors, n_machines = int(machine.n_support_.sum()), rows.n_classes - 1
    # The vectors themselves are rows of states, a byte each.
    bits = n_vectors * (STATE_BITS * rows.n_features + DOUBLE_BITS * n_machines)
    operations = n_vectors * (2 * rows.n_features + 1 + n_machines)
    lack = f"{n_vectors} support vectors and an exponential for each are too large for a device"
    return Baseline(decider(estimator), bits, operations, None, lack)


def gaussian(rows: Rows, options: Options, seed: int) -> Baseline:
    """Learn a Gaussian naive Bayes on states as numbers."""
    from sklearn.naive_bayes import GaussianNB

    estimator = GaussianNB(var_smoothing=float(options["smoothing"])).fit(rows.X, rows.y)
    n = 2 * estimator.theta_.size + rows.n_classes
    code, lack = exporters.printed(
        "emlearn",
        lambda: exporters.gaussian_by_emlearn(estimator, rows.n_features, rows.n_classes),
    )
    return Baseline(decider(estimator), n * DOUBLE_BITS, 3 * estimator.theta_.size, code, lack)


def categorical(rows: Rows, options: Options, seed: int) -> Baseline:
    """Learn a categorical naive Bayes from counts."""
    from sklearn.naive_bayes import CategoricalNB

    estimator = CategoricalNB(alpha=float(options["alpha"]), min_categories=list(rows.n_states))
    estimator.fit(rows.X, rows.y)
    entries = rows.n_classes * (1 + sum(rows.n_states))
    lack = (
        "no generator supports it; `bncc train --structure naive --parameters ml` learns "
        "the same model"
    )
    operations = rows.n_classes * (1 + rows.n_features)
    return Baseline(decider(estimator), entries * DOUBLE_BITS, operations, None, lack)


MOST_DOUBLES = 20_000
"""Limit on probabilities in the leaves of trees for m2cgen: more of them, 160 KB of constants,
fit no small device, and compilers take minutes."""
JUDGED = 2000
"""Training rows on which comparisons are counted."""


def tree(rows: Rows, options: Options, seed: int) -> Baseline:
    """Learn a decision tree with at most ``leaves`` leaves."""
    from sklearn.tree import DecisionTreeClassifier

    estimator = DecisionTreeClassifier(max_leaf_nodes=int(options["leaves"]), random_state=seed)
    return _of_trees(estimator.fit(rows.X, rows.y), [estimator], rows, options)


def forest(rows: Rows, options: Options, seed: int) -> Baseline:
    """Learn a random forest of ``trees`` trees with at most ``leaves`` leaves each."""
    from sklearn.ensemble import RandomForestClassifier

    estimator = RandomForestClassifier(
        int(options["trees"]), max_leaf_nodes=int(options["leaves"]), random_state=seed
    )
    estimator.fit(rows.X, rows.y)
    return _of_trees(estimator, estimator.estimators_, rows, options)


def boosting(rows: Rows, options: Options, seed: int) -> Baseline:
    """Learn ``rounds`` rounds of gradient-boosted trees with at most ``leaves`` leaves."""
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
    return Baseline(
        decider(estimator), bits, depth + len(trees), None,
        "neither emlearn nor m2cgen supports scikit-learn's boosting",
    )  # fmt: skip


def _of_trees(estimator: Any, trees: list[Any], rows: Rows, options: Options) -> Baseline:
    leaves = sum(int(each.tree_.n_leaves) for each in trees)
    inner = sum(int(each.tree_.node_count) for each in trees) - leaves
    bits = inner * _node_bits(rows) + leaves * max(1, ceil(log2(rows.n_classes)))
    X = rows.X[:JUDGED].astype(np.float32)
    comparisons = sum(
        float(np.diff(each.tree_.decision_path(X).indptr).mean()) - 1 for each in trees
    )
    by = str(options["by"])
    code, lack = _tree_code(estimator, leaves, rows, by)
    votes = len(trees) if len(trees) > 1 else 0
    decide = (lambda X: elected(trees, X)) if votes and by == "emlearn" else decider(estimator)
    return Baseline(decide, bits, comparisons + votes, code, lack)


def _tree_code(estimator: Any, leaves: int, rows: Rows, by: str) -> tuple[Code | None, str]:
    if by == "emlearn":
        return exporters.printed(by, lambda: exporters.trees_by_emlearn(estimator, rows.n_features))
    if by != "m2cgen":
        raise OptionError(f"unknown generator '{by}'; choose emlearn or m2cgen")
    doubles = leaves * rows.n_classes
    if doubles > MOST_DOUBLES:
        return None, f"m2cgen would write {doubles * DOUBLE_BITS // 8:,} bytes for the leaves"
    return exporters.printed(
        by, lambda: exporters.by_m2cgen(estimator, rows.n_features, rows.n_classes)
    )


def _node_bits(rows: Rows) -> int:
    """Return the bits of an inner node: a feature, a threshold, and the index of a child."""
    return max(1, ceil(log2(rows.n_features))) + STATE_BITS + 1
