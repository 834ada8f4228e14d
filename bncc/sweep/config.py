"""What a trial's values mean to training, and the words of the commands that repeat it."""

import shlex
from collections.abc import Mapping, Sequence

from bncc.compiler.cost_model import Optimize
from bncc.sweep.point import Choice, model_name
from bncc.train.settings import TrainSettings

Params = Mapping[str, Choice]


def settings_of(params: Params, seed: int) -> TrainSettings:
    """Return the settings of a training.

    Parameters
    ----------
    params : mapping of str to Choice
        Values by option.
    seed : int
        Of the training.

    Returns
    -------
    TrainSettings
        Those of ``bncc train`` with the words of `train_words`.

    Raises
    ------
    OptionError
        If the values make no sense together.
    """
    raise NotImplementedError


def optimize_of(params: Params) -> Optimize:
    """Return what the C is optimized for, ``balanced`` where nothing is said."""
    raise NotImplementedError


def train_words(params: Params) -> tuple[str, ...]:
    """Return the options of ``bncc train`` for a trial, from which its values come back exactly."""
    raise NotImplementedError


def source_words(
    data: str,
    *,
    class_name: str | None = None,
    fold: int | None = None,
    test: str | None = None,
    drop: Sequence[str] = (),
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words by which the commands of a trial read the same rows.

    Parameters
    ----------
    data : str
        As the user wrote it.
    class_name, fold, test, drop
        Values of ``--class``, ``--fold``, ``--test`` and ``--drop``.

    Returns
    -------
    train : tuple of str
        For ``bncc train``.
    bench : tuple of str
        For ``bncc bench``, which reads no classes.
    """
    raise NotImplementedError


def command_of(
    number: int,
    params: Params,
    *,
    source: Sequence[str],
    bench_source: Sequence[str],
    seed: int,
    repeats: int,
    targets: Sequence[str],
) -> str:
    """Return what a user types to get a trial's figures again."""
    raise NotImplementedError


__all__ = [
    "command_of",
    "model_name",
    "optimize_of",
    "settings_of",
    "shlex",
    "source_words",
    "train_words",
]
