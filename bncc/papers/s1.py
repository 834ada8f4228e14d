"""S1: errors of tables on six structures, parameter counts of models, and missing features."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

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
from bncc.papers.s1_runs import (
    N_RUNS,
    N_SPLITS,
    S1_FILES,
    STRUCTURES,
    SVM,
    WITHOUT_FEATURES,
    Runs,
    has_chance,
    s1_folds,
    s1_path,
)
from bncc.progress import Progress, nth_part
from bncc.structure.graph import Structure, forest, free_parameters

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
"""Accuracy in percent, S1, tables 1 and 2; the last column of table 2 is the SVMs."""
OUR_MNIST = "cut by our MDL rule into other states than the paper's"
OUR_USPS = "cut by our MDL rule on the 8,000 training rows"
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
"""Error rates in percent, by table, row and column."""


class Place(NamedTuple):
    """A cell, and the runs on its row; None if its data are missing."""

    row: str
    column: str
    runs: Runs | None


def _places(request: Request, table: str, columns: Names, n_splits: int) -> dict[str, Place]:
    rows, columns = selection(table, request, (ROWS, columns), (("spambase",), columns))
    runs = {row: runs_of(request, row, n_splits) for row in rows}
    places = grid(rows, columns)
    return {title: Place(row, column, runs[row]) for title, (row, column) in places.items()}


def runs_of(request: Request, row: str, n_splits: int) -> Runs | None:
    """Return the runs on a data set."""
    is_needed = row == "spambase" or row in request.rows
    if row == "dcmall" or not (is_needed or s1_path(request.data_dir, row)):
        return None
    return Runs(partial(s1_folds, request.data_dir, row, n_splits), request.effort)


def absent(row: str) -> str:
    """Return the reason why a row has no results of ours."""
    return NO_DCMALL if row == "dcmall" else f"there is no {S1_FILES[row]}"


def _errors(table: str, title: str, parameters: str) -> Experiment[Place]:
    """Return the experiment of table 1 or 2: errors of tables on six structures, and of SVMs."""
    paper = PAPER[table]

    def parts(request: Request) -> dict[str, Place]:
        n_splits = 1 if request.quick else N_SPLITS
        return _places(request, table, tuple(paper["usps"]), n_splits)

    def run(place: Place, request: Request, advance: Progress) -> list[Cell]:
        row, column, runs = place
        theirs = paper[row][column]
        if runs is None:
            return [cell_of(row, column, theirs, None, None, [absent(row)])]
        if column == SVM:
            machines = runs.results([(f, "machine", ()) for f in range(len(runs.folds))], advance)
            errors = [each["error"] for each in machines]
            notes = [f"gamma {' '.join(str(each['gamma']) for each in machines)}"]
        else:
            name = column.rsplit("-", 1)[0]
            n_runs = request.effort.n_runs or (1 if request.quick else N_RUNS)
            learned = runs.learned(name, n_runs, nth_part(advance, 0, 2, ""))
            judged = runs.results(
                [(f, "judge", (each["parents"], parameters)) for f, each in learned],
                nth_part(advance, 1, 2, "tables"),
            )
            errors = [each["error"] for each in judged]
            notes = _notes(name, n_runs, errors, [each["evaluations"] for _, each in learned])
        notes = [f"mean of {len(runs.folds)} splits"] * (len(runs.folds) > 1) + notes
        notes += [OUR_MNIST] * (row == "mnist14") + [OUR_USPS] * (row == "usps")
        n = sum(len(fold.y_test) for fold in runs.folds)
        return [cell_of(row, column, theirs, 100 * float(np.mean(errors)), n, notes)]

    return Experiment(title, parts, run, STUDYING, STUDYING)


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


N, SVS, OF_SVM = "N", "# of SVs", "# SVM parameters"
OF_NB, OF_TAN = "# of NB BN parameters", "# of TAN BN parameters"
COUNTED_COLUMNS = (N, SVS, OF_SVM, OF_NB, OF_TAN)
TAN = "TAN-SA-MM"
"""Learner of the TAN with counted parameters: the paper's best one on most sets."""
PAPER_COUNTS: Mapping[str, tuple[int, ...]] = {
    "mnist14": (196, 17201, 3371396, 5159, 31399),
    "usps": (256, 3837, 982272, 6089, 22139),
    "spambase": (57, 517, 29469, 161, 517),
    "dcmall": (191, 11934, 2279394, 61228, 4804505),
}
"""S1, table 3, by row and in the order of `COUNTED_COLUMNS`."""


def _count_parts(request: Request) -> dict[str, Place]:
    return _places(request, "s1-table3", COUNTED_COLUMNS, 1)


