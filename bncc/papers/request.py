"""What a paper's experiment is asked for, and what it answers with."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bncc.errors import OptionError

Cell = Mapping[str, Any]
"""``row``, ``column``, ``paper`` and ``ours`` in percent, counts or None, rows ``n``, ``note``."""

Names = tuple[str, ...]
"""Of rows or columns."""

Advance = Callable[[float, str], object]
"""Called with the fraction done and what is at work."""


@dataclass(frozen=True)
class Effort:
    """How much is spent on a search."""

    # n_runs and epochs: Settings drawn per cell, and passes over the rows for each; None is the
    # experiment's own
    n_runs: int | None = None
    epochs: int | None = None
    jobs: int = 1  # Processes
    log: Path | None = None  # Where trainings are kept; see `bncc.papers.search.search`

    def of(self, n_runs: int, epochs: int) -> tuple[int, int]:
        """Return settings per cell and epochs: those asked for, else an experiment's own."""
        return self.n_runs or n_runs, self.epochs or epochs


@dataclass(frozen=True)
class Request:
    """What is asked for."""

    data_dir: Path  # Folder of the papers' data sets
    quick: bool = False  # Only a part that takes minutes
    rows: tuple[str, ...] = ()  # rows and columns: Only these; all if empty
    columns: tuple[str, ...] = ()
    effort: Effort = field(default_factory=Effort)  # How much is spent on searches


def check_names(table: str, kind: str, names: Sequence[str], known: Sequence[str]) -> None:
    """Refuse rows or columns that an experiment does not have."""
    for name in names:
        if name not in known:
            listed = ", ".join(repr(each) for each in known)
            raise OptionError(f"{table} has no {kind} '{name}'; choose among {listed}")


def selection(
    table: str, request: Request, known: tuple[Names, Names], quick: tuple[Names, Names]
) -> tuple[Names, Names]:
    """Return the rows and columns that are asked for."""
    check_names(table, "row", request.rows, known[0])
    check_names(table, "column", request.columns, known[1])
    rows, columns = quick if request.quick else known
    return tuple(dict.fromkeys(request.rows)) or rows, tuple(
        dict.fromkeys(request.columns)
    ) or columns


def part_of(advance: Advance | None, done: int, n: int, title: str) -> Advance:
    """Return what tells of progress within one of several parts."""

    def tell(fraction: float, what: str) -> None:
        if advance is not None:
            advance((done + fraction) / n, f"{title} {what}".strip())

    return tell
