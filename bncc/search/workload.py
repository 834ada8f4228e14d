"""What all trials of a study share: the rows, the seeds and the machines."""

from collections.abc import Mapping
from dataclasses import dataclass

from bncc.data.dataset import Dataset, Table, check_trainable
from bncc.device.on_target import bench_rows
from bncc.errors import DataError
from bncc.search.trial_result import Footprint
from bncc.train.settings import TrainSettings

Costs = Mapping[str, Footprint | str]
"""By target; a text says why there is no figure."""
TOO_FEW = "too few rows to hold any out, by which a sweep would choose; add rows of each class"


@dataclass(frozen=True, eq=False)
class Workload:
    """What all trials of a study share; it can be pickled."""

    train: Dataset  # Training rows, as ``bncc train`` reads them
    test: Dataset | None  # Rows that nothing is chosen by
    # What decisions are measured on, from `measured_rows`; None where there are no targets, or
    # `bench_source` names no data
    readings: Table | None
    # source and bench_source: Words of ``bncc train`` and ``bncc bench`` that read the same rows,
    # from `bncc.search.config.source_words`
    source: tuple[str, ...]
    bench_source: tuple[str, ...]
    seed: int  # Of the first training of each trial
    repeats: int  # Trainings of a trial, with seeds `seed`, `seed` + 1, ..
    # Machines as in ``--target``, but ``all``; without, nothing is measured
    targets: tuple[str, ...]
    # Entry points that are measured; empty for `bncc.resources.default_entries`
    entries: tuple[str, ...] = ()


def measured_rows(table: Table) -> Table:
    """Return the rows that ``bncc bench --data`` measures over."""
    return bench_rows(table)


def check_rows(train: Dataset) -> None:
    """Refuse rows of which every trial would come to nothing."""
    check_trainable(train)
    _, held = train.split.holdout(train.y, TrainSettings().validation, seed=0)
    if len(held) == 0:
        raise DataError(TOO_FEW)
