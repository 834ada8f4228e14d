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
    """How much is spent on a search.

    Parameters
    ----------
    n_runs, epochs : int or None
        Settings drawn per cell, and passes over the rows for each; None is the experiment's own.
    jobs : int
        Processes.
    log : Path or None
        Where trainings are kept; see `bncc.bench.search.search`.
    """

    n_runs: int | None = None
    epochs: int | None = None
    jobs: int = 1
    log: Path | None = None

    def of(self, n_runs: int, epochs: int) -> tuple[int, int]:
        """Return settings per cell and epochs: those asked for, else an experiment's own.

        Parameters
        ----------
        n_runs, epochs : int
            The experiment's own.

        Returns
        -------
        n_runs, epochs : int
            What is to be spent.
        """
        return self.n_runs or n_runs, self.epochs or epochs


@dataclass(frozen=True)
class Request:
    """What is asked for.

    Parameters
    ----------
    data_dir : Path
        Folder of the papers' data sets.
    quick : bool
        Only a part that takes minutes.
    rows, columns : tuple of str
        Only these; all if empty.
    effort : Effort
        How much is spent on searches.
    """

    data_dir: Path
    quick: bool = False
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    effort: Effort = field(default_factory=Effort)


def check_names(table: str, kind: str, names: Sequence[str], known: Sequence[str]) -> None:
    """Refuse rows or columns that an experiment does not have.

    Parameters
    ----------
    table : str
        The experiment.
    kind : {"row", "column"}
        What they are.
    names, known : sequence of str
        Those asked for, and all.

    Raises
    ------
    OptionError
        If one is not known.
    """
    for name in names:
        if name not in known:
            listed = ", ".join(repr(each) for each in known)
            raise OptionError(f"{table} has no {kind} '{name}'; choose among {listed}")


def selection(
    table: str, request: Request, known: tuple[Names, Names], quick: tuple[Names, Names]
) -> tuple[Names, Names]:
    """Return the rows and columns that are asked for.

    Parameters
    ----------
    table : str
        The experiment.
    request : Request
        What is asked for by name, and whether it is to be quick.
    known, quick : (tuple of str, tuple of str)
        All rows and columns of the experiment, and those that a quick one has. What is named
        takes the place of either.

    Returns
    -------
    rows, columns : tuple of str
        In their order.

    Raises
    ------
    OptionError
        If the experiment has no such row or column.
    """
    check_names(table, "row", request.rows, known[0])
    check_names(table, "column", request.columns, known[1])
    rows, columns = quick if request.quick else known
    return tuple(dict.fromkeys(request.rows)) or rows, tuple(
        dict.fromkeys(request.columns)
    ) or columns


def part_of(advance: Advance | None, done: int, n: int, title: str) -> Advance:
    """Return what tells of progress within one of several parts.

    Parameters
    ----------
    advance : callable or None
        Told of the whole; None is told nothing.
    done, n : int
        Parts that are done, and all parts.
    title : str
        Name of this part.

    Returns
    -------
    callable
        Takes the fraction of this part that is done, and what is at work in it.
    """

    def tell(fraction: float, what: str) -> None:
        if advance is not None:
            advance((done + fraction) / n, f"{title} {what}".strip())

    return tell
