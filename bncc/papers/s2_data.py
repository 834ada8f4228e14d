"""
S2's data: the UCI sets of its study, and their conversion to discretized folds.

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
"""Possible locations of the files in a folder of several collections."""

CLASSES: Mapping[str, str] = {
    "colic.orig": "surgical lesion", "flags": "religion", "spectrometer": "LRS-class",
    "wine": "class",
}  # fmt: skip
"""The class column of sets in which it is not the last."""

IDENTIFIERS: Mapping[str, tuple[str, ...]] = {
    "bridges.version1": ("IDENTIF",), "bridges.version2": ("IDENTIF",),
    "colic.orig": ("Hospital Number",), "cylinder.bands": ("timestamp", "cylinder_number"),
    "flags": ("name",), "spectrometer": ("LRS-name",), "splice": ("Instance_name",),
    "sponge": ("Name",), "zoo": ("animal",),
}  # fmt: skip
"""Columns that identify rows: names, serial numbers and times, useless for any other row."""

HALF = "a training or test part of its own, not a whole set"
FEW = "too few rows: a fold of ten holds one or two"
LEFT_OUT: Mapping[str, str] = {
    "shuttle.landing.control": FEW, "spect.test": HALF, "spect.train": HALF,
    "spectf.test": HALF, "spectf.train": HALF, "trains": FEW,
}  # fmt: skip
"""Unused sets of the collection, with reasons."""

QUICK = (
    "balance.scale", "breast.w", "car", "glass", "heart.statlog", "iris", "lymph", "tic-tac-toe",
    "vehicle", "vote", "wine", "zoo",
)  # fmt: skip
"""A dozen small sets."""


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
    """Read a data set without the columns that identify its rows."""
    table = read_table(path)
    kept = table.without(IDENTIFIERS.get(name, ()))
    return dataset_of(kept, CLASSES.get(name, table.names[-1]))


@dataclass(frozen=True)
class Protocol:
    """Settings of the folds of a data set."""

    n_repeats: int = 1  # Number of assignments of rows to folds. The paper has ten.
    n_folds: int = 10  # Number of parts, each the test set once
    seed: int = 0  # Random seed of the first repeat, incremented for each further one
    # True for means, modes and medians over all rows. The paper does not specify this, and a filter
    # of Weka applied before cross-validation would do so; by default they are those of the training
    # rows of each fold.
    whole_set: bool = False


@dataclass(frozen=True, eq=False)
class Part:
    """One fold, with the positions of its test rows."""

    test_rows: IntArray  # (m,) int64: Row numbers in the data set
    fold: Fold  # States of training and test rows


def parts_of(dataset: Dataset, protocol: Protocol, repeat: int) -> Iterator[Part]:
    """
    Split a data set into folds, discretized.

    A number has two states: not above, or above the single cut that comes closest to halving the
    readings; a missing one is imputed by the mean of those present. A category has the labels that
    occur in the whole set, as an ARFF header declares them; a missing one is imputed by the most
    frequent, the first on ties. If all are missing, the first state is used.

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
    """Return a column as numbers, NaN where missing, and its number of labels if it has any."""
    if column.kind != "category":
        return np.where(column.missing, np.nan, column.values.astype(np.float64)), None
    labels = sorted(set(column.values[~column.missing].tolist()))
    code = {label: float(k) for k, label in enumerate(labels)}
    values = [code.get(cell, np.nan) for cell in column.values.tolist()]
    return np.where(column.missing, np.nan, np.array(values)), len(labels)


def _states(values: FloatArray, n_labels: int | None, fitted: IntArray) -> tuple[IntArray, int]:
    """Return the discretized rows, fitted on some of them, and the number of states."""
    present: AnyArray = values[fitted]
    present = present[~np.isnan(present)]
    if n_labels is not None:
        mode = np.bincount(present.astype(np.int64)).argmax() if len(present) else 0
        return np.where(np.isnan(values), mode, values).astype(np.int64), max(n_labels, 1)
    filled = np.where(np.isnan(values), present.mean() if len(present) else 0.0, values)
    cuts = median_cuts(filled[fitted]) if len(present) else np.zeros(0)
    return np.searchsorted(cuts, filled, side="left"), len(cuts) + 1
