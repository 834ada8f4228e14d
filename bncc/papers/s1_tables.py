"""Tables 1 and 2 of S1: errors of counted and of maximum-margin tables on six structures."""

from collections.abc import Mapping, Sequence

import numpy as np

from bncc.papers.request import Advance, Cell, Names, Request, part_of, selection
from bncc.papers.s1_data import N_SPLITS, S1_FILES, s1_folds, s1_path
from bncc.papers.s1_runs import N_RUNS, Runs
from bncc.papers.s1_structures import STRUCTURES, has_chance

ROWS = (*S1_FILES, "dcmall")
_RATES: Mapping[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "mnist14": (
        (83.73, 91.28, 92.63, 93.15, 92.66, 93.30),
        (91.73, 94.13, 94.83, 95.20, 94.82, 95.25, 96.40),
    ),
    "usps": (
        (87.10, 91.90, 93.07, 95.40, 94.07, 95.46),
        (94.80, 95.50, 96.27, 96.23, 96.10, 96.40, 97.86),
    ),
    "spambase": (
        (89.87, 92.86, 92.08, 93.43, 93.52, 93.26),
        (94.39, 93.91, 93.56, 94.21, 94.26, 94.47, 94.57),
    ),
    "dcmall": (
        (81.07, 85.63, 87.58, 88.61, 88.69, 88.67),
        (89.23, 89.22, 90.29, 90.29, 89.96, 90.28, 88.98),
    ),
}
"""Right decisions in percent, S1, tables 1 and 2; the last of table 2 are the machines."""
SVM = "SVM"
OUR_MNIST = "cut by our MDL rule into other states than the paper's"
NO_DCMALL = "DCMall is not available"


def _columns(tag: str, *others: str) -> Names:
    return (*(f"{name}-{tag}" for name in STRUCTURES), *others)


PAPER: Mapping[str, Mapping[str, Mapping[str, float]]] = {
    table: {
        row: {c: round(100 - rate, 2) for c, rate in zip(columns, rates[k], strict=True)}
        for row, rates in _RATES.items()
    }
    for k, (table, columns) in enumerate(
        {"s1-table1": _columns("ML"), "s1-table2": _columns("MM", SVM)}.items()
    )
}
"""Classification errors in percent, by table, row and column."""


def s1_table1(request: Request, advance: Advance | None = None) -> tuple[Cell, ...]:
    """Repeat table 1 of S1: errors of tables with add-one smoothing, on six structures."""
    return _table("s1-table1", "ml", request, advance)


def s1_table2(request: Request, advance: Advance | None = None) -> tuple[Cell, ...]:
    """Repeat table 2 of S1: errors of maximum-margin tables on the same structures, and SVMs."""
    return _table("s1-table2", "margin", request, advance)


def _table(
    table: str, parameters: str, request: Request, advance: Advance | None
) -> tuple[Cell, ...]:
    paper = PAPER[table]
    known = ROWS, tuple(paper["usps"])
    rows, columns = selection(table, request, known, (("spambase",), known[1]))
    cells: list[Cell] = []
    for row in rows:
        runs = runs_of(request, row, 1 if request.quick else N_SPLITS)
        for column in columns:
            tell = part_of(advance, len(cells), len(rows) * len(columns), f"{row} {column}")
            tell(0.0, "")
            found = _found(row, column, parameters, runs, request, tell)
            cells.append({"row": row, "column": column, "paper": paper[row][column], **found})
    return tuple(cells)


def runs_of(request: Request, row: str, n_splits: int) -> Runs | None:
    """Return what runs on a data set."""
    is_needed = row == "spambase" or row in request.rows
    if row == "dcmall" or not (is_needed or s1_path(request.data_dir, row)):
        return None
    return Runs(s1_folds(request.data_dir, row, n_splits), request.effort)


def absent(row: str) -> str:
    """Return why a row has nothing of ours."""
    return NO_DCMALL if row == "dcmall" else f"there is no {S1_FILES[row]}"


def _found(
    row: str, column: str, parameters: str, runs: Runs | None, request: Request, tell: Advance
) -> Cell:
    """Return what ours is, of how many rows, and what to know of it."""
    if runs is None:
        return {"ours": None, "n": None, "note": absent(row)}
    if column == SVM:
        machines = runs.results([(f, "machine", ()) for f in range(len(runs.folds))], tell)
        errors = [each["error"] for each in machines]
        notes = [f"gamma {' '.join(str(each['gamma']) for each in machines)}"]
    else:
        name = column.rsplit("-", 1)[0]
        n_runs = request.effort.n_runs or (1 if request.quick else N_RUNS)
        learned = runs.learned(name, n_runs, part_of(tell, 0, 2, ""))
        judged = runs.results(
            [(f, "judge", (each["parents"], parameters)) for f, each in learned],
            part_of(tell, 1, 2, "tables"),
        )
        errors = [each["error"] for each in judged]
        notes = _notes(name, n_runs, errors, [each["evaluations"] for _, each in learned])
    notes = [f"mean of {len(runs.folds)} splits"] * (len(runs.folds) > 1) + notes
    notes += [OUR_MNIST] * (row == "mnist14")
    n = sum(len(fold.y_test) for fold in runs.folds)
    return {"ours": 100 * float(np.mean(errors)), "n": n, "note": "; ".join(notes) or None}


def _notes(
    name: str, n_runs: int, errors: Sequence[float], evaluations: Sequence[int | None]
) -> list[str]:
    notes = []
    if has_chance(name):
        by_run = 100 * np.reshape(errors, (-1, n_runs)).mean(axis=0)
        runs = "1 run" if n_runs == 1 else f"mean of {n_runs} runs, the best {by_run.min():.2f}"
        notes += [f"{runs}; the paper's is the best of 10"]
    counted = [n for n in evaluations if n is not None]
    return notes + ([f"{np.mean(counted):,.0f} score evaluations"] if counted else [])
