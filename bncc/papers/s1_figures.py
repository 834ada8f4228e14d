"""S1, figures 2 to 4: runs of discriminative searches as box plots, and schedules of annealing."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bncc._types import FloatArray
from bncc.papers.experiments import (
    STUDYING,
    Cell,
    Experiment,
    Names,
    Request,
    cell_of,
    grid,
    selection,
)
from bncc.papers.s1 import OUR_MNIST, OUR_USPS, ROWS, absent, runs_of
from bncc.papers.s1_runs import N_RUNS, N_SPLITS, SEARCHED, Runs, has_chance
from bncc.progress import Progress, nth_part
from bncc.structure.margin_scores.search import Schedule
from bncc.wording import counted

COOLINGS = (0.5, 0.6, 0.7, 0.8, 0.9)
"""D of figure 4, by which a temperature is multiplied."""
ANNEALED = tuple(name for name in SEARCHED if has_chance(name))
SCHEDULES: Mapping[str, tuple[str, float]] = {
    f"{name} D {cooling:g}": (name, cooling) for name in ANNEALED for cooling in COOLINGS
}
"""Columns of figure 4: the search and its cooling."""
SCHEDULE_ROWS = ("usps", "spambase")
"""S1 has usps alone."""
BOX = ("least", "quarter", "median", "three_quarters", "most")
"""Additional keys of a cell, of the numbers that a box plot draws."""


class Box(NamedTuple):
    """A cell, its search, and the runs on its row; None if its data are missing."""

    row: str
    column: str
    name: str
    cooling: float
    runs: Runs | None


def boxes_of(table: str, request: Request) -> dict[str, Box]:
    """Return the requested cells."""
    searches = dict.fromkeys(SEARCHED)
    columns_of = {
        column: SCHEDULES.get(column, (column, Schedule.cooling))
        for column in (SCHEDULES if table == "s1-figure4" else searches)
    }
    known_rows: Names = SCHEDULE_ROWS if table == "s1-figure4" else ROWS
    known = known_rows, tuple(columns_of)
    rows, columns = selection(table, request, known, (("spambase",), tuple(columns_of)))
    runs = {row: runs_of(request, row, 1 if request.quick else N_SPLITS) for row in rows}
    return {
        title: Box(row, column, *columns_of[column], runs[row])
        for title, (row, column) in grid(rows, columns).items()
    }


def _run(table: str, box: Box, request: Request, advance: Progress) -> list[Cell]:
    """Return the median of the runs, each the mean over splits, with the rest of its box plot."""
    row, column, runs = box.row, box.column, box.runs
    if runs is None:
        empty = dict.fromkeys(("evaluations", *BOX))
        return [cell_of(row, column, None, None, None, [absent(row)], **empty)]
    n_runs = request.effort.n_runs or (1 if request.quick else N_RUNS)
    learned = runs.learned(box.name, n_runs, nth_part(advance, 0, 2, ""), box.cooling)
    evaluations = _by_run([each["evaluations"] for _, each in learned], len(runs.folds))
    calls = [(f, "judge", (each["parents"], "ml")) for f, each in learned]
    judged = runs.results(calls, nth_part(advance, 1, 2, "tables"))
    errors = 100 * _by_run([each["error"] for each in judged], len(runs.folds))
    of_scores = table == "s1-figure3"
    numbers = dict(
        zip(BOX, np.quantile(evaluations if of_scores else errors, QUARTERS), strict=True)
    )
    form = ",.0f" if of_scores else ".2f"
    shown = [format(number, form) for number in numbers.values()]
    notes = [
        f"quartiles {shown[1]} and {shown[3]}, range {shown[0]} to {shown[4]}, "
        f"{counted(len(errors), 'run')}"
    ]
    if not of_scores:
        notes += [f"{evaluations.mean():,.0f} score evaluations"]
    notes += [f"runs are means of {len(runs.folds)} splits"] * (len(runs.folds) > 1)
    notes += [OUR_MNIST] * (row == "mnist14") + [OUR_USPS] * (row == "usps")
    ours = float(numbers["median"])
    n = sum(len(fold.y_test) for fold in runs.folds)
    more = {name: float(number) for name, number in numbers.items()}
    return [
        cell_of(
            row, column, None, round(ours) if of_scores else ours, n, notes,
            evaluations=float(evaluations.mean()), **more,
        )
    ]  # fmt: skip


QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


def _by_run(values: Sequence[float], n_folds: int) -> FloatArray:
    """Return means over folds, one for each run."""
    return np.asarray(np.reshape(values, (n_folds, -1)).mean(axis=0), dtype=np.float64)


TITLES = {
    "s1-figure2": "classification error of searched structures, counted tables, median of runs",
    "s1-figure3": "score evaluations of a search, median of runs",
    "s1-figure4": "classification error by schedule of annealing, median of runs",
}
EXPERIMENTS: Mapping[str, Experiment[Any]] = {
    table: Experiment(
        title, partial(boxes_of, table), partial(_run, table), STUDYING, STUDYING,
        "counts" if table == "s1-figure3" else "percent",
    )
    for table, title in TITLES.items()
}  # fmt: skip
"""Experiments by their name in ``bncc reproduce``."""
