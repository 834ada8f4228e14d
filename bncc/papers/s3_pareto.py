"""Figure 7 of S3: Bayesian and neural networks by error, bits of memory and operations."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from bncc.papers import s3_bits, s3_budget
from bncc.papers.folds import FILES, rows_at
from bncc.papers.front import front
from bncc.papers.request import Advance, Cell, Effort, Request, part_of, selection

BAYESIAN = tuple(column for column, (_, bits) in s3_bits.COLUMNS.items() if bits is not None)
"""Naive Bayes and TAN with 1 to 8 bits an entry, of figures 3 and 6."""
NEURAL = tuple(name for name, column in s3_budget.COLUMNS.items() if not column.is_one_hot)
"""All of figures 3 and 4 but one-hot inputs, as in the paper."""
COLUMNS = (*BAYESIAN, *NEURAL)
QUICK_COLUMNS = (
    "NB 1 bit", "NB 3 bits", "TAN 3 bits", "FC relu 3 bits", "CNN relu 1x", "CNN relu 4x",
)  # fmt: skip


def s3_pareto(request: Request, advance: Advance | None = None) -> tuple[Cell, ...]:
    """
    Repeat figure 7 of S3: which models no other one betters in error, memory and operations.

    The models are those of `s3_bits` and of `s3_budget`, each chosen on rows held out. As in the
    paper the front is that of test errors.
    """
    known = tuple(FILES), COLUMNS
    rows, columns = selection("s3-pareto", request, known, (("usps",), QUICK_COLUMNS))
    rows = rows_at(request.data_dir, rows, request.rows)
    parts = [
        (run, replace(request, rows=rows, columns=chosen, effort=effort))
        for run, theirs, effort in _experiments(request.effort)
        if (chosen := tuple(column for column in columns if column in theirs))
    ]
    found = [
        cell
        for done, (run, part) in enumerate(parts)
        for cell in run(part, part_of(advance, done, len(parts), ""))
    ]
    return tuple(
        cell for row in rows for cell in _compared([one for one in found if one["row"] == row])
    )


def log_of_networks(log: Path | None) -> Path | None:
    """Return where trainings of neural networks are kept: they have a version of their own."""
    return log and log.with_suffix(f".networks{log.suffix}")


_Run = Callable[[Request, Advance | None], tuple[Cell, ...]]


def _experiments(effort: Effort) -> tuple[tuple[_Run, tuple[str, ...], Effort], ...]:
    neural = replace(effort, log=log_of_networks(effort.log))
    return (s3_bits.s3_bits, BAYESIAN, effort), (s3_budget.s3_budget, NEURAL, neural)


def _compared(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells of a data set with what each costs, and whether it is on the front."""
    costs = [(_memory_bits(cell), int(cell["operations"])) for cell in cells]
    errors = [float(cell["ours"]) for cell in cells]
    on_front = front([(error, *cost) for error, cost in zip(errors, costs, strict=True)])
    return [
        {
            **{key: cell[key] for key in ("row", "column", "paper", "ours", "n")},
            "note": f"{bits:,} bits, {operations:,} operations{', on the front' * is_on_front}",
            "memory_bits": bits,
            "operations": operations,
            "is_on_front": is_on_front,
        }
        for cell, (bits, operations), is_on_front in zip(cells, costs, on_front, strict=True)
    ]


def _memory_bits(cell: Cell) -> int:
    """Return the bits of all parameters; `s3_bits` tells those of one entry."""
    return int(cell["bits"] * cell.get("entries", 1))
