"""Every error bncc raises on purpose: one sentence that names the remedy."""

from math import inf


class BnccError(Exception):
    """
    Base of all errors a user can cause and mend.

    The message is one sentence without a trailing newline; the command line prints it on one
    line of stderr and exits with `exit_code`.
    """

    exit_code = 2


class DataError(BnccError):
    """A table of readings cannot be used as it is."""


class ConstantColumnsError(DataError):
    """No column of a table varies, where a learner needs one that does."""


class NetworkError(BnccError):
    """A Bayesian network cannot be read, or cannot do what is asked of it."""


class ModelFileError(BnccError):
    """A model file is damaged, hostile, or of another format version."""


class CheckpointError(BnccError):
    """A checkpoint cannot be read, written, or gone on from."""


class ModelError(BnccError):
    """A model cannot do what is asked of it."""


class IrError(BnccError):
    """A program breaks a rule of the intermediate representation, or leaves its proven range."""


class OptionError(BnccError):
    """An option or a combination of options makes no sense."""


class ToolchainError(BnccError):
    """A compiler or simulator is missing or failed."""


class StudyError(BnccError):
    """A study cannot be opened, or the cluster that works on it is gone."""


class TrialError(BnccError):
    """Too many trials of a study came to nothing, or one is not what it was."""

    exit_code = 1


class WorkerError(BnccError):
    """A process that did a part of the work was ended from outside."""


class MisfitError(ToolchainError):
    """The C of a model does not fit a machine."""


class BudgetError(BnccError):
    """
    The result does not fit the budget that the user set.

    Parameters
    ----------
    message : str
        The sentence for people.
    utilization : float, default=inf
        Largest part of a limit that the nearest result uses, where that is known.
    """

    exit_code = 1

    def __init__(self, message: str, utilization: float = inf) -> None:
        super().__init__(message)
        self.utilization = utilization


def diverged(lr: float) -> OptionError:
    """Return the error of a gradient descent whose loss is no longer finite."""
    return OptionError(
        f"gradient descent diverged with learning rate {lr:g}; choose a smaller --lr"
    )


def extra_command(extra: str) -> str:
    """Return the command that installs an extra: from the clone, as no package index has bncc."""
    return f"`pip install -e '.[{extra}]'` in bncc's clone"
