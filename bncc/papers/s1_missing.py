"""Figure 5 of S1: right decisions over the number of features that are missing."""

import numpy as np

from bncc.papers.request import Advance, Cell, Request, part_of, selection
from bncc.papers.s1_missing_runs import LEARNERS
from bncc.papers.s1_runs import Runs
from bncc.papers.s1_tables import absent, runs_of

ROWS = ("usps", "spambase")
N_REPEATS, QUICK_REPEATS = 100, 10
"""Draws of missing features; the first is S1's."""
SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
QUICK_SHARES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)
"""Of all features, in each draw the same ones for all rows."""


def s1_missing(request: Request, advance: Advance | None = None) -> tuple[Cell, ...]:
    """Repeat figure 5 of S1 on the data at hand; the paper's is DCMall, and carries no numbers."""
    rows, columns = selection("s1-missing", request, (ROWS, LEARNERS), (("spambase",), LEARNERS))
    n_repeats = request.effort.n_runs or (QUICK_REPEATS if request.quick else N_REPEATS)
    shares = QUICK_SHARES if request.quick else SHARES
    cells: list[Cell] = []
    for done, row in enumerate(rows):
        runs = runs_of(request, row, 1)
        if runs is None:
            cells += [_empty(row, column) for column in columns]
            continue
        tell = part_of(advance, done, len(rows), row)
        cells += _cells(runs, row, columns, shares, n_repeats, tell)
    return tuple(cells)


def _cells(
    runs: Runs,
    row: str,
    columns: tuple[str, ...],
    shares: tuple[float, ...],
    n_repeats: int,
    tell: Advance,
) -> list[Cell]:
    fold = runs.folds[0]
    n_features = len(fold.n_states)
    counts = sorted({round(share * n_features) for share in shares})
    # A draw of nothing is always the same.
    places = [(name, count, n_repeats if count else 1) for name in columns for count in counts]
    found = runs.results([(0, "missing", place) for place in places], tell)
    cells: list[Cell] = []
    for (name, count, repeats), result in zip(places, found, strict=True):
        errors = 100 * np.array(result["errors"])
        note = f"mean of {repeats} draws, sd {errors.std():.2f}" if count else "none missing"
        cells.append({
            "row": f"{row}, {count} missing", "column": name, "paper": None,
            "ours": float(errors.mean()), "n": len(fold.y_test), "note": note, "data": row,
            "missing": count, "n_features": n_features, "sd": float(errors.std()),
        })  # fmt: skip
    return cells


def _empty(row: str, column: str) -> Cell:
    return {
        "row": row, "column": column, "paper": None, "ours": None, "n": None, "note": absent(row),
        "data": row, "missing": None, "n_features": None, "sd": None,
    }  # fmt: skip
