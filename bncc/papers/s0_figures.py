"""S0, figures 2 and 3: errors over lambda, orders of features, and numbers of candidate parents."""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from bncc.errors import OptionError
from bncc.papers.experiments import (
    STEERING,
    Cell,
    Experiment,
    Request,
    cell_of,
    grid,
    selection,
)
from bncc.papers.folds import read_folds, rows_at
from bncc.papers.s0 import BATCH_SIZES, COUNTED, OUR_MNIST, PAPER, RUNS_AND_EPOCHS, STRUCTURES
from bncc.papers.search import explore
from bncc.progress import Progress
from bncc.train.settings import TrainSettings

LAMBDAS = (10.0, 31.6, 100.0, 316.0, 1000.0)
"""Weights of the margin, the horizontal axis of figure 2: two per decade of S0's setting II."""
SHARE = 3
"""Settings of a cell of table 1 per setting of a cell here, which have fewer to sample."""
METHODS = tuple(name for name in STRUCTURES if name not in (*COUNTED, "TAN no order"))
N_ORDERS = 5
"""Number of random orders, and of random subsets of parents, as in S0."""


class Cut(NamedTuple):
    """A column: a structure with pinned settings."""

    structure: str
    options: Mapping[str, str]
    pinned: Mapping[str, Any]


OVER_LAMBDA: Mapping[str, Mapping[str, Cut]] = {
    row: {
        f"{name} lambda {weight:g}": Cut(*STRUCTURES[name], {"lambda_": weight})
        for name in METHODS
        if name in PAPER[row]
        for weight in LAMBDAS
    }
    for row in PAPER
}
"""Columns of figure 2 by row."""


def _words(n_parents: int) -> str:
    return f"{n_parents} parent{'s' if n_parents > 1 else ''}"


_BY_PIXELS = {
    f"order {order}, {_words(k)}": Cut("tan-heuristic", {"order": order, "parents": str(k)}, {})
    for order in "ABC"
    for k in (1, 2, 5, 8)
}
BY_ORDER: Mapping[str, Mapping[str, Cut]] = {
    "letter": {
        f"subset {n}, {_words(k)}": Cut(
            "tan-subset", {"order": "identity", "parents": str(k)}, {"seed": n}
        )
        for k in (2, 8)
        for n in range(1, N_ORDERS + 1)
    },
    "satimage": {
        f"order {n}": Cut("tan-subset", {"parents": "8"}, {"seed": n})
        for n in range(1, N_ORDERS + 1)
    },
    "usps": _BY_PIXELS,
    "mnist": _BY_PIXELS,
}
"""Columns of figure 3 by row; a seed is one order, or one subset of parents. Subsets of two parents
are part of those of eight with the same seed. S0 has no usps."""


class Point(NamedTuple):
    """A cell: its row, its column and the column's settings."""

    row: str
    column: str
    cut: Cut


def points_of(table: str, request: Request) -> dict[str, Point]:
    """Return the requested cells that the figure has."""
    columns_of = COLUMNS_OF[table]
    names = tuple(dict.fromkeys(name for columns in columns_of.values() for name in columns))
    quick = ("letter",), tuple(columns_of["letter"])[:2]
    rows, columns = selection(table, request, (tuple(columns_of), names), quick)
    points = {
        title: Point(row, column, columns_of[row][column])
        for title, (row, column) in grid(
            rows_at(request.data_dir, rows, request.rows), columns
        ).items()
        if column in columns_of[row]
    }
    if not points:
        raise OptionError(
            f"{table} has no {' or '.join(columns)} of {' or '.join(rows)}; choose another "
            "--row or --column"
        )
    return points


def _run(point: Point, request: Request, advance: Progress) -> list[Cell]:
    """
    Search all settings but the pinned ones, on validation rows; return the error on test rows.

    S0 draws every run, and the lower hull of their test errors.
    """
    row, column, cut = point
    folds = read_folds(request.data_dir, row)
    n_runs, epochs = request.effort.of(RUNS_AND_EPOCHS[row][0] // SHARE, RUNS_AND_EPOCHS[row][1])
    base = TrainSettings(
        structure=cut.structure, structure_options=cut.options, float_=True, epochs=epochs,
        batch_size=BATCH_SIZES[row],
    )  # fmt: skip
    found = explore(folds, base, n_runs, request.effort, advance, pinned=cut.pinned)
    notes = [*([OUR_MNIST] if row == "mnist" else []), found.note]
    n = sum(len(fold.y_test) for fold in folds)
    return [cell_of(row, column, None, 100 * found.test, n, notes, **cut.pinned)]


COLUMNS_OF: Mapping[str, Mapping[str, Mapping[str, Cut]]] = {
    "s0-figure2": OVER_LAMBDA, "s0-figure3": BY_ORDER,
}  # fmt: skip
"""Columns by experiment and row."""
TITLES = {
    "s0-figure2": "classification error over lambda",
    "s0-figure3": "classification error by order, subset and number of candidate parents",
}
EXPERIMENTS: Mapping[str, Experiment[Any]] = {
    table: Experiment(title, partial(points_of, table), _run, STEERING, STEERING)
    for table, title in TITLES.items()
}
"""Experiments by their name in ``bncc reproduce``."""
