"""Figure 5 of S3: error over table entries, when entries have a price while a TAN is learned."""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil

import numpy as np

from bncc.papers.draw import draw_near
from bncc.papers.folds import AUTHORS, Fold, check_files, read_folds
from bncc.papers.front import front
from bncc.papers.request import Advance, Cell, Effort, Request, part_of, selection
from bncc.papers.s0_table1 import BATCH_SIZES, PAPER, RUNS_AND_EPOCHS, STRUCTURES
from bncc.papers.search import Found, explore, search
from bncc.train.settings import TrainSettings

ENDS = {"NB": "NB HYB", "TAN Subset": "TAN Subset"}
"""What a price beyond all bounds and none lead to, by column of S0's table 1."""
WEIGHTS = tuple(float(f"{weight:.3g}") for weight in np.logspace(-7, 1, 33))
"""Prices of an expected entry, lambda_MS: S3's range, four to a decade. It has 41."""
QUICK_WEIGHTS = WEIGHTS[8:24:4]
RUNS_PER_PRICE = 10
"""Of so many settings tried for an end, one is tried at each price."""


def column_of(weight: float) -> str:
    """Return the name of a column."""
    return f"size weight {weight:g}"


COLUMNS = {
    "NB": None,
    **{column_of(weight): weight for weight in reversed(WEIGHTS)},
    "TAN Subset": 0.0,
}
"""Prices by column; None is naive Bayes."""


def s3_size(request: Request, advance: Advance | None = None) -> tuple[Cell, ...]:
    """
    Repeat figure 5 of S3: test errors and table entries of TAN Subset with 8 candidates.

    Settings are drawn for either end, without a price. As in the paper each price then has the
    order and the candidates of the best TAN Subset, and its settings, moved a little. Those of
    least error on validation rows learn from all training rows; their error on the test rows is
    ours. Satimage's first fold stands for all five, because each has a tree of its own.
    """
    quick = ("NB", *map(column_of, QUICK_WEIGHTS), "TAN Subset")
    known = AUTHORS, tuple(COLUMNS)
    rows, columns = selection("s3-size", request, known, (("letter",), quick))
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
    n_runs, _ = effort.of(*RUNS_AND_EPOCHS[row])
    searches = len(columns) + 1
    unpriced = _end(row, "TAN Subset", fold, effort, part_of(advance, 0, searches, "TAN Subset"))
    found = []
    for done, column in enumerate(columns, 1):
        weight, tell = COLUMNS[column], part_of(advance, done, searches, column)
        if weight is None:
            found.append(_end(row, column, fold, effort, tell))
        elif weight == 0:
            found.append(unpriced)
        else:
            tried = at_price(unpriced.settings, weight, ceil(n_runs / RUNS_PER_PRICE))
            found.append(search([fold], tried, jobs=effort.jobs, log=effort.log, advance=tell))
    entries = [each.entries[0] for each in found]
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


def _end(row: str, column: str, fold: Fold, effort: Effort, advance: Advance) -> Found:
    """Search naive Bayes, or TAN Subset without a price."""
    structure, options = STRUCTURES[ENDS[column]]
    n_runs, epochs = effort.of(*RUNS_AND_EPOCHS[row])
    base = TrainSettings(
        structure=structure, structure_options=options, float_=True, epochs=epochs,
        batch_size=BATCH_SIZES[row],
    )  # fmt: skip
    return explore([fold], base, n_runs, effort, advance)


def at_price(settings: TrainSettings, weight: float, n_runs: int) -> tuple[TrainSettings, ...]:
    """Return settings for a price."""
    rng = np.random.default_rng(0)
    near = [settings, *(draw_near(settings, rng) for _ in range(n_runs - 1))]
    return tuple(replace(each, size_weight=weight, seed=settings.seed) for each in near)
