"""Exceptions of bncc; each message is one sentence that names the remedy."""

from math import inf
from pathlib import Path


class BnccError(Exception):
    """
    Base class of all errors that a user can cause and fix.

    The message is one sentence without a trailing newline; the command line prints it on one
    line of stderr and exits with `exit_code`.
    """

    exit_code = 2


class DataError(BnccError):
    """A table of readings cannot be used as it is."""


class ConstantColumnsError(DataError):
    """No column of a table varies, but a learner needs one that does."""


class NetworkError(BnccError):
    """A Bayesian network cannot be read, or does not support an operation."""


class ModelFileError(BnccError):
    """A model file is damaged, hostile, or of another format version."""


class CheckpointError(BnccError):
    """A checkpoint cannot be read, written, or resumed."""


class ModelError(BnccError):
    """A model does not support an operation."""


class IrError(BnccError):
    """A program violates a rule of the intermediate representation, or exceeds its proven range."""


class OptionError(BnccError):
    """An option or a combination of options is invalid."""


class ToolchainError(BnccError):
    """A compiler or simulator is missing or failed."""


class MeasurementError(ToolchainError):
    """Tools are installed, but some C cannot be built with them, or not run."""


class StudyError(BnccError):
    """A study cannot be opened, or its cluster is gone."""


class TrialError(BnccError):
    """Too many trials of a study failed, or one has changed."""

    exit_code = 1


class WorkerError(BnccError):
    """A worker process was terminated from outside."""


class MisfitError(ToolchainError):
    """The C of a model does not fit a target."""


class BudgetError(BnccError):
    """
    The result does not fit the budget that the user set.

    Parameters
    ----------
    message : str
        Error message.
    utilization : float, default=inf
        Largest fraction of a limit that the nearest result uses, if known.
    smallest : str, optional
        Error message if the smallest C has been tried, too [default: the same].
    """

    exit_code = 1

    def __init__(self, message: str, utilization: float = inf, smallest: str | None = None) -> None:
        super().__init__(message)
        self.utilization = utilization
        self._smallest = message if smallest is None else smallest

    def of_smallest(self) -> "BudgetError":
        """Return the error without the advice to try the smallest C."""
        return BudgetError(self._smallest, self.utilization)

    def behind(self, what: str) -> "BudgetError":
        """Return the error of a classifier that something else leaves less of the budget."""
        messages = (f"behind {what}, {message}" for message in (str(self), self._smallest))
        return BudgetError(next(messages), self.utilization, next(messages))


class DivergedError(OptionError):
    """The loss of a gradient descent is no longer finite."""


def diverged(lr: float) -> DivergedError:
    """Return the error of a gradient descent whose loss is no longer finite."""
    return DivergedError(
        f"gradient descent diverged with learning rate {lr:g}; choose a smaller --lr"
    )


def extra_command(extra: str) -> str:
    """Return the command that installs an extra, from the clone if bncc runs there."""
    if _is_clone():
        return f"`pip install -e '.[{extra}]'` in bncc's clone"
    packages = " ".join(f"'{package}'" for package in _packages_of(extra))
    return f"`pip install {packages}`"


def _is_clone() -> bool:
    return Path(__file__).resolve().parents[1].joinpath("pyproject.toml").is_file()


def _packages_of(extra: str) -> list[str]:
    """Return the requirements of an extra, as the installed metadata has them."""
    from importlib.metadata import requires

    parts = (line.partition(";") for line in requires("bncc-compiler") or ())
    return [name.strip() for name, _, marker in parts if f"extra == '{extra}'" in marker]
