"""The papers' data sets in folds, as states: rows to learn from and rows to be judged by."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import numpy as np

from bncc._types import IntArray
from bncc.data.readers import read_table
from bncc.data.target import fold_parts
from bncc.discretize.feature import states_of
from bncc.discretize.fit import fit_features
from bncc.errors import DataError

FILES = {
    "letter": "letter.npz", "satimage": "satimage.npz", "usps": "usps.npz", "mnist": "mnist14.npz",
}  # fmt: skip
"""By row of the papers' tables. The authors' own but for mnist, which could not be obtained."""
AUTHORS = ("letter", "satimage", "usps")
FOLDS = {"letter": 1, "satimage": 5, "usps": 1, "mnist": 1}


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to learn from and rows to be judged by, as states.

    Parameters
    ----------
    name : str
        For messages.
    X, y : (n, n_features) and (n,) int
        Training rows.
    X_test, y_test : (m, n_features) and (m,) int
        Test rows.
    n_states : list of int
        Cardinality of each feature.
    n_classes : int
        C.
    """

    name: str
    X: IntArray
    y: IntArray
    X_test: IntArray
    y_test: IntArray
    n_states: list[int]
    n_classes: int

    @cached_property
    def digest(self) -> str:
        """What tells these rows from others."""
        parts = (self.X, self.y, self.X_test, self.y_test)
        digest = sha256(repr((self.n_states, [part.shape for part in parts])).encode())
        for part in parts:
            digest.update(part.astype(np.int64).tobytes())
        return digest.hexdigest()[:16]


def check_files(folder: Path, rows: Sequence[str]) -> None:
    """Refuse a folder that lacks the file of a data set.

    Parameters
    ----------
    folder : path
        Where the files of `FILES` should lie.
    rows : sequence of str
        Data sets that are needed.

    Raises
    ------
    DataError
        If one is absent.
    """
    absent = [FILES[row] for row in rows if not (folder / FILES[row]).is_file()]
    if absent:
        raise DataError(
            f"'{folder}' holds no {' and no '.join(absent)}; name the folder of the papers' data "
            "with --data"
        )


def rows_at(folder: Path, rows: Sequence[str], named: Sequence[str]) -> tuple[str, ...]:
    """Return data sets that can be read: mnist, which the authors do not hand out, may be absent.

    Parameters
    ----------
    folder : path
        Where the files of `FILES` should lie.
    rows : sequence of str
        Data sets of an experiment.
    named : sequence of str
        Those that were asked for by name, and so are needed.

    Returns
    -------
    tuple of str
        All of `rows`, or all but mnist.

    Raises
    ------
    DataError
        If a file is absent that is needed.
    """
    kept = tuple(
        row for row in rows if row in (*AUTHORS, *named) or (folder / FILES[row]).is_file()
    )
    check_files(folder, kept)
    return kept


def read_folds(folder: Path, row: str) -> tuple[Fold, ...]:
    """Read all folds of a data set; readings become states by cuts of the training rows.

    Parameters
    ----------
    folder : path
        Where the files of `FILES` lie.
    row : str
        The data set.

    Returns
    -------
    tuple of Fold
        In order.

    Raises
    ------
    DataError
        If the file cannot be read, or a fold has no test rows.
    """
    return tuple(_fold(folder / FILES[row], k) for k in range(1, FOLDS[row] + 1))


def _fold(path: Path, k: int) -> Fold:
    train, test = fold_parts(read_table(path, fold=k), fold=k)
    if test is None:
        raise DataError(f"fold {k} of '{path}' has no test rows; get the file again")
    features = fit_features(train.table, train.y)
    return Fold(
        name=f"{path.name} {k}",
        X=states_of(features, train.table),
        y=train.y,
        X_test=states_of(features, test.table),
        y_test=test.y,
        n_states=[feature.n_states for feature in features],
        n_classes=len(train.classes),
    )
