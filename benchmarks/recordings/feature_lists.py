"""
Errors of boosted tables with different lists of features, by folds of groups.

    python -m benchmarks.recordings.feature_lists --data ../shared/data --sets bearings,exercises

Only the training part of a set's first split is read; folds are those of whole groups. A row has
the errors on validation windows of 5, 10, 15, 20, 30 and 40 tables on all features of the channels,
without any elimination, as ``bncc train --features auto`` judges a list.
"""

from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np

from benchmarks.recordings.sets import StreamSet, chosen_sets, load, parts
from benchmarks.shared.markdown import table
from bncc.recordings.recording import Recordings
from bncc.recordings.signal_feature import SignalFeature
from bncc.recordings.signals import signals_of
from bncc.recordings.table import columns_of
from bncc.search.feature_choice import list_errors
from bncc.search.feature_elimination import SIZES
from bncc.train.settings import TrainSettings


def rows_of(one: StreamSet, train: Recordings) -> list[list[str]]:
    """Return the rows of a set."""
    signals = signals_of(None, train.channels)

    def columns(features: str) -> Sequence[SignalFeature]:
        return columns_of(features, signals, train.channels, one.windows)

    found = []
    for each in list_errors(train, columns, one.windows, TrainSettings()):
        misses = each.found.misses
        errors = np.asarray(misses.sum(axis=1), dtype=np.int64).tolist()
        number = str(len(each.found.columns))
        found.append([one.name, each.features, number, f"{misses.shape[1]:,}", *map(str, errors)])
    return found


@click.command()
@click.option("--data", type=Path, default="../shared/data", help="Folder with `streams`.")
@click.option("--sets", default="bearings,exercises", show_default=True, help="With commas.")
def main(data: Path, sets: str) -> None:
    """Print a row for each set and list."""
    rows = []
    for one in chosen_sets(sets):
        train, _ = next(parts(one.splits[0], load(data, one)))
        rows += rows_of(one, train)
    head = ["set", "features", "number", "windows", *(f"{n} tables" for n in SIZES)]
    print(table(head, rows))


if __name__ == "__main__":
    main()
