"""
The UCI data sets of S2's study: which are used, their classes, and columns that only name rows.

The paper does not list its 60 sets. These are the sets of the Weka collection in ARFF.
"""

from collections.abc import Mapping
from pathlib import Path

from bncc.data.dataset import Dataset
from bncc.data.readers import read_table
from bncc.data.target import dataset_of
from bncc.errors import DataError

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
        raise DataError(f"'{place}' holds no {kind}; name the folder of the UCI sets with --data")
    return found


def read_set(path: Path, name: str) -> Dataset:
    """Read a data set without the columns that name its rows."""
    table = read_table(path)
    kept = table.without(IDENTIFIERS.get(name, ()))
    return dataset_of(kept, CLASSES.get(name, table.names[-1]))
