"""
Error rates of a forest on the features of recordings with other lags, by folds of groups.

    python -m benchmarks.recordings.lags --data ../shared/data --sets bearings

Only the training part of a set's first split is read; folds are those of whole groups. The forests
have 100 trees, and the error rate is the mean of three seeds.
"""

from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np

from benchmarks.recordings.sets import StreamSet, chosen_sets, folds_of, load
from benchmarks.shared.markdown import table
from bncc._types import FloatArray, IntArray
from bncc.recordings.recording import Recordings
from bncc.recordings.signals import signals_of
from bncc.recordings.table import columns_of, feature_table

LAGS: tuple[tuple[int, ...], ...] = (
    (), (2,), (3,), (2, 4), (2, 3, 4), (2, 4, 8), (3, 5, 8), (2, 3, 4, 6, 8),
)  # fmt: skip
N_TREES, N_SEEDS, N_FOLDS = 100, 3, 5
LEVELS = ",".join(f"haar{k}" for k in range(1, 8))


def values_with(one: StreamSet, recordings: Recordings, lags: Sequence[int]) -> IntArray:
    """Return the features (n_windows, n_features) of all windows with a label."""
    signals = signals_of(one.signals, recordings.channels)
    names = ["sum,min,max,range,change,crossings", LEVELS, *(f"lag{k}" for k in lags)]
    columns = columns_of(",".join(names), signals, recordings.channels, one.windows)
    return feature_table(recordings, columns, one.windows).values


def errors_by_folds(X: IntArray, y: IntArray, folds: IntArray) -> FloatArray:
    """Return the error rates (N_SEEDS,) in percent of rows whose fold, (n,), was left out."""
    from sklearn.ensemble import RandomForestClassifier

    found = []
    for seed in range(N_SEEDS):
        said = np.empty_like(y)
        for fold in np.unique(folds):
            held = folds == fold
            forest = RandomForestClassifier(N_TREES, random_state=seed, n_jobs=1)
            said[held] = forest.fit(X[~held], y[~held]).predict(X[held])
        found.append(100 * (said != y).mean())
    return np.array(found)


def row(one: StreamSet, recordings: Recordings) -> list[str]:
    """Return the row of a set."""
    split = one.splits[0]
    first = feature_table(
        recordings, columns_of("sum", signals_of(None, recordings.channels), recordings.channels,
                               one.windows), one.windows,
    )  # fmt: skip
    trained = (folds_of(split, recordings) != 0)[first.recording]
    names = [split.group_of(each) for each in recordings.recordings]
    group = np.unique(names, return_inverse=True)[1][first.recording]
    order = np.random.default_rng(0).permutation(np.unique(group[trained]))
    fold_of = {g: k % N_FOLDS for k, g in enumerate(order.tolist())}
    folds = np.array([fold_of[g] for g in group[trained].tolist()])
    y = first.label[trained]
    found = [values_with(one, recordings, lags)[trained] for lags in LAGS]
    return [one.name, *(f"{errors_by_folds(X, y, folds).mean():.2f}" for X in found)]


@click.command()
@click.option("--data", type=Path, default="../shared/data", help="Folder with `streams`.")
@click.option("--sets", default="bearings", show_default=True, help="Sets, with commas.")
def main(data: Path, sets: str) -> None:
    """Print a row for each set."""
    head = ["set", *(", ".join(map(str, lags)) or "none" for lags in LAGS)]
    print(table(head, [row(one, load(data, one)) for one in chosen_sets(sets)]))


if __name__ == "__main__":
    main()
