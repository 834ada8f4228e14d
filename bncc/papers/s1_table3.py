"""Table 3 of S1: how many parameters naive Bayes, TAN and a support vector machine have."""

from collections.abc import Callable, Mapping

from bncc.papers.request import Advance, Cell, Request, part_of, selection
from bncc.papers.s1_runs import Runs
from bncc.papers.s1_tables import OUR_MNIST, ROWS, absent, runs_of
from bncc.structure.graph import Structure, forest, free_parameters

N, SVS, OF_SVM = "N", "# of SVs", "# SVM parameters"
OF_NB, OF_TAN = "# of NB BN parameters", "# of TAN BN parameters"
COLUMNS = (N, SVS, OF_SVM, OF_NB, OF_TAN)
TAN = "TAN-SA-MM"
"""Whose TAN is counted: the paper's best one on most sets."""
PAPER: Mapping[str, tuple[int, ...]] = {
    "mnist14": (196, 17201, 3371396, 5159, 31399),
    "usps": (256, 3837, 982272, 6089, 22139),
    "spambase": (57, 517, 29469, 161, 517),
    "dcmall": (191, 11934, 2279394, 61228, 4804505),
}
"""S1, table 3, by row and in the order of `COLUMNS`."""


def s1_table3(request: Request, advance: Advance | None = None) -> tuple[Cell, ...]:
    """Repeat table 3 of S1: free parameters of networks, and numbers that a machine keeps."""
    known = ROWS, COLUMNS
    rows, columns = selection("s1-table3", request, known, (("spambase",), COLUMNS))
    cells: list[Cell] = []
    for row in rows:
        runs = runs_of(request, row, 1)
        for column in columns:
            tell = part_of(advance, len(cells), len(rows) * len(columns), f"{row} {column}")
            tell(0.0, "")
            notes = [absent(row)] if runs is None else _notes(row, column)
            cells.append(
                {
                    "row": row,
                    "column": column,
                    "paper": PAPER[row][COLUMNS.index(column)],
                    "ours": None if runs is None else _COUNTS[column](runs, tell),
                    "n": None if runs is None else len(runs.folds[0].y),
                    "note": "; ".join(notes) or None,
                }
            )
    return tuple(cells)


def _notes(row: str, column: str) -> list[str]:
    notes = ["the states of usps.npz"] if row == "usps" and column == OF_NB else []
    notes += [f"{TAN}, one run"] if column == OF_TAN else []
    return notes + ([OUR_MNIST] if row == "mnist14" and column != N else [])


def _n_features(runs: Runs, _: Advance) -> int:
    return len(runs.folds[0].n_states)


def _n_vectors(runs: Runs, advance: Advance) -> int:
    (machine,) = runs.results([(0, "machine", ())], advance)
    return int(machine["n_vectors"])


def _of_machine(runs: Runs, advance: Advance) -> int:
    return _n_vectors(runs, advance) * _n_features(runs, advance)


def _of_naive(runs: Runs, _: Advance) -> int:
    return _free(runs, forest([None] * _n_features(runs, _)))


def _of_tan(runs: Runs, advance: Advance) -> int:
    _, learned = runs.learned(TAN, 1, advance)[0]
    parents = tuple(map(tuple, learned["parents"]))
    return _free(runs, Structure(parents, (True,) * len(parents)))


def _free(runs: Runs, structure: Structure) -> int:
    fold = runs.folds[0]
    return free_parameters(structure, fold.n_states, fold.n_classes)


_COUNTS: Mapping[str, Callable[[Runs, Advance], int]] = {
    N: _n_features, SVS: _n_vectors, OF_SVM: _of_machine, OF_NB: _of_naive, OF_TAN: _of_tan,
}  # fmt: skip
