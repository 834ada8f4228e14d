"""What computes the steps of gradient descent, seen from the training loop."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple, Protocol

from bncc._types import AnyArray, IntArray
from bncc.errors import OptionError
from bncc.structure.graph import Structure
from bncc.train.maximum_likelihood import LogTables
from bncc.train.moment import Resumable


@dataclass(frozen=True, eq=False)
class Problem:
    """What is trained, and where it begins.

    Parameters
    ----------
    X : (n_samples, n_features) int
        States.
    y : (n_samples,) int
        Class indices.
    structure : Structure
        The graph; features without the class come last, and have no tables here.
    n_states : sequence of int
        Cardinality of each feature.
    start : tuple
        Prior and tables to begin with, natural log-probabilities.
    """

    X: IntArray
    y: IntArray
    structure: Structure
    n_states: Sequence[int]
    start: LogTables


class Passed(NamedTuple):
    """What an epoch says of the samples, each at the time when it was taken.

    Parameters
    ----------
    loss : float
        Mean loss.
    error : float
        Fraction that was decided wrongly, features that were left out missing.
    """

    loss: float
    error: float


def check_converging(passed: Passed, lr: float) -> None:
    """Refuse to go on with tables that are no numbers any more.

    Parameters
    ----------
    passed : Passed
        What the last epoch says.
    lr : float
        First step of Adam, for the message.

    Raises
    ------
    OptionError
        If the loss is infinite or no number.
    """
    if not isfinite(passed.loss):
        raise diverged(lr)


def diverged(lr: float) -> OptionError:
    """Return what is raised where a descent with such first steps has left all bounds."""
    return OptionError(f"the descent diverged with steps of {lr:g}; choose a smaller --lr")


class Engine(Resumable, Protocol):
    """Tables in training. Both kinds do the same, but for rounding of floats."""

    def epoch(self, order: IntArray, noise: AnyArray, lr: float) -> Passed:
        """Take one step of Adam for each batch.

        Parameters
        ----------
        order : (n_samples,) int
            The samples in the order in which they are taken.
        noise : (n_samples, n_features) uint8
            In that order; a feature is left out of a sample's sum where it is below
            `Hyperparameters.dropped_below`.
        lr : float
            Step of Adam.

        Returns
        -------
        Passed
            What it says of the samples.
        """
        ...

    def see(self, X: IntArray) -> None:
        """Learn from other states of the same samples from now on."""
        ...

    def log_tables(self) -> LogTables:
        """Return prior and tables before quantization, natural log-probabilities <= 0."""
        ...
