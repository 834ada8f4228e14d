"""The data sets of S1, as states: rows to learn from and rows to be judged by."""

from pathlib import Path

import numpy as np

from bncc._types import BoolArray, IntArray
from bncc.data.dataset import Dataset
from bncc.data.readers import read_table
from bncc.data.target import dataset_of
from bncc.discretize.feature import states_of
from bncc.discretize.fit import fit_features
from bncc.errors import DataError
from bncc.papers.folds import Fold

S1_FILES = {"mnist14": "mnist14.npz", "usps": "usps.npz", "spambase": "spambase.csv.gz"}
"""By row of S1's tables."""
PLACES = (".", "paper", "raw", "../paper", "../raw")
"""Where a file may lie, seen from the folder that is named."""
N_SPLITS = 5
"""Random halves of spambase."""
HALF = 2301
USPS_ROWS = 8000
"""Training rows of S1."""


def s1_path(folder: Path, row: str) -> Path | None:
    """Return where the file of a data set lies."""
    paths = (folder / place / S1_FILES[row] for place in PLACES)
    return next((path for path in paths if path.is_file()), None)


def s1_folds(folder: Path, row: str, n_splits: int = N_SPLITS) -> tuple[Fold, ...]:
    """
    Read a data set in S1's sizes.

    Spambase is split at random, half for half; usps' 11,000 rows, which come as states, once into
    8000 and 3000; mnist14 is 60,000 and 10,000 as MNIST has them. S1's own splits of spambase and
    usps are not published.
    """
    path = s1_path(folder, row)
    if path is None:
        raise DataError(
            f"'{folder}' holds no {S1_FILES[row]}, nor does paper or raw within; name the folder "
            "of the data sets with --data"
        )
    if row == "mnist14":
        return (_fold(row, dataset_of(read_table(path, fold=1)), ~_is_test(path)),)
    if row == "usps":
        return (_states_fold(row, dataset_of(read_table(path, fold=1))),)
    dataset = dataset_of(read_table(path))
    n = min(HALF, (dataset.n_rows + 1) // 2)
    splits = (_drawn(dataset.n_rows, n, seed) for seed in range(n_splits))
    return tuple(_fold(f"{row} {k}", dataset, chosen) for k, chosen in enumerate(splits, 1))


def _is_test(path: Path) -> BoolArray:
    with np.load(path, allow_pickle=False) as archive:
        if "orig_is_test" not in archive:
            raise DataError(
                f"'{path}' does not say in 'orig_is_test' which rows MNIST tests on; get it again"
            )
        return np.asarray(archive["orig_is_test"], dtype=np.bool_)


def _drawn(n_rows: int, n: int, seed: int) -> BoolArray:
    """Draw the training rows."""
    chosen = np.zeros(n_rows, dtype=np.bool_)
    chosen[np.random.default_rng(seed).permutation(n_rows)[:n]] = True
    return chosen


def _fold(name: str, dataset: Dataset, chosen: BoolArray) -> Fold:
    """Cut readings into states by the MDL rule on the training rows."""
    train = dataset.take(np.flatnonzero(chosen))
    test = dataset.take(np.flatnonzero(~chosen))
    features = fit_features(train.table, train.y)
    X, X_test = (states_of(features, part.table) for part in (train, test))
    n_states = [feature.n_states for feature in features]
    return Fold(name, X, train.y, X_test, test.y, n_states, len(dataset.classes))


def _states_fold(name: str, dataset: Dataset) -> Fold:
    """Split rows that are states already; all of them say how many states there are."""
    X: IntArray = np.stack([column.values for column in dataset.table.columns], axis=1)
    X = X.astype(np.int64)
    chosen = _drawn(dataset.n_rows, min(USPS_ROWS, dataset.n_rows * 8 // 11), 0)
    n_states = (X.max(axis=0) + 1).tolist()
    train, test = np.flatnonzero(chosen), np.flatnonzero(~chosen)
    return Fold(name, X[train], dataset.y[train], X[test], dataset.y[test], n_states,
                len(dataset.classes))  # fmt: skip
