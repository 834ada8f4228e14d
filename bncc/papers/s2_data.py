"""
S2's data: the UCI sets of its study, and the way from a set to folds of states.

The paper does not list its 60 sets. These are the sets of the Weka collection in ARFF.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bncc._types import AnyArray, FloatArray, IntArray
from bncc.data.dataset import Column, Dataset
from bncc.data.readers import read_table
from bncc.data.splits import stratified_folds
from bncc.data.target import dataset_of
from bncc.discretize.binning import median_cuts
from bncc.errors import DataError
from bncc.papers.folds import Fold

SUFFIXES = (".arff", ".arff.gz")
FOLDER = "uci"
"""Where the files lie in a folder of several collections."""

CLASSES: Mapping[str, str] = {
    "colic.orig": "surgical lesion", "flags": "religion", "spectrometer": "LRS-class",
    "wine": "class",
}  # fmt: skip
"""The class column of sets where it is not the last."""

IDENTIFIERS: Mapping[str, tuple[str, ...]] = {
    "bridges.version1": ("IDENTIF",), "bridges.version2": ("IDENTIF",),
    "colic.orig": ("Hospital Number",), "cylinder.bands": ("timestamp", "cylinder_number"),
    "flags": ("name",), "spectrometer": ("LRS-name",), "splice": ("Instance_name",),
    "sponge": ("Name",), "zoo": ("animal",),
}  # fmt: skip
"""Columns that name rows: names, serial numbers and times. They say nothing of another row."""

HALF = "a training or test part of its own, not a whole set"
FEW = "too few rows: a fold of ten holds one or two"
LEFT_OUT: Mapping[str, str] = {
    "shuttle.landing.control": FEW, "spect.test": HALF, "spect.train": HALF,
    "spectf.test": HALF, "spectf.train": HALF, "trains": FEW,
}  # fmt: skip
"""Sets of the collection that are not used, and why."""

QUICK = (
    "balance.scale", "breast.w", "car", "glass", "heart.statlog", "iris", "lymph", "tic-tac-toe",
    "vehicle", "vote", "wine", "zoo",
)  # fmt: skip
"""A dozen small ones."""


def set_files(folder: Path, quick: bool = False) -> dict[str, Path]:
    """Find the files of the study."""
    place = folder / FOLDER if (folder / FOLDER).is_dir() else folder
    found = {}
    for path in sorted(place.iterdir()) if place.is_dir() else []:
        name = path.name.removesuffix(".gz").removesuffix(".arff")
        if path.name.endswith(SUFFIXES) and name not in LEFT_OUT:
            found[name] = path
    if quick:
        found = {name: path for name, path in found.items() if name in QUICK}
    if not found:
        kind = "ARFF files of S2's quick study" if quick else "ARFF files"
        raise DataError(f"'{place}' has no {kind}; name the folder of the UCI sets with --data")
    return found


def read_set(path: Path, name: str) -> Dataset:
    """Read a data set without the columns that name its rows."""
    table = read_table(path)
    kept = table.without(IDENTIFIERS.get(name, ()))
    return dataset_of(kept, CLASSES.get(name, table.names[-1]))


@dataclass(frozen=True)
class Protocol:
    """How a data set is dealt out."""

    n_repeats: int = 1  # How often its rows are dealt to folds anew. The paper does so ten times.
    n_folds: int = 10  # Parts of its rows, each held out once
    seed: int = 0  # Of the first repeat; the next has the next
    # Whether means, modes and medians are those of all rows. The paper does not say, and a filter
    # of Weka applied before cross-validation would do so; by default they are those of the training
    # rows of each fold.
    whole_set: bool = False


@dataclass(frozen=True, eq=False)
class Part:
    """One fold, and where its test rows stand."""

    test_rows: IntArray  # (m,) int64: Row numbers in the data set
    fold: Fold  # States of training and test rows


def parts_of(dataset: Dataset, protocol: Protocol, repeat: int) -> Iterator[Part]:
    """
    Deal a data set to folds, each as states.

    A number has two states: not above, or above the one cut that comes nearest to halving the
    readings; a missing one is the mean of those present. A category has the labels that occur in
    the whole set, as an ARFF header declares them; a missing one is the most frequent, the first of
    equals. Where all are missing the first state is taken.


    References
    ----------
    S2, section 4.
    """
    if not dataset.table.columns:
        raise DataError("no column but the class remains; remove the file from the folder")
    if dataset.n_rows < protocol.n_folds:
        raise DataError(
            f"{dataset.n_rows} rows are too few for {protocol.n_folds} folds; remove the file "
            "from the folder"
        )
    columns = [_coded(column) for column in dataset.table.columns]
    fold_of = stratified_folds(dataset.y, protocol.n_folds, protocol.seed + repeat)
    for k in range(protocol.n_folds):
        train, test = np.flatnonzero(fold_of != k), np.flatnonzero(fold_of == k)
        fitted = np.arange(dataset.n_rows) if protocol.whole_set else train
        columns_of_states = [_states(values, n, fitted) for values, n in columns]
        X = np.column_stack([states for states, _ in columns_of_states])
        fold = Fold(
            name=f"fold {k + 1} of repeat {repeat + 1}",
            X=X[train],
            y=dataset.y[train],
            X_test=X[test],
            y_test=dataset.y[test],
            n_states=[n for _, n in columns_of_states],
            n_classes=len(dataset.classes),
        )
        yield Part(test, fold)


def _coded(column: Column) -> tuple[FloatArray, int | None]:
    """Return a column as numbers, NaN where missing, and how many labels it has if it has any."""
    if column.kind != "category":
        return np.where(column.missing, np.nan, column.values.astype(np.float64)), None
    labels = sorted(set(column.values[~column.missing].tolist()))
    code = {label: float(k) for k, label in enumerate(labels)}
    values = [code.get(cell, np.nan) for cell in column.values.tolist()]
    return np.where(column.missing, np.nan, np.array(values)), len(labels)


def _states(values: FloatArray, n_labels: int | None, fitted: IntArray) -> tuple[IntArray, int]:
    """Return the states of all rows by what is known of some, and how many states there are."""
    present: AnyArray = values[fitted]
    present = present[~np.isnan(present)]
    if n_labels is not None:
        mode = np.bincount(present.astype(np.int64)).argmax() if len(present) else 0
        return np.where(np.isnan(values), mode, values).astype(np.int64), max(n_labels, 1)
    filled = np.where(np.isnan(values), present.mean() if len(present) else 0.0, values)
    cuts = median_cuts(filled[fitted]) if len(present) else np.zeros(0)
    return np.searchsorted(cuts, filled, side="left"), len(cuts) + 1
