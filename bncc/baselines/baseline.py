"""What baselines of bncc's classifiers learn from, and what each says of itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bncc._types import IntArray

Options = Mapping[str, str | int | float | bool]
"""Of a family, by name."""

Files = Mapping[str, str]
"""C by file name; ``m.h`` declares ``int16_t m_predict(const uint8_t x[])``."""

STATE_BITS = 8
"""Bits of a threshold on a state."""
DOUBLE_BITS = 64
"""Bits of a number of scikit-learn's."""

PREFIX = "m"
"""Of the files and of the function that is measured."""


@dataclass(frozen=True, eq=False)
class Rows:
    """What a baseline learns from."""

    X: IntArray  # (n, n_features) int64: States, each below 256
    y: IntArray  # (n,) int64: Classes; every one occurs
    n_states: tuple[int, ...]  # Cardinality of each feature
    n_classes: int  # Number of classes

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])


@dataclass(frozen=True, eq=False)
class Code:
    """A baseline as C."""

    files: Files  # Text by file name
    by: str  # Who wrote the C: a generator with its version


@dataclass(frozen=True, eq=False)
class Baseline:
    """A trained classifier that is no Bayesian network of bncc's."""

    # From states ``(n, n_features)`` to classes ``(n,)``, as the C has it, or, without C, as its
    # library has it
    decide: Callable[[IntArray], IntArray]
    bits: int  # Of its parameters, packed as tightly as the family's own encoding allows
    # Per decision: additions, multiply-accumulates and comparisons, each one; a mean where they
    # depend on the input
    operations: float
    code: Code | None = None  # Its C
    lack: str = ""  # Why there is no C, as a clause; empty where there is


def decider(estimator: Any) -> Callable[[IntArray], IntArray]:
    """Return what an estimator of scikit-learn decides, as a function of states."""
    return lambda X: np.asarray(estimator.predict(X), dtype=np.int64)
