"""What rivals of bncc's classifiers learn from, and what each says of itself."""

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


@dataclass(frozen=True, eq=False)
class Code:
    """A rival as C.

    Parameters
    ----------
    files : mapping of str to str
        Text by file name.
    by : str
        Who wrote the C: a generator with its version.
    """

    files: Files
    by: str


@dataclass(frozen=True, eq=False)
class Rival:
    """A trained classifier that is no Bayesian network of bncc's.

    Parameters
    ----------
    decide : callable
        From states ``(n, n_features)`` to classes ``(n,)``, as the C has it, or, without C, as its
        library has it.
    bits : int
        Of its parameters, packed as tightly as the family's own encoding allows.
    operations : float
        Per decision: additions, multiply-accumulates and comparisons, each one; a mean where they
        depend on the input.
    code : Code or None
        Its C.
    lack : str
        Why there is no C, as a clause; empty where there is.
    """

    decide: Callable[[IntArray], IntArray]
    bits: int
    operations: float
    code: Code | None = None
    lack: str = ""


def decider(estimator: Any) -> Callable[[IntArray], IntArray]:
    """Return what an estimator of scikit-learn decides, as a function of states."""
    return lambda X: np.asarray(estimator.predict(X), dtype=np.int64)
