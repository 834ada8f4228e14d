"""Table 1 of S0: errors of maximum-likelihood and trained classifiers, ours beside theirs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bncc.errors import OptionError
from bncc.papers.folds import AUTHORS, FILES, Fold, check_files, read_folds
from bncc.papers.request import Advance, Cell, Effort, Request, part_of, selection
from bncc.papers.search import explore
from bncc.papers.training import train_and_judge
from bncc.train.settings import TrainSettings

PAPER: Mapping[str, Mapping[str, float]] = {
    "letter": {
        "NB ML": 25.89, "Chow-Liu ML": 15.23, "NB HYB": 12.93, "TAN Random": 10.66,
        "Chow-Liu HYB": 9.37, "TAN Subset": 8.73, "TAN All": 8.76, "TAN no order": 7.98,
    },
    "satimage": {
        "NB ML": 17.95, "Chow-Liu ML": 11.90, "NB HYB": 10.83, "TAN Random": 9.83,
        "Chow-Liu HYB": 9.91, "TAN Subset": 9.31, "TAN All": 9.39,
    },
    "usps": {
        "NB ML": 13.11, "Chow-Liu ML": 8.74, "NB HYB": 4.29, "TAN Random": 2.65,
        "Chow-Liu HYB": 3.42, "TAN Subset": 2.10, "TAN Heuristic": 2.27,
    },
    "mnist": {
        "NB ML": 17.34, "Chow-Liu ML": 7.03, "NB HYB": 4.44, "TAN Random": 4.38,
        "Chow-Liu HYB": 3.65, "TAN Subset": 3.53, "TAN Heuristic": 3.29,
    },
}  # fmt: skip
"""S0, table 1: classification errors in percent, by row and column; no order is from the text of
section 4.5, where the parents of a feature may form cycles."""

STRUCTURES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "NB ML": ("naive", {}),
    "Chow-Liu ML": ("chow-liu", {}),
    "NB HYB": ("naive", {}),
    "TAN Random": ("random", {}),
    "Chow-Liu HYB": ("chow-liu", {}),
    "TAN Subset": ("tan-subset", {"parents": "8"}),
    "TAN All": ("tan-all", {}),
    "TAN Heuristic": ("tan-heuristic", {"parents": "8", "order": "C"}),
    "TAN no order": ("tan-all", {"order": "none"}),
}
"""Structure and its options by column."""
COUNTED = ("NB ML", "Chow-Liu ML")
"""Columns whose tables are counted. The others search."""

BATCH_SIZES = {"letter": 100, "satimage": 50, "usps": 100, "mnist": 250}
"""Rows of a minibatch in S0."""
RUNS_AND_EPOCHS = {"letter": (100, 100), "satimage": (60, 60), "usps": (60, 60), "mnist": (24, 40)}
"""Settings tried per cell, and passes over the rows for each. S0 made 500 to 5000 runs of 500
epochs per cell."""
CELLS_OF_THEIR_OWN = {("letter", "NB HYB"): (60, 500)}
"""Naive Bayes on letter, which trains in a second or two, gets S0's epochs. Searches of 60 x 500
and 80 x 150 were level on validation rows (14.60 and 14.56); on test rows they had 13.17 and 13.32.
"""

OUR_MNIST = "images, split and cuts are our own preparation, not the authors'"


def s0_table1(request: Request, advance: Advance | None = None) -> tuple[Cell, ...]:
    """
    Repeat table 1 of S0: error of maximum-likelihood and trained classifiers.

    Tables are floats with add-one smoothing, as in the authors' code; Chow-Liu trees are those
    of the fold's training rows. For a trained column settings are drawn, the one of least error on
    validation rows learns from all training rows, and its error on the test rows is ours; the
    paper's is the least error of all its runs on the test rows, and the note gives the least of
    those of ours that came so far.
    """
    asked = _asked(request)
    optional = () if request.rows else ("mnist",)
    check_files(request.data_dir, [row for row in asked if row not in optional])
    n = sum(len(columns) for columns in asked.values())
    cells: list[Cell] = []
    for row, columns in asked.items():
        folds = _folds(request.data_dir, row)
        for column in columns:
            tell = part_of(advance, len(cells), n, f"{row} {column}")
            tell(0.0, "")
            cells.append(_cell(row, column, folds, request.effort, tell))
    return tuple(cells)


def _asked(request: Request) -> dict[str, list[str]]:
    """Return the columns of each row that are asked for and that the paper has."""
    known = tuple(PAPER), tuple(STRUCTURES)
    rows, columns = selection("s0-table1", request, known, (AUTHORS, COUNTED))
    asked = {row: [c for c in columns if c in PAPER[row]] for row in rows}
    if not any(asked.values()):
        raise OptionError(
            f"the paper has no {' or '.join(columns)} of {' or '.join(rows)}; choose another "
            "--row or --column"
        )
    return {row: cells for row, cells in asked.items() if cells}


def _folds(folder: Path, row: str) -> tuple[Fold, ...]:
    """Read a data set; no folds if its file is absent."""
    return read_folds(folder, row) if (folder / FILES[row]).is_file() else ()


def _cell(row: str, column: str, folds: Sequence[Fold], effort: Effort, advance: Advance) -> Cell:
    base = TrainSettings(
        structure=STRUCTURES[column][0], structure_options=STRUCTURES[column][1], float_=True
    )
    notes = [OUR_MNIST] if row == "mnist" else []
    if not folds:
        ours, notes = None, [f"there is no {FILES[row]}"]
    elif column in COUNTED:
        ours = _counted(folds, base)
        notes += [f"mean over {len(folds)} folds"] if len(folds) > 1 else []
    else:
        n_runs, epochs = effort.of(*CELLS_OF_THEIR_OWN.get((row, column), RUNS_AND_EPOCHS[row]))
        settings = replace(base, batch_size=BATCH_SIZES[row], epochs=epochs)
        found = explore(folds, settings, n_runs, effort, advance)
        ours = 100 * found.test
        notes += [found.note]
    return {
        "row": row,
        "column": column,
        "paper": PAPER[row][column],
        "ours": ours,
        "n": sum(len(fold.y_test) for fold in folds) or None,
        "note": "; ".join(notes) or None,
    }


def _counted(folds: Sequence[Fold], base: TrainSettings) -> float:
    """Return the error of maximum-likelihood tables in percent."""
    counted = replace(base, parameters="ml")
    return float(np.mean([100 * train_and_judge(fold, counted, None).error for fold in folds]))
