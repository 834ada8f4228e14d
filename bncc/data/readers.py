"""One door to every table: a file of any known format, or a data set that ships with bncc."""

from collections.abc import Callable
from pathlib import Path

from bncc._types import StrPath
from bncc.data.dataset import Table
from bncc.data.files import suffix_of
from bncc.errors import DataError

KNOWN_SUFFIXES = (".csv", ".tsv", ".tab", ".arff", ".npz", ".parquet", ".pq")
"""Formats by suffix; all but the last three may be followed by ``.gz``."""


def read_table(path: StrPath, *, fold: int | None = None) -> Table:
    """Read a table of readings from a file of any known format."""
    if not Path(path).exists():
        raise DataError(f"'{path}' does not exist; check the path")
    suffix = suffix_of(path)
    if suffix == ".npz":
        from bncc.data.npz import read_npz

        return read_npz(path, fold=fold)
    table = _reader(path, suffix)(path)
    if fold is not None:
        raise DataError(f"'{path}' has no folds, so --fold {fold} does not apply; drop --fold")
    return table


def _reader(path: StrPath, suffix: str) -> Callable[[StrPath], Table]:
    # Imported late: `bncc evaluate model data.npz` need not wait for pandas.
    if suffix in (".csv", ".tsv", ".tab"):
        from bncc.data.csv import read_csv

        return read_csv
    if suffix == ".arff":
        from bncc.data.arff import read_arff

        return read_arff
    if suffix in (".parquet", ".pq"):
        from bncc.data.frames import read_parquet

        return read_parquet
    if Path(path).is_dir():
        raise DataError(f"'{path}' is a folder; name a file in it")
    raise DataError(
        f"'{path}' has no suffix of a supported table format; pass a file in "
        f"{', '.join(KNOWN_SUFFIXES)} (text formats also .gz)"
    )


_BUNDLED = {
    "robot": "robot_wall_following_24.csv.gz",
    "wifi": "wifi_localization.csv.gz",
}


def bundled_names() -> tuple[str, ...]:
    """Return the names that `bundled_path` knows."""
    return tuple(_BUNDLED)


def bundled_path(name: str) -> Path:
    """Return the file of a bundled data set."""
    if name not in _BUNDLED:
        raise DataError(f"there is no bundled data set {name!r}; choose from {', '.join(_BUNDLED)}")
    return Path(__file__).with_name("bundled") / _BUNDLED[name]
