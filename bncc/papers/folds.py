"""The papers' data sets in folds of discretized training and test rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path

import numpy as np

from bncc._types import IntArray
from bncc.data.dataset import Dataset
from bncc.data.readers import read_table
from bncc.data.splits import stratified_folds
from bncc.data.target import fold_parts
from bncc.discretize.feature import states_of
from bncc.discretize.fit import fit_features
from bncc.errors import DataError
from bncc.train.halving import STAGES

FILES = {
    "letter": "letter.npz", "satimage": "satimage.npz", "usps": "usps.npz", "mnist": "mnist14.npz",
}  # fmt: skip
"""Files by row of the papers' tables: the authors' own except for mnist, which was unavailable."""
AUTHORS = ("letter", "satimage", "usps")
FOLDS = {"letter": 1, "satimage": 5, "usps": 1, "mnist": 1}
N_SPLITS = STAGES[-1].n_splits
"""Parts of a fold's training rows, the same for all settings; each can be the validation set."""


@dataclass(frozen=True, eq=False)
class Fold:
    """Training rows and test rows, as states."""

    name: str  # Name in messages
    X: IntArray  # (n, n_features) and (n,) int: X and y: Training rows
    y: IntArray
    X_test: IntArray  # (m, n_features) and (m,) int: X_test and y_test: Test rows
    y_test: IntArray
    n_states: list[int]  # Cardinality of each feature
    n_classes: int  # C

    @cached_property
    def digest(self) -> str:
        """Fingerprint of these rows."""
        parts = (self.X, self.y, self.X_test, self.y_test)
        digest = sha256(repr((self.n_states, [part.shape for part in parts])).encode())
        for part in parts:
            digest.update(part.astype(np.int64).tobytes())
        return digest.hexdigest()[:16]

    def held_out(self, split: int) -> "Fold":
        """Return the fold within the training rows whose test rows are one of `N_SPLITS` parts."""
        held = stratified_folds(self.y, N_SPLITS, 0) == split
        return replace(
            self, X=self.X[~held], y=self.y[~held], X_test=self.X[held], y_test=self.y[held]
        )


def cut_fold(name: str, train: Dataset, test: Dataset) -> Fold:
    """Discretize readings by the MDL rule on the training rows."""
    features = fit_features(train.table, train.y)
    X, X_test = (states_of(features, part.table) for part in (train, test))
    n_states = [feature.n_states for feature in features]
    return Fold(name, X, train.y, X_test, test.y, n_states, len(train.classes))


def check_files(folder: Path, rows: Sequence[str]) -> None:
    """Reject a folder without the file of a data set."""
    absent = [FILES[row] for row in rows if not (folder / FILES[row]).is_file()]
    if absent:
        raise DataError(
            f"'{folder}' has no {' and no '.join(absent)}; name the folder of the papers' data "
            "with --data"
        )


def rows_at(folder: Path, rows: Sequence[str], named: Sequence[str]) -> tuple[str, ...]:
    """Return readable data sets; mnist, which the authors do not distribute, may be missing."""
    kept = tuple(
        row for row in rows if row in (*AUTHORS, *named) or (folder / FILES[row]).is_file()
    )
    check_files(folder, kept)
    return kept


@lru_cache(maxsize=1)
def read_folds(folder: Path, row: str) -> tuple[Fold, ...]:
    """Read all folds of a data set, discretized by cuts of the training rows."""
    return tuple(_fold(folder / FILES[row], k) for k in range(1, FOLDS[row] + 1))


def _fold(path: Path, k: int) -> Fold:
    train, test = fold_parts(read_table(path, fold=k), fold=k)
    if test is None:
        raise DataError(f"fold {k} of '{path}' has no test rows; download or copy the file again")
    return cut_fold(f"{path.name} {k}", train, test)
