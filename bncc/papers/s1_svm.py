"""The support vector machine that S1 sets beside Bayesian networks, by scikit-learn."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.data.splits import stratified_folds
from bncc.papers.folds import Fold

PENALTY = 1.0
"""C* of S1's table 2."""
GAMMAS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Factors of squared distances in the kernel; S1's are among them."""
N_FOLDS = 5
MOST_ROWS = 4000
"""Rows that the kernel is chosen on, at most: each doubling takes four times as long."""


@dataclass(frozen=True)
class Machine:
    """A support vector machine."""

    error: float  # Fraction of wrong decisions on the test rows
    n_vectors: int  # Support vectors
    gamma: float  # Of its kernel


def machine_of(fold: Fold) -> Machine:
    """Learn from all training rows, with the kernel that cross-validation chooses."""
    machine = learned_machine(fold)
    error = float((machine.predict(inputs_of(fold, fold.X_test)) != fold.y_test).mean())
    return Machine(error, int(machine.n_support_.sum()), machine.gamma)


def learned_machine(fold: Fold) -> Any:
    """Learn a machine from all training rows."""
    from sklearn.svm import SVC

    X = inputs_of(fold, fold.X)
    return SVC(C=PENALTY, gamma=_chosen(X, fold.y)).fit(X, fold.y)


def inputs_of(fold: Fold, X: IntArray) -> FloatArray:
    """
    Return states as a machine reads them.

    Shapes: `X` (n_rows, n_features) int; returns (n_rows, n_features) float64, in 0 .. 1.
    """
    return np.asarray(X / np.maximum(np.asarray(fold.n_states) - 1, 1))


def _chosen(X: FloatArray, y: IntArray) -> float:
    """Choose a kernel by cross-validation, on a stratified part of many rows."""
    from sklearn.svm import SVC

    parts = -(-len(y) // MOST_ROWS)
    if parts > 1:
        part = stratified_folds(y, parts, 0) == 0
        X, y = X[part], y[part]
    folds = stratified_folds(y, N_FOLDS, 0)
    wrong = np.zeros(len(GAMMAS), dtype=np.int64)
    for k in range(N_FOLDS):
        rest, held = folds != k, folds == k
        for j, gamma in enumerate(GAMMAS):
            machine = SVC(C=PENALTY, gamma=gamma).fit(X[rest], y[rest])
            wrong[j] += (machine.predict(X[held]) != y[held]).sum()
    return GAMMAS[int(wrong.argmin())]
