"""S2, figures 3 to 6: losses of two learners on each fold of each data set, as box plots."""

from collections.abc import Mapping
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
    check_names,
)
from bncc.papers.s2_data import Protocol, set_files
from bncc.papers.s2_study import AODE, SetResult, study
from bncc.progress import Progress
from bncc.wording import counted


class Pair(NamedTuple):
    """Two learners and a loss, as a ratio or a difference."""

    title: str
    first: str
    second: str
    is_ratio: bool  # True for a ratio of zero-one losses, False for a difference of log losses


FIGURES = {
    "s2-figure3": Pair("zero-one loss of ETAN divided by that of TAN", "ETAN", "TAN", True),
    "s2-figure4": Pair("log loss of ETAN less that of TAN", "ETAN", "TAN", False),
    "s2-figure5": Pair("zero-one loss of SA-ETAN divided by that of AODE", "SA-ETAN", AODE, True),
    "s2-figure6": Pair("log loss of SA-ETAN less that of AODE", "SA-ETAN", AODE, False),
}
COLUMNS: Mapping[str, float] = {
    "least": 0.0, "quarter": 0.25, "median": 0.5, "three quarters": 0.75, "most": 1.0,
}  # fmt: skip
"""Numbers that a box plot draws, as quantiles over the folds of all repeats."""


def _parts(figure: str, request: Request) -> dict[str, tuple[Names, Names]]:
    sets = tuple(set_files(request.data_dir, request.quick))
    check_names(figure, "row", request.rows, sets)
    check_names(figure, "column", request.columns, tuple(COLUMNS))
    return {"": (request.rows or sets, request.columns or tuple(COLUMNS))}


def _run(figure: str, part: tuple[Names, Names], request: Request, advance: Progress) -> list[Cell]:
    """Study the requested sets, and return a row of quantiles for each."""
    rows, columns = part
    effort = request.effort
    files = {name: path for name, path in set_files(request.data_dir, request.quick).items()
             if name in rows}  # fmt: skip
    results = study(files, Protocol(effort.n_runs or 1), effort.jobs, effort.log, advance)
    return [cell for row in rows for cell in cells_of(FIGURES[figure], row, results[row], columns)]


def cells_of(pair: Pair, row: str, result: SetResult, columns: Names) -> list[Cell]:
    """Return quantiles over folds; a ratio to no errors is undefined, and left out."""
    loss = 0 if pair.is_ratio else 1
    first, second = (
        np.array([each[loss] for each in result.by_fold[name]])
        for name in (pair.first, pair.second)
    )
    kept = second > 0 if pair.is_ratio else np.full(len(second), True)
    values: FloatArray = first[kept] / second[kept] if pair.is_ratio else first - second
    n_out = int((~kept).sum())
    notes = [f"without {counted(n_out, 'fold')} in which {pair.second} has no errors"] * (n_out > 0)
    return [
        cell_of(
            row, column, None,
            float(np.quantile(values, COLUMNS[column])) if len(values) else None,
            len(values), notes,
        )
        for column in columns
    ]  # fmt: skip


EXPERIMENTS: Mapping[str, Experiment[Any]] = {
    figure: Experiment(
        pair.title, partial(_parts, figure), partial(_run, figure), STUDYING, STUDYING,
        "ratios" if pair.is_ratio else "nats per row", dict.fromkeys(COLUMNS, ".3f"),
    )
    for figure, pair in FIGURES.items()
}  # fmt: skip
"""Experiments by their name in ``bncc reproduce``."""
