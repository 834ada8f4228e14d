"""
The papers' reproducible experiments: their definition, their requests, and the runner.

An experiment defines its parts and the cells of each part. `reproduce` processes the parts in
turn and reports progress; `bncc.papers.runs` keeps the results of long calls.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar

from bncc.errors import OptionError
from bncc.progress import Progress, nth_part, silence
from bncc.train.gradient.engines import check_torch

MODULES: Mapping[str, str] = {
    **dict.fromkeys(("s0-table1", "s0-recover-chow-liu"), "s0"),
    **dict.fromkeys(("s0-figure2", "s0-figure3"), "s0_figures"),
    **dict.fromkeys(("s1-table1", "s1-table2", "s1-table3", "s1-missing"), "s1"),
    **dict.fromkeys(("s1-figure2", "s1-figure3", "s1-figure4"), "s1_figures"),
    **dict.fromkeys(("s2-table1", "s2-table2", "s2-table3", "s2-table4"), "s2"),
    **dict.fromkeys(("s2-figure3", "s2-figure4", "s2-figure5", "s2-figure6"), "s2_figures"),
    **dict.fromkeys(("s3-bits", "s3-size"), "s3"),
    **dict.fromkeys(("s3-budget", "s3-pareto"), "s3_networks"),
    "s4-metrics": "s4",
}
"""All experiments: the module of this package whose ``EXPERIMENTS`` contains each. It is imported
on request: scipy and torch are slow to import, and torch may be missing."""

SEARCH = ("runs", "epochs", "jobs", "checkpoint")
"""Options of the command line for a search."""
PART = ("row", "column")
"""Options that select a part of a table."""
STEERING = (*SEARCH, *PART)
"""Options that only some experiments use."""
STUDYING = ("runs", "jobs", "checkpoint", *PART)
"""Options of the experiments of S1, S2 and S4; `runs` counts annealings, repeats of the folds, or
samples."""

Cell = Mapping[str, Any]
"""``row``, ``column``, ``paper`` and ``ours`` in percent, counts or None, rows ``n``, ``note``."""

Names = tuple[str, ...]
"""Names of rows or columns."""

Part = TypeVar("Part")


@dataclass(frozen=True)
class Effort:
    """Effort of a search."""

    # n_runs and epochs: Settings sampled per cell, and passes over the rows for each; None for the
    # experiment's default
    n_runs: int | None = None
    epochs: int | None = None
    jobs: int = 1  # Number of processes
    log: Path | None = None  # File of kept results; see `bncc.papers.runs.Log`

    def of(self, n_runs: int, epochs: int) -> tuple[int, int]:
        """Return settings per cell and epochs: those requested, else an experiment's default."""
        return self.n_runs or n_runs, self.epochs or epochs


@dataclass(frozen=True)
class Request:
    """Data, rows, columns and effort of a reproduction."""

    data_dir: Path  # Folder of the papers' data sets
    quick: bool = False  # Only a part that takes minutes
    rows: tuple[str, ...] = ()  # rows and columns: Only these; all if empty
    columns: tuple[str, ...] = ()
    effort: Effort = field(default_factory=Effort)  # Effort of searches


@dataclass(frozen=True)
class Experiment(Generic[Part]):
    """A table or figure of a paper that can be reproduced."""

    title: str  # Description of its numbers
    # Units of work in order, by the description in progress reports
    parts: Callable[[Request], Mapping[str, Part]]
    run: Callable[[Part, Request, Progress], Sequence[Cell]]  # The cells of a part
    # options and quick_options: Effective options in addition to ``--data`` and ``--quick``: in
    # full runs or with named columns; and on the columns that ``--quick`` chooses itself
    options: tuple[str, ...] = ()
    quick_options: tuple[str, ...] = ()
    unit: str = "percent"  # Unit of its numbers: ``percent``, or ``counts``, which are integers
    # Number format by column
    formats: Mapping[str, str] = field(default_factory=dict)

    def form_of(self, column: str) -> str:
        """Return the number format of a column."""
        return self.formats.get(column, "," if self.unit == "counts" else ".2f")

    def unheeded(self, given: tuple[str, ...], quick: bool) -> tuple[str, ...]:
        """Return the given options that have no effect here."""
        heeded = self.quick_options if quick and "column" not in given else self.options
        return tuple(name for name in given if name not in heeded)


def find_experiment(name: str) -> Experiment[Any]:
    """Return the experiment of a name."""
    try:
        module = import_module(f"bncc.papers.{MODULES[name]}")
    except ModuleNotFoundError:
        check_torch("the search for neural networks")
        raise
    experiment: Experiment[Any] = module.EXPERIMENTS[name]
    return experiment


def reproduce(
    experiment: Experiment[Part], request: Request, advance: Progress = silence
) -> tuple[Cell, ...]:
    """Reproduce an experiment, part by part."""
    cells: list[Cell] = []
    parts = experiment.parts(request)
    for done, (title, part) in enumerate(parts.items()):
        tell = nth_part(advance, done, len(parts), title)
        tell(0.0, "")
        cells += experiment.run(part, request, tell)
    return tuple(cells)


def grid(rows: Sequence[str], columns: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the cells' rows and columns in a table, row by row."""
    return {f"{row} {column}": (row, column) for row in rows for column in columns}


def cell_of(
    row: str, column: str, paper: float | None, ours: float | None, n: int | None,
    notes: Sequence[str] = (), **more: object,
) -> Cell:  # fmt: skip
    """Return a cell, with an experiment's additional fields."""
    note = "; ".join(notes) or None
    return {
        "row": row, "column": column, "paper": paper, "ours": ours, "n": n, "note": note, **more,
    }  # fmt: skip


def check_names(table: str, kind: str, names: Sequence[str], known: Sequence[str]) -> None:
    """Reject rows or columns that an experiment does not have."""
    for name in names:
        if name not in known:
            listed = ", ".join(repr(each) for each in known)
            raise OptionError(f"{table} has no {kind} '{name}'; choose from {listed}")


def selection(
    table: str, request: Request, known: tuple[Names, Names], quick: tuple[Names, Names]
) -> tuple[Names, Names]:
    """Return the requested rows and columns."""
    check_names(table, "row", request.rows, known[0])
    check_names(table, "column", request.columns, known[1])
    rows, columns = quick if request.quick else known
    return tuple(dict.fromkeys(request.rows)) or rows, tuple(
        dict.fromkeys(request.columns)
    ) or columns
