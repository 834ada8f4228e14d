"""The papers' experiments on the data at hand: ours beside theirs, cell by cell."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bncc._types import IntArray, StrPath
from bncc.data.readers import read_table
from bncc.data.target import fold_parts
from bncc.discretize.feature import states_of
from bncc.discretize.fit import fit_features
from bncc.errors import DataError
from bncc.structure.counts import family_rows
from bncc.structure.graph import Structure
from bncc.structure.learners import learn_structure
from bncc.train.maximum_likelihood import LogTables, ml_log_tables

Cell = Mapping[str, Any]
"""``row``, ``column``, errors ``paper`` and ``ours`` in percent or None, rows ``n``, ``note``."""

Advance = Callable[[float, str], object]
"""Called with the fraction done and what is at work."""

COLUMNS = (
    "NB ML", "Chow-Liu ML", "NB HYB", "TAN Random", "Chow-Liu HYB", "TAN Subset", "TAN All",
    "TAN Heuristic",
)  # fmt: skip

PAPER: Mapping[str, tuple[float | None, ...]] = {
    "letter": (25.89, 15.23, 12.93, 10.66, 9.37, 8.73, 8.76, None),
    "satimage": (17.95, 11.90, 10.83, 9.83, 9.91, 9.31, 9.39, None),
    "usps": (13.11, 8.74, 4.29, 2.65, 3.42, 2.10, None, 2.27),
    "mnist": (17.34, 7.03, 4.44, 4.38, 3.65, 3.53, None, 3.29),
}
"""S0, table 1: classification errors in percent; None where the paper has no run."""

COUNTED = {"NB ML": "naive", "Chow-Liu ML": "chow-liu"}
FOLDS = {"letter": 1, "satimage": 5, "usps": 1}
MEAN_OF_FOLDS = "mean over 5 folds"
NO_MNIST = "the authors' discretized mnist could not be obtained"
LATER = "this column arrives with a later version"


def s0_table1(
    data_dir: StrPath, quick: bool = False, advance: Advance | None = None
) -> tuple[Cell, ...]:
    """Repeat table 1 of S0: error of maximum-likelihood and trained classifiers.

    Tables are float64 with add-one smoothing, as in the authors' code; Chow-Liu trees are those
    of the fold's training rows.

    Parameters
    ----------
    data_dir : str or path
        Folder of ``letter.npz``, ``satimage.npz`` and ``usps.npz``, the authors' folds.
    quick : bool
        Only the maximum-likelihood columns of the three sets at hand. Without it the trained
        columns and mnist are listed too, with no value of ours and the reason why.
    advance : callable, optional
        Told of progress.

    Returns
    -------
    tuple of mapping
        One cell per row and column that the paper has, see `Cell`.

    Raises
    ------
    DataError
        If the folder does not hold the three files.
    """
    check_folder(Path(data_dir))
    rows, columns = (FOLDS, tuple(COUNTED)) if quick else (PAPER, COLUMNS)
    todo = [(row, column) for row in rows for column in columns]
    cells = []
    for done, (row, column) in enumerate(todo):
        if advance is not None:
            advance(done / len(todo), f"{row} {column}")
        paper = PAPER[row][COLUMNS.index(column)]
        if paper is not None:
            ours, n, note = _ours(Path(data_dir), row, column)
            cells.append(
                {"row": row, "column": column, "paper": paper, "ours": ours, "n": n, "note": note}
            )
    return tuple(cells)


def check_folder(folder: Path) -> None:
    """Refuse a folder that lacks one of the authors' files.

    Parameters
    ----------
    folder : path
        Where ``letter.npz``, ``satimage.npz`` and ``usps.npz`` should lie.

    Raises
    ------
    DataError
        If one is absent.
    """
    absent = [f"{row}.npz" for row in FOLDS if not (folder / f"{row}.npz").is_file()]
    if absent:
        raise DataError(
            f"'{folder}' holds no {' and no '.join(absent)}; name the folder of the authors' folds "
            "with --data"
        )


def _ours(folder: Path, row: str, column: str) -> tuple[float | None, int | None, str | None]:
    """Return our error in percent, the number of test rows, and a note."""
    if row not in FOLDS:
        return None, None, NO_MNIST
    if column not in COUNTED:
        return None, None, LATER
    parts = [
        _counted_errors(folder / f"{row}.npz", fold, COUNTED[column])
        for fold in range(1, FOLDS[row] + 1)
    ]
    error = float(np.mean([100 * wrong / n for wrong, n in parts]))
    return error, sum(n for _, n in parts), MEAN_OF_FOLDS if len(parts) > 1 else None


def _counted_errors(path: Path, fold: int, structure_name: str) -> tuple[int, int]:
    """Return wrong and all test rows of a fold under maximum-likelihood tables in float64."""
    train, test = fold_parts(read_table(path, fold=fold), fold=fold)
    if test is None:
        raise DataError(f"fold {fold} of '{path}' has no test rows; get the authors' file again")
    features = fit_features(train.table, train.y)
    n_states = [feature.n_states for feature in features]
    X = states_of(features, train.table)
    structure = learn_structure(structure_name, X, train.y, n_states, len(train.classes))
    tables = ml_log_tables(X, train.y, structure, n_states, len(train.classes))
    decisions = decide(states_of(features, test.table), structure, n_states, tables)
    return int((decisions != test.y).sum()), test.n_rows


def decide(
    X: IntArray, structure: Structure, n_states: list[int], log_tables: LogTables
) -> IntArray:
    """Return the most probable class under log-probability tables, the smallest on ties.

    Parameters
    ----------
    X : (n_samples, n_features) int
        States.
    structure : Structure
        The graph.
    n_states : list of int
        Cardinality of each feature.
    log_tables : tuple
        Prior and tables as `ml_log_tables` returns them.

    Returns
    -------
    (n_samples,) int64
        Class indices.
    """
    log_prior, tables = log_tables
    log_joint = np.tile(log_prior, (len(X), 1))
    for i, table in enumerate(tables):
        log_joint += table[family_rows(X, structure, n_states, i)]
    return np.asarray(log_joint.argmax(axis=1))
