"""
NumPy archives: a matrix and labels, or the papers' arrays with folds.

Three layouts are known, and nothing is unpickled:

* ``X, y``: readings and labels;
* ``x_tr_foldK, t_tr_foldK, x_te_foldK, t_te_foldK``: states of fold K, counted from 0 or from 1;
* ``x, t, idx_tr_foldK, idx_te_foldK``: whole readings, and the rows of fold K.

Feature columns are called x0, x1, ... and the class column, the last, ``class``.
"""

import re
import zipfile
import zlib
from math import prod
from typing import IO, Any

import numpy as np

from bncc._types import AnyArray, StrPath
from bncc.data.dataset import Column, Table
from bncc.data.files import MAX_BYTES, check_cells
from bncc.data.frames import column_of_array, table_of_arrays
from bncc.errors import DataError

CLASS_NAME = "class"
_DAMAGE = (ValueError, EOFError, zipfile.BadZipFile, zlib.error)
_FOLD = re.compile(r"(?:x_tr|idx_tr)_fold(\d{1,6})")


def read_npz(path: StrPath, *, fold: int | None = None) -> Table:
    """Read a NumPy archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(_Archive(path, archive), fold)
    except IsADirectoryError:
        raise DataError(f"'{path}' is a folder; name a file in it") from None
    except (zipfile.BadZipFile, OSError, EOFError, RuntimeError) as error:
        raise DataError(
            f"'{path}' is a truncated or corrupt npz file ({error}); download or copy it again"
        ) from None


class _Archive:
    """The arrays of an open archive, each checked before it is loaded."""

    def __init__(self, path: StrPath, archive: zipfile.ZipFile) -> None:
        self.path = path
        self._archive = archive
        self._members = {
            info.filename.removesuffix(".npy"): info
            for info in archive.infolist()
            if info.filename.endswith(".npy")
        }

    @property
    def names(self) -> list[str]:
        return list(self._members)

    def has(self, *names: str) -> bool:
        return all(name in self._members for name in names)

    def load(self, name: str, ndim: int) -> AnyArray:
        info = self._members[name]
        try:
            with self._archive.open(info) as stream:
                shape, dtype, header_size = _header(stream)
                n_bytes = prod(shape) * dtype.itemsize
                if n_bytes > MAX_BYTES:
                    raise DataError(
                        f"array {name!r} of '{self.path}' declares {n_bytes} bytes, more than "
                        f"{MAX_BYTES >> 20} MiB; use fewer rows"
                    )
                check_cells(self.path, shape[0] if shape else 1, prod(shape[1:]))
                if dtype.hasobject or dtype.names is not None:
                    raise DataError(
                        f"array {name!r} of '{self.path}' contains Python objects, which are "
                        "never unpickled; save it as numbers or text"
                    )
                if header_size + n_bytes != info.file_size:
                    raise ValueError("its size differs from its header")
            with self._archive.open(info) as stream:
                array = np.lib.format.read_array(stream, allow_pickle=False)
        except _DAMAGE as error:
            reason = str(error).splitlines()[0] if str(error) else "cut short"
            raise DataError(
                f"array {name!r} of '{self.path}' is corrupt ({reason}); download or copy the "
                "file again"
            ) from None
        if array.ndim != ndim:
            raise DataError(
                f"array {name!r} of '{self.path}' has {array.ndim} dimensions, expected {ndim}; "
                "save it with the right shape"
            )
        return np.asarray(array)


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"npy format {version[0]}.{version[1]} is not supported")
    try:
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
        else:
            shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
    except Exception:  # numpy evaluates a literal here; a hostile one raises almost anything
        raise ValueError("its header is unreadable") from None
    if any(length < 0 for length in shape):
        raise ValueError("its shape is negative")
    return tuple(int(length) for length in shape), dtype, stream.tell()


def _read(archive: _Archive, fold: int | None) -> Table:
    folds = sorted(int(m[1]) for name in archive.names if (m := _FOLD.fullmatch(name)))
    if folds:
        k = _chosen_fold(archive.path, folds, fold)
        if archive.has(f"x_tr_fold{k}"):
            return _paper_fold(archive, k)
        if archive.has("x", "t"):
            return _indexed_fold(archive, k)
    for features, labels in (("X", "y"), ("x", "t")):
        if archive.has(features, labels):
            if fold is not None:
                raise DataError(
                    f"'{archive.path}' has no folds, so --fold {fold} does not apply; drop --fold"
                )
            return _matrix(archive, features, labels)
    listed = ", ".join(repr(name) for name in archive.names[:8]) or "none"
    raise DataError(
        f"'{archive.path}' contains the arrays {listed}; save it with X and y, or with "
        "x_tr_fold1 and t_tr_fold1"
    )


def _chosen_fold(path: StrPath, folds: list[int], fold: int | None) -> int:
    listed = ", ".join(str(k) for k in folds[:20])
    if fold is None:
        if len(folds) > 1:
            raise DataError(f"'{path}' has the folds {listed}; choose one with --fold")
        return folds[0]
    if fold not in folds:
        raise DataError(f"'{path}' has no fold {fold}; it has {listed}")
    return fold


def _matrix(archive: _Archive, features: str, labels: str) -> Table:
    X, y = archive.load(features, 2), archive.load(labels, 1)
    _check_rows(archive.path, X, y)
    table = table_of_arrays(X)
    return Table((*table.columns, column_of_array(CLASS_NAME, y)))


def _indexed_fold(archive: _Archive, k: int) -> Table:
    table = _matrix(archive, "x", "t")
    parts = []
    for name in (f"idx_tr_fold{k}", f"idx_te_fold{k}"):
        rows = archive.load(name, 1) if archive.has(name) else np.zeros(0, dtype=np.int64)
        if rows.dtype.kind not in "iu" or ((rows < 0) | (rows >= table.n_rows)).any():
            raise DataError(
                f"array {name!r} of '{archive.path}' contains row numbers outside 0 .. "
                f"{table.n_rows - 1}; fix the array"
            )
        parts.append(rows.astype(np.int64))
    if np.intersect1d(parts[0], parts[1]).size:
        raise DataError(
            f"fold {k} of '{archive.path}' has rows that are both training and test rows; fix "
            "the split"
        )
    return Table(table.columns, parts[0], parts[1])


def _paper_fold(archive: _Archive, k: int) -> Table:
    if not archive.has(f"t_tr_fold{k}"):
        raise DataError(f"'{archive.path}' has no array 't_tr_fold{k}'; add it")
    X, y = archive.load(f"x_tr_fold{k}", 2), archive.load(f"t_tr_fold{k}", 1)
    _check_rows(archive.path, X, y)
    n_train = len(y)
    if archive.has(f"x_te_fold{k}", f"t_te_fold{k}"):
        X_test, y_test = archive.load(f"x_te_fold{k}", 2), archive.load(f"t_te_fold{k}", 1)
        _check_rows(archive.path, X_test, y_test)
        if X_test.shape[1] != X.shape[1]:
            raise DataError(
                f"the training and test parts of fold {k} of '{archive.path}' differ in width; "
                "save both with the same columns"
            )
        X, y = np.concatenate([X, X_test]), np.concatenate([y, y_test])
    if not len(y) or not X.shape[1]:
        raise DataError(f"fold {k} of '{archive.path}' has no rows or no columns; fix the arrays")
    columns = (*_state_columns(archive.path, X), column_of_array(CLASS_NAME, y))
    rows = np.arange(len(y), dtype=np.int64)
    return Table(columns, rows[:n_train], rows[n_train:])


def _state_columns(path: StrPath, X: AnyArray) -> list[Column]:
    if (
        X.dtype.kind not in "biuf"
        or (np.floor(X) != X).any()
        or not 0 <= X.min() <= X.max() <= 65536
    ):
        raise DataError(
            f"the folds of '{path}' contain values that are not states; use integers from 0 or 1 "
            "to 65535"
        )
    states = np.ascontiguousarray(X.T).astype(np.int64)
    states -= min(int(states.min()), 1)  # the papers' archives count from 1
    missing = np.zeros(states.shape[1], dtype=np.bool_)
    return [Column(f"x{i}", "state", values, missing) for i, values in enumerate(states)]


def _check_rows(path: StrPath, X: AnyArray, y: AnyArray) -> None:
    if len(X) != len(y):
        raise DataError(
            f"'{path}' has {len(X)} rows of readings but {len(y)} labels; save equally many"
        )
