"""Table 1 of S0: errors of maximum-likelihood and trained classifiers, ours beside theirs."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bncc.bench.request import Advance, Cell, Effort, Request, part_of
from bncc.bench.search import Fold, decide, draw_settings, search
from bncc.data.dataset import Dataset
from bncc.data.readers import read_table
from bncc.data.target import fold_parts
from bncc.discretize.feature import states_of
from bncc.discretize.fit import fit_features
from bncc.errors import DataError
from bncc.structure.learners import learn_structure
from bncc.train.maximum_likelihood import ml_log_tables
from bncc.train.settings import TrainSettings

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
TRAINED: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "NB HYB": ("naive", {}),
    "TAN Random": ("random", {}),
    "Chow-Liu HYB": ("chow-liu", {}),
    "TAN Subset": ("tan-subset", {"parents": "8"}),
    "TAN All": ("tan-all", {}),
    "TAN Heuristic": ("tan-heuristic", {"parents": "8", "order": "C"}),
}
"""Structure and its options by column."""
BATCH_SIZES = {"letter": 100, "satimage": 50, "usps": 100}
"""Rows of a minibatch in S0."""
FOLDS = {"letter": 1, "satimage": 5, "usps": 1}
MEAN_OF_FOLDS = "mean over 5 folds"
NO_MNIST = "the authors' discretized mnist could not be obtained"


N_RUNS, EPOCHS = 30, 100
"""Settings drawn per trained cell, and passes over the rows for each. S0 made 500 to 5000 runs of
500 epochs per cell."""


def s0_table1(request: Request, advance: Advance | None = None) -> tuple[Cell, ...]:
    """Repeat table 1 of S0: error of maximum-likelihood and trained classifiers.

    Tables are floats with add-one smoothing, as in the authors' code; Chow-Liu trees are those
    of the fold's training rows. For a trained column settings are drawn, the one of least error on
    validation rows learns from all training rows, and its error on the test rows is ours; the
    paper's is the least error of all its runs on the test rows, which the note gives for ours.

    Parameters
    ----------
    request : Request
        The folder of ``letter.npz``, ``satimage.npz`` and ``usps.npz``, the authors' folds, and
        how much is spent on the trained columns. Quick is only the maximum-likelihood columns of
        these three; else the trained columns too, and mnist with no value of ours and the reason
        why.
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
    check_folder(request.data_dir)
    rows, columns = (FOLDS, tuple(COUNTED)) if request.quick else (PAPER, COLUMNS)
    todo = [(row, column) for row in rows for column in columns]
    cells = []
    for done, (row, column) in enumerate(todo):
        tell = part_of(advance, done, len(todo), f"{row} {column}")
        tell(0.0, "")
        paper = PAPER[row][COLUMNS.index(column)]
        if paper is not None:
            ours, n, note = _ours(request.data_dir, row, column, request.effort, tell)
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


def _ours(
    folder: Path, row: str, column: str, effort: Effort, advance: Advance
) -> tuple[float | None, int | None, str | None]:
    """Return our error in percent, the number of test rows, and a note."""
    if row not in FOLDS:
        return None, None, NO_MNIST
    folds = range(1, FOLDS[row] + 1)
    if column in TRAINED:
        return _trained(folder / f"{row}.npz", row, column, effort, advance)
    parts = [_counted_errors(folder / f"{row}.npz", fold, COUNTED[column]) for fold in folds]
    error = float(np.mean([100 * wrong / n for wrong, n in parts]))
    return error, sum(n for _, n in parts), MEAN_OF_FOLDS if len(parts) > 1 else None


def _trained(
    path: Path, row: str, column: str, effort: Effort, advance: Advance
) -> tuple[float, int, str]:
    folds = [_fold(path, k) for k in range(1, FOLDS[row] + 1)]
    structure, options = TRAINED[column]
    base = TrainSettings(
        structure=structure, structure_options=options, float_=True,
        epochs=effort.epochs or EPOCHS, batch_size=BATCH_SIZES[row],
    )  # fmt: skip
    n_runs = effort.n_runs or N_RUNS
    drawn = draw_settings(base, n_runs)
    found = search(folds, drawn, jobs=effort.jobs, log=effort.log, advance=advance)
    note = (
        f"chosen of {n_runs} runs by validation rows ({100 * found.validation:.2f}); "
        f"the least of all on test: {100 * found.least_test:.2f}"
    )
    return 100 * found.test, sum(len(fold.y_test) for fold in folds), note


def _fold(path: Path, k: int) -> Fold:
    train, test = _parts(path, k)
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


def _parts(path: Path, k: int) -> tuple[Dataset, Dataset]:
    train, test = fold_parts(read_table(path, fold=k), fold=k)
    if test is None:
        raise DataError(f"fold {k} of '{path}' has no test rows; get the authors' file again")
    return train, test


def _counted_errors(path: Path, fold: int, structure_name: str) -> tuple[int, int]:
    """Return wrong and all test rows of a fold under maximum-likelihood tables in float64."""
    train, test = _parts(path, fold)
    features = fit_features(train.table, train.y)
    n_states = [feature.n_states for feature in features]
    X = states_of(features, train.table)
    structure = learn_structure(structure_name, X, train.y, n_states, len(train.classes))
    tables = ml_log_tables(X, train.y, structure, n_states, len(train.classes))
    decisions = decide(states_of(features, test.table), structure, n_states, tables)
    return int((decisions != test.y).sum()), test.n_rows
