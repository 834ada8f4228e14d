"""
Errors of boosted tables with and without ratios of features, by folds of groups.

    python -m benchmarks.recordings.ratios --data ../shared/data --sets bearings,exercises

Only the training part of a set's first split is read; folds are those of whole groups. A row has
the errors on validation rows of 5, 10, 15, 20, 30 and 40 tables on all features of the channels,
without any elimination.
"""

from pathlib import Path

import click
import numpy as np

from benchmarks.recordings.sets import StreamSet, chosen_sets, load, parts
from benchmarks.shared.markdown import table
from bncc.recordings.labeled import dataset_of_windows
from bncc.recordings.recording import Recordings
from bncc.recordings.signals import signals_of
from bncc.recordings.table import columns_of, feature_table, narrowed
from bncc.search.budget_search import with_held_rows
from bncc.search.feature_elimination import SIZES, eliminations
from bncc.search.split_folds import folds_of
from bncc.train.settings import TrainSettings

FEATURES = ("default", "default,ratios")


def row(one: StreamSet, train: Recordings, features: str) -> list[str]:
    """Return the row of a set with some features."""
    columns = columns_of(features, signals_of(None, train.channels), train.channels, one.window)
    dataset = dataset_of_windows(narrowed(feature_table(train, columns, one.windows)))
    base = with_held_rows(TrainSettings())
    folds = list(folds_of(dataset, base, None))
    everything = next(eliminations(folds, base, ([0] * len(columns),), len))
    n_windows = everything.misses.shape[1]
    errors = np.asarray(everything.misses.sum(axis=1), dtype=np.int64).tolist()
    return [one.name, features, str(len(columns)), f"{n_windows:,}", *map(str, errors)]


@click.command()
@click.option("--data", type=Path, default="../shared/data", help="Folder with `streams`.")
@click.option("--sets", default="bearings,exercises", show_default=True, help="With commas.")
def main(data: Path, sets: str) -> None:
    """Print a row for each set, without and with ratios."""
    rows = []
    for one in chosen_sets(sets):
        train, _ = next(parts(one.splits[0], load(data, one)))
        rows += [row(one, train, features) for features in FEATURES]
    head = ["set", "features", "number", "windows", *(f"{n} tables" for n in SIZES)]
    print(table(head, rows))


if __name__ == "__main__":
    main()
