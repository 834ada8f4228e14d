"""Figure 5 of S3: error over table entries, when entries have a price while a TAN is learned."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bncc.bench.draw import draw_settings
from bncc.bench.folds import AUTHORS, Fold, check_files, read_folds
from bncc.bench.request import Advance, Cell, Effort, Request, check_names, part_of
from bncc.bench.s0_table1 import BATCH_SIZES, PAPER, STRUCTURES
from bncc.bench.search import search
from bncc.bench.training import structure_of
from bncc.structure.graph import table_entries
from bncc.train.settings import TrainSettings

ENDS = {"NB": "NB HYB", "TAN Subset": "TAN Subset"}
"""What no price and one beyond all bounds lead to, by column of S0's table 1."""
WEIGHTS = tuple(float(f"{weight:.3g}") for weight in np.logspace(-7, 1, 17))
"""Prices of an expected entry, lambda_MS. S3's range in steps of the root of ten; it has 41."""
QUICK_WEIGHTS = WEIGHTS[4::4]
RUNS, EPOCHS = 10, 100
"""Settings drawn per cell, and passes over the rows for each."""


def column_of(weight: float) -> str:
    """Return the name of a column.

    Parameters
    ----------
    weight : float
        Price of an entry.

    Returns
    -------
    str
        Such as ``size weight 0.001``.
    """
    return f"size weight {weight:g}"


COLUMNS = {
    "NB": None,
    **{column_of(weight): weight for weight in reversed(WEIGHTS)},
    "TAN Subset": 0.0,
}
"""Prices by column; None is naive Bayes."""


def s3_size(request: Request, advance: Advance | None = None) -> tuple[Cell, ...]:
    """Repeat figure 5 of S3: test errors and table entries of TAN Subset with 8 candidates.

    For each price settings are drawn, the same for all. Those of least error on validation rows
    learn from all training rows; their error on the test rows is ours. Satimage's first fold
    stands for all five, because each has a tree of its own.

    Parameters
    ----------
    request : Request
        The folder of ``letter.npz``, ``satimage.npz`` and ``usps.npz``, the authors' folds; rows,
        columns, and how much is spent. Quick is four prices on letter.
    advance : callable, optional
        Told of progress.

    Returns
    -------
    tuple of mapping
        One `Cell` per data set and price, beside its keys ``size_weight``, None for naive Bayes,
        ``entries``, and ``is_on_front``, whether no other cell of the row has at most its entries
        and its error on validation rows, and less of one of them.

    Raises
    ------
    DataError
        If the folder does not hold the files.
    OptionError
        If there is no such row or column.
    """
    check_names("s3-size", "row", request.rows, AUTHORS)
    check_names("s3-size", "column", request.columns, tuple(COLUMNS))
    rows = request.rows or (("letter",) if request.quick else AUTHORS)
    quick = ("NB", *map(column_of, QUICK_WEIGHTS), "TAN Subset")
    columns = request.columns or (quick if request.quick else tuple(COLUMNS))
    check_files(request.data_dir, rows)
    cells: list[Cell] = []
    for done, row in enumerate(rows):
        tell = part_of(advance, done, len(rows), row)
        fold = read_folds(request.data_dir, row)[0]
        cells += _row(row, columns, fold, request.effort, tell)
    return tuple(cells)


def _row(
    row: str, columns: Sequence[str], fold: Fold, effort: Effort, advance: Advance
) -> list[Cell]:
    found = []
    for done, column in enumerate(columns):
        tell = part_of(advance, done, len(columns), column)
        tell(0.0, "")
        drawn = _drawn(COLUMNS[column], row, effort)
        found.append(search([fold], drawn, jobs=effort.jobs, log=effort.log, advance=tell))
    entries = [
        table_entries(structure_of(fold, each.settings), fold.n_states, fold.n_classes)
        for each in found
    ]
    on_front = front([(n, each.validation) for n, each in zip(entries, found, strict=True)])
    return [
        {
            "row": row,
            "column": column,
            "paper": PAPER[row][ENDS[column]] if column in ENDS else None,
            "ours": 100 * each.test,
            "n": len(fold.y_test),
            "note": f"{n:,} entries{', on the front' if is_on_front else ''}; {each.note}",
            "size_weight": COLUMNS[column],
            "entries": n,
            "is_on_front": is_on_front,
        }
        for column, each, n, is_on_front in zip(columns, found, entries, on_front, strict=True)
    ]


def _drawn(weight: float | None, row: str, effort: Effort) -> tuple[TrainSettings, ...]:
    """Return what is tried at a price; the same draws at each."""
    structure, options = STRUCTURES[ENDS["NB" if weight is None else "TAN Subset"]]
    base = TrainSettings(
        structure=structure, structure_options=options, float_=True,
        epochs=effort.epochs or EPOCHS, batch_size=BATCH_SIZES[row],
    )  # fmt: skip
    drawn = draw_settings(base, effort.n_runs or RUNS)
    return tuple(replace(settings, size_weight=weight or 0.0) for settings in drawn)


def front(points: Sequence[tuple[float, float]]) -> tuple[bool, ...]:
    """Return which points no other one dominates.

    Parameters
    ----------
    points : sequence of (float, float)
        Two costs each, the less the better.

    Returns
    -------
    tuple of bool
        False where another point is at most as dear in both and cheaper in one.
    """
    return tuple(
        not any(
            other[0] <= point[0] and other[1] <= point[1] and other != point for other in points
        )
        for point in points
    )
