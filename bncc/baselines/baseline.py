"""Common types of baselines: training rows, learned classifiers, and their C."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bncc._types import IntArray

Options = Mapping[str, str | int | float | bool]
"""Options of a family, by name."""

Files = Mapping[str, str]
"""C by file name; ``m.h`` declares ``int16_t m_predict(const uint8_t x[])``."""

STATE_BITS = 8
"""Bits of a threshold on a state."""
DOUBLE_BITS = 64
"""Bits of a number in scikit-learn."""

PREFIX = "m"
"""Prefix of the files and of the measured function."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Training data of a baseline."""

    X: IntArray  # (n, n_features) int64: States, each below 256
    y: IntArray  # (n,) int64: Class indices; every class occurs
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
    by: str  # Generator of the C, with its version


@dataclass(frozen=True, eq=False)
class Baseline:
    """A trained classifier other than bncc's Bayesian networks."""

    # From states ``(n, n_features)`` to classes ``(n,)``, as computed by the C or, without C, by
    # the library
    decide: Callable[[IntArray], IntArray]
    bits: int  # Size of its parameters, packed as tightly as the family's own encoding allows
    # Additions, multiply-accumulates and comparisons per decision, each counted as one; a mean if
    # they depend on the input
    operations: float
    code: Code | None = None  # Its C
    lack: str = ""  # Reason why there is no C, as a clause; otherwise empty


def decider(estimator: Any) -> Callable[[IntArray], IntArray]:
    """Return the decisions of a scikit-learn estimator as a function of states."""
    return lambda X: np.asarray(estimator.predict(X), dtype=np.int64)
