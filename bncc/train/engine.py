"""What computes the steps of gradient descent: torch says what is meant, C is quick."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple, Protocol, TypeVar

from bncc._types import AnyArray, IntArray
from bncc.errors import OptionError, ToolchainError
from bncc.structure.graph import Structure
from bncc.train.hyperparameters import Hyperparameters
from bncc.train.interrupts import interrupts_deferred
from bncc.train.maximum_likelihood import LogTables
from bncc.train.moment import Resumable

T = TypeVar("T")


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
        The graph; the class is a parent of every feature.
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
        raise OptionError(f"the descent diverged with steps of {lr:g}; choose a smaller --lr")


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


def engine_for(problem: Problem, hyper: Hyperparameters) -> Engine:
    """Return the engine that is asked for, or the quicker one that is there.

    Parameters
    ----------
    problem : Problem
        What is trained.
    hyper : Hyperparameters
        What steers it; `engine` None takes C where a compiler is found and the device is a CPU.

    Returns
    -------
    Engine
        At its start.

    Raises
    ------
    OptionError
        If the device is absent.
    ToolchainError
        If C is asked for and there is no compiler.
    """

    def native() -> Engine:
        from bncc.train.native.tables import NativeEngine

        return NativeEngine(problem, hyper)

    def torch() -> Engine:
        from bncc.train.torch_engine import TorchEngine

        return TorchEngine(problem, hyper)

    return quicker(hyper, native, torch)


def quicker(hyper: Hyperparameters, native: Callable[[], T], torch: Callable[[], T]) -> T:
    """Return the engine that is asked for, or C where it can be built.

    Parameters
    ----------
    hyper : Hyperparameters
        `engine` and `device`.
    native, torch : callable
        Import and make the engines.

    Returns
    -------
    engine
        Of one of them.

    Raises
    ------
    OptionError
        If the device is absent.
    ToolchainError
        If C is asked for and there is no compiler.
    """
    if hyper.engine == "native" or (hyper.engine is None and hyper.device == "cpu"):
        try:
            return native()
        except ToolchainError:
            if hyper.engine == "native":
                raise
    # An exception in the middle of an import of torch, which takes seconds, may be lost there.
    with interrupts_deferred():
        return torch()
