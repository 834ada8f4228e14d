"""Decisions where some features are missing: networks sum them out, machines put in their means."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from bncc._types import BoolArray, IntArray
from bncc.model.marginal import log_joint
from bncc.papers.folds import Fold
from bncc.papers.s1_structures import found_structure
from bncc.papers.s1_svm import inputs_of, learned_machine
from bncc.structure.graph import Structure, topological_order
from bncc.train.margin.fit import margin_log_tables
from bncc.train.margin.settings import MarginSettings
from bncc.train.maximum_likelihood import LogTables, ml_log_tables

SVM = "SVM"
NETWORKS = {
    "NB-ML": ("NB", "ml"), "NB-MM": ("NB", "margin"), "TAN-ST-CMI-ML": ("TAN-ST-CMI", "ml"),
}  # fmt: skip
"""Structure and parameters, by name."""
LEARNERS = (*NETWORKS, SVM)

Decide = Callable[[BoolArray], IntArray]
"""From the features that are missing in all test rows, (n_features,), to the rows' classes."""


def missing_sets(n_features: int, count: int, n_repeats: int) -> BoolArray:
    """
    Draw the features that are missing, the same for all learners.

    Shapes: returns (n_repeats, n_features) bool, of a draw, those missing with a smaller count are
    missing with a larger one too.
    """
    missing = np.zeros((n_repeats, n_features), dtype=np.bool_)
    for repeat, row in enumerate(missing):
        row[np.random.default_rng((0, repeat)).permutation(n_features)[:count]] = True
    return missing


def errors_with_missing(fold: Fold, name: str, count: int, n_repeats: int) -> list[float]:
    """
    Decide the test rows with some features missing in all of them, again and again.

    References
    ----------
    S1, figure 5.
    """
    decide = _learned(fold, name)
    return [
        float((decide(missing) != fold.y_test).mean())
        for missing in missing_sets(fold.X.shape[1], count, n_repeats)
    ]


@lru_cache(maxsize=1)
def _learned(fold: Fold, name: str) -> Decide:
    """Learn once for all counts."""
    if name == SVM:
        return _machine(fold)
    of, parameters = NETWORKS[name]
    structure, _ = found_structure(fold, of, 0, None)
    data = fold.X, fold.y, structure, fold.n_states, fold.n_classes
    tables = (
        ml_log_tables(*data) if parameters == "ml" else margin_log_tables(*data, MarginSettings())
    )

    def decide(missing: BoolArray) -> IntArray:
        scores = log_joint_without(structure, fold.n_states, tables, fold.X_test, missing)
        return np.asarray(scores.argmax(axis=1))

    return decide


def log_joint_without(
    structure: Structure,
    n_states: list[int],
    tables: LogTables,
    X: IntArray,
    missing: BoolArray,
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """
    Return `log_joint` where the same features are missing in all rows.

    Shapes: `X` (n_samples, n_features) int; `missing` (n_features,) bool; returns (n_samples,
    n_classes) float64, a missing feature none of whose descendants is known sums to one and is left
    out.
    """
    is_kept = ~missing
    for i in reversed(topological_order(structure)):
        for j in structure.parents[i]:
            is_kept[j] |= is_kept[i]
    kept = np.flatnonzero(is_kept).tolist()
    if not kept:
        return np.tile(tables[0], (len(X), 1))
    place = {feature: k for k, feature in enumerate(kept)}
    part = Structure(
        tuple(tuple(place[j] for j in structure.parents[i]) for i in kept),
        tuple(structure.class_is_parent[i] for i in kept),
    )
    of_part = tables[0], tuple(tables[1][i] for i in kept)
    unknown = np.broadcast_to(missing[kept], (len(X), len(kept)))
    return log_joint(part, [n_states[i] for i in kept], of_part, X[:, kept], unknown)


def _machine(fold: Fold) -> Decide:
    machine = learned_machine(fold)
    mean = inputs_of(fold, fold.X).mean(axis=0)
    X_test = inputs_of(fold, fold.X_test)

    def decide(missing: BoolArray) -> IntArray:
        return np.asarray(machine.predict(np.where(missing, mean, X_test)))

    return decide