def _count(place: Place, request: Request, advance: Progress) -> list[Cell]:
    """Count free parameters of networks, or stored numbers of a support vector machine."""
    row, column, runs = place
    theirs = PAPER_COUNTS[row][COUNTED_COLUMNS.index(column)]
    if runs is None:
        return [cell_of(row, column, theirs, None, None, [absent(row)])]
    ours, n = _COUNTS[column](runs, advance), len(runs.folds[0].y)
    return [cell_of(row, column, theirs, ours, n, _count_notes(row, column))]


def _count_notes(row: str, column: str) -> list[str]:
    notes = [OUR_USPS] if row == "usps" and column == OF_NB else []
    notes += [f"{TAN}, one run"] if column == OF_TAN else []
    return notes + ([OUR_MNIST] if row == "mnist14" and column != N else [])


def _n_features(runs: Runs, _: Progress) -> int:
    return len(runs.folds[0].n_states)


def _n_vectors(runs: Runs, advance: Progress) -> int:
    (machine,) = runs.results([(0, "machine", ())], advance)
    return int(machine["n_vectors"])


def _of_machine(runs: Runs, advance: Progress) -> int:
    return _n_vectors(runs, advance) * _n_features(runs, advance)


def _of_naive(runs: Runs, _: Progress) -> int:
    return _free(runs, forest([None] * _n_features(runs, _)))


def _of_tan(runs: Runs, advance: Progress) -> int:
    _, learned = runs.learned(TAN, 1, advance)[0]
    parents = tuple(map(tuple, learned["parents"]))
    return _free(runs, Structure(parents, (True,) * len(parents)))


def _free(runs: Runs, structure: Structure) -> int:
    fold = runs.folds[0]
    return free_parameters(structure, fold.n_states, fold.n_classes)


_COUNTS: Mapping[str, Callable[[Runs, Progress], int]] = {
    N: _n_features, SVS: _n_vectors, OF_SVM: _of_machine, OF_NB: _of_naive, OF_TAN: _of_tan,
}  # fmt: skip


MISSING_ROWS = ("usps", "spambase")
N_REPEATS, QUICK_REPEATS = 100, 10
"""Samples of missing features; the first is S1's."""
SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
QUICK_SHARES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)
"""Fractions of missing features; within a sample, they are the same for all rows."""


def _missing_parts(request: Request) -> dict[str, tuple[str, Names]]:
    columns = WITHOUT_FEATURES
    known = MISSING_ROWS, columns
    rows, columns = selection("s1-missing", request, known, (("spambase",), columns))
    return {row: (row, columns) for row in rows}


def _missing(part: tuple[str, Names], request: Request, advance: Progress) -> list[Cell]:
    """Reproduce figure 5 of S1 on available data; the paper's is DCMall, without numbers."""
    row, columns = part
    runs = runs_of(request, row, 1)
    if runs is None:
        more = dict.fromkeys(("missing", "n_features", "sd"))
        return [
            cell_of(row, column, None, None, None, [absent(row)], data=row, **more)
            for column in columns
        ]
    fold = runs.folds[0]
    n_features = len(fold.n_states)
    n_repeats = request.effort.n_runs or (QUICK_REPEATS if request.quick else N_REPEATS)
    shares = QUICK_SHARES if request.quick else SHARES
    counts = sorted({round(share * n_features) for share in shares})
    # All samples with nothing missing are the same.
    places = [(name, count, n_repeats if count else 1) for name in columns for count in counts]
    found = runs.results([(0, "missing", place) for place in places], advance)
    cells: list[Cell] = []
    for (name, count, repeats), result in zip(places, found, strict=True):
        errors = 100 * np.array(result["errors"])
        sd = float(errors.std())
        note = f"mean of {repeats} draws, sd {sd:.2f}" if count else "none missing"
        cells.append(cell_of(
            f"{row}, {count} missing", name, None, float(errors.mean()), len(fold.y_test), [note],
            data=row, missing=count, n_features=n_features, sd=sd,
        ))  # fmt: skip
    return cells


EXPERIMENTS: Mapping[str, Experiment[Any]] = {
    "s1-table1": _errors("s1-table1", "classification error, counted tables", "ml"),
    "s1-table2": _errors("s1-table2", "classification error, maximum margin", "margin"),
    "s1-table3": Experiment(
        "model complexity", _count_parts, _count, STUDYING[1:], STUDYING[1:], "counts"
    ),
    "s1-missing": Experiment(
        "classification error, features missing", _missing_parts, _missing, STUDYING, STUDYING
    ),
}
"""Experiments by their name in ``bncc reproduce``."""
