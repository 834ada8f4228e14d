"""What all trials of a study share: the rows, the seeds and the machines."""

from collections.abc import Mapping
from dataclasses import dataclass

from bncc.bench.on_target import bench_rows
from bncc.data.dataset import Dataset, Table, check_trainable
from bncc.errors import DataError
from bncc.sweep.point import Footprint
from bncc.train.settings import TrainSettings

Costs = Mapping[str, Footprint | str]
"""By target; a text says why there is no figure."""
TOO_FEW = "too few rows to hold any out, by which a sweep would choose; add rows of each class"


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
        What decisions are measured on, from `measured_rows`; None where there are no targets, or
        `bench_source` names no data.
    source, bench_source : tuple of str
        Words of ``bncc train`` and ``bncc bench`` that read the same rows, from
        `bncc.sweep.config.source_words`.
    seed : int
        Of the first training of each trial.
    repeats : int
        Trainings of a trial, with seeds `seed`, `seed` + 1, ...
    targets : tuple of str
        Machines as in ``--target``, but ``all``; without, nothing is measured.
    entries : tuple of str
        Entry points that are measured; empty for `bncc.resources.default_entries`.
    """

    train: Dataset
    test: Dataset | None
    readings: Table | None
    source: tuple[str, ...]
    bench_source: tuple[str, ...]
    seed: int
    repeats: int
    targets: tuple[str, ...]
    entries: tuple[str, ...] = ()


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
    return bench_rows(table)


def check_rows(train: Dataset) -> None:
    """Refuse rows of which every trial would come to nothing.

    Parameters
    ----------
    train : Dataset
        Rows to learn from.

    Raises
    ------
    DataError
        If nothing can be learned from them, or too few to hold any out.
    """
    check_trainable(train)
    _, held = train.split.holdout(train.y, TrainSettings().validation, seed=0)
    if len(held) == 0:
        raise DataError(TOO_FEW)
