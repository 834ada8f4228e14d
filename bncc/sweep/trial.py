"""One trial: trained with some seeds, its first model measured on the targets."""

from collections.abc import Mapping
from dataclasses import dataclass

from bncc.data.dataset import Dataset, Table
from bncc.model.model import Model
from bncc.sweep.point import Choice, Point


@dataclass(frozen=True, eq=False)
class Workload:
    """What all trials of a study share; it can be pickled.

    Parameters
    ----------
    train : Dataset
        Training rows, as ``bncc train`` reads them.
    test : Dataset or None
        Rows that nothing is chosen by.
    readings : Table or None
        What decisions are measured on, from `measured_rows`; None where there are no targets.
    source, bench_source : tuple of str
        Words of ``bncc train`` and ``bncc bench`` that read the same rows, from
        `bncc.sweep.config.source_words`.
    seed : int
        Of the first training of each trial.
    repeats : int
        Trainings of a trial, with seeds `seed`, `seed` + 1, ...
    targets : tuple of str
        Machines as in ``--target``, but ``all``; without, nothing is measured.
    """

    train: Dataset
    test: Dataset | None
    readings: Table | None
    source: tuple[str, ...]
    bench_source: tuple[str, ...]
    seed: int
    repeats: int
    targets: tuple[str, ...]


def measured_rows(table: Table) -> Table:
    """Return the rows that ``bncc bench --data`` measures over.

    Parameters
    ----------
    table : Table
        What ``bncc bench`` would read: `bncc.cli.inputs.rows_to_classify` of the data, with the
        fold but without a class.

    Returns
    -------
    Table
        At most `bncc.bench.on_target.N_ROWS` rows, for `Workload`.
    """
    raise NotImplementedError


def run_trial(work: Workload, number: int, params: Mapping[str, Choice]) -> Point:
    """Train, judge and measure one trial.

    Parameters
    ----------
    work : Workload
        What it shares with the others.
    number : int
        In the study.
    params : mapping of str to Choice
        Values by option.

    Returns
    -------
    Point
        Its command gives the same figures again.

    Raises
    ------
    BnccError
        If it comes to nothing: values that make no sense together, or a tool that fails.
    """
    raise NotImplementedError


def train_again(work: Workload, params: Mapping[str, Choice]) -> Model:
    """Return the model of a trial's first seed.

    Parameters
    ----------
    work : Workload
        What the trial shares with the others.
    params : mapping of str to Choice
        Its values.

    Returns
    -------
    Model
        The same as in `run_trial`.

    Raises
    ------
    BnccError
        As `run_trial`.
    """
    raise NotImplementedError
