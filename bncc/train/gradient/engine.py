"""What computes the steps of gradient descent, seen from the training loop."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple, Protocol

from bncc._types import AnyArray, IntArray
from bncc.errors import diverged
from bncc.structure.graph import Structure
from bncc.train.checkpoint.snapshot import Resumable
from bncc.train.maximum_likelihood import LogTables


@dataclass(frozen=True, eq=False)
class Problem:
    """What is trained, and where it begins."""

    X: IntArray  # (n_samples, n_features) int: States
    y: IntArray  # (n_samples,) int: Class indices
    structure: Structure  # The graph; features without the class come last, and have no tables here
    n_states: Sequence[int]  # Cardinality of each feature
    start: LogTables  # Prior and tables to begin with, natural log-probabilities


class Passed(NamedTuple):
    """What an epoch says of the samples, each at the time when it was taken."""

    loss: float  # Mean loss
    error: float  # Fraction that was decided wrongly, features that were left out missing


def check_converging(passed: Passed, lr: float) -> None:
    """Refuse to go on with tables that are no numbers any more."""
    if not isfinite(passed.loss):
        raise diverged(lr)


class Engine(Resumable, Protocol):
    """Tables in training. Both kinds do the same, but for rounding of floats."""

    def epoch(self, order: IntArray, noise: AnyArray, lr: float) -> Passed:
        """
        Take one step of Adam for each batch.

        Shapes: `order` (n_samples,) int; `noise` (n_samples, n_features) uint8.
        """
        ...

    def see(self, X: IntArray) -> None:
        """Learn from other states of the same samples from now on."""
        ...

    def log_tables(self) -> LogTables:
        """Return prior and tables before quantization, natural log-probabilities <= 0."""
        ...
