"""
The tables of docs/papers.md: every experiment and cell of the papers, and what is measured.

    python -m benchmarks.accuracy.papers_page --write
    python -m benchmarks.accuracy.papers_page --add papers/s0-table1.letter.csv --write

Results are in ``papers_results.csv``, the last one of a cell counts; ``--add`` appends a table of
``bncc reproduce -o``. Hours are those of `benchmarks.accuracy.papers_run` with ``--estimate``.
Nothing is trained. Without ``--write`` the tables are printed.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from benchmarks.accuracy.papers_run import PER_CELL, SECONDS, hours_of, is_too_long, read_seconds
from benchmarks.accuracy.papers_tasks import Task, tasks
from benchmarks.shared.markdown import renew, table
from bncc.papers import s0, s1

PAGE = Path(__file__).resolve().parents[2] / "docs" / "papers.md"
RESULTS = Path(__file__).with_name("papers_results.csv")
HEAD = ("table", "row", "column", "ours", "protocol", "runs x epochs", "source")
WITH_TABLES: Mapping[str, str] = {
    **{f"s2-table{k}": "measured, [10 x 10 folds](s2.md)" for k in (1, 2, 3, 4)},
    "s4-metrics": "measured, [sizes of 100 to 5,000 rows](s4.md)",
    "s1-missing": "measured, usps with [the authors' cuts](reproduce.md#s1-missing)",
    "s0-recover-chow-liu": "measured, [parent by parent](DESIGN.md)",
}
"""Status of experiments whose results are on other pages, by experiment."""
CELLS = ("s0-table1", "s1-table1", "s1-table2", "s1-table3", "s3-bits", "s3-size", "s3-budget")
"""Experiments with a table of cells."""
NOT_RUN, NO_DATA = "not run", "data cannot be had"
Place = tuple[str, str, str]
"""Experiment, row and column."""


class Result(NamedTuple):
    """A measured cell."""

    ours: float
    protocol: str
    effort: str
    source: str


def read_results(path: Path = RESULTS) -> dict[Place, Result]:
    """Return the last result of each cell."""
    with path.open(encoding="utf-8", newline="") as file:
        return {
            (row["table"], row["row"], row["column"]): Result(
                float(row["ours"]), row["protocol"], row["runs x epochs"], row["source"]
            )
            for row in csv.DictReader(file)
        }


def add_results(table_file: Path, source: str, effort: str, path: Path = RESULTS) -> int:
    """Append the cells of a table of ``bncc reproduce -o``, and return their number."""
    with table_file.open(encoding="utf-8", newline="") as file:
        cells = [cell for cell in csv.DictReader(file) if cell["ours"]]
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for cell in cells:
            place = (cell["table"], cell["row"], cell["column"])
            ours = f"{float(cell['ours']):.10g}"
            writer.writerow([*place, ours, cell["note"], effort, source])
    return len(cells)


def paper_of(place: Place) -> float | None:
    """Return the paper's number of a cell, if it prints one."""
    name, row, column = place
    if name == "s0-table1":
        return s0.PAPER[row].get(column)
    if name in s1.PAPER:
        return s1.PAPER[name][row][column]
    if name == "s1-table3":
        return s1.PAPER_COUNTS[row][s1.COUNTED_COLUMNS.index(column)]
    return None


def task_rows(
    all_tasks: Sequence[Task], found: Mapping[Place, Result], seconds: Mapping[str, float]
) -> Iterator[list[str]]:
    """Yield a row for each task: cells, measured ones, hours and status."""
    for task in all_tasks:
        done = sum((task.table, *cell) in found for cell in task.cells)
        spent = seconds.get(task.cell)
        hours = "" if spent is None else f"{hours_of(task, spent):.2g}"
        status = WITH_TABLES.get(task.table, f"{done} measured" if done else NOT_RUN)
        if spent is not None and is_too_long(task, spent):
            largest = task.largest * hours_of(task, spent)
            way = "a smaller run" if task.smaller is not None else "left out"
            status += f"; a cell takes {largest:.0f} hours, over {PER_CELL:.0f}: {way}"
        yield [task.name, f"`{shown(task)}`", f"{len(task.cells)}", hours, status]


def shown(task: Task) -> str:
    """Return the command of a task, without a long list of columns."""
    columns = task.options.count("--column")
    if columns <= 2:
        return task.command
    at = task.options.index("--column")
    kept = " ".join(["bncc reproduce", task.table, *task.options[:at]])
    return f"{kept} --column NAME"


def cell_rows(
    name: str, all_tasks: Sequence[Task], found: Mapping[Place, Result]
) -> list[list[str]]:
    """Return the rows of an experiment: its cells with a number of the paper or of ours."""
    cells = [(name, *cell) for task in all_tasks if task.table == name for cell in task.cells]
    if name in s1.PAPER or name == "s1-table3":
        columns = s1.PAPER[name]["usps"] if name in s1.PAPER else s1.COUNTED_COLUMNS
        cells += [(name, "dcmall", column) for column in columns]
    rows = []
    for place in dict.fromkeys(cells):
        result, paper = found.get(place), paper_of(place)
        if result is None and paper is None:
            continue
        form = ",.0f" if name == "s1-table3" else ".2f"
        status = NO_DATA if place[1] == "dcmall" else "measured" if result else NOT_RUN
        rows.append([
            place[1], place[2], "" if result is None else format(result.ours, form),
            "" if paper is None else format(paper, form),
            "" if result is None else result.protocol,
            "" if result is None else result.effort,
            "" if result is None else result.source, status,
        ])  # fmt: skip
    return rows


def summary_rows(all_tasks: Sequence[Task], found: Mapping[Place, Result]) -> Iterator[list[str]]:
    """Yield a row for each experiment: its cells and the measured ones."""
    for name in dict.fromkeys(task.table for task in all_tasks):
        cells = {cell for task in all_tasks if task.table == name for cell in task.cells}
        done = sum((name, *cell) in found for cell in cells)
        on_page = WITH_TABLES.get(name)
        yield [name, f"{len(cells)}", on_page or f"{done}"]


def page_tables() -> dict[str, str]:
    """Return all tables of the page by name."""
    every, found, seconds = tasks(), read_results(), read_seconds(SECONDS)
    head = ["data", "column", "ours", "paper", "protocol", "runs x epochs", "source", "status"]
    known = [task for task in every if task.cell in seconds]
    total = sum(hours_of(task, seconds[task.cell]) for task in known)
    tables = {
        "summary": table(["experiment", "cells", "measured"], summary_rows(every, found)),
        "tasks": table(
            ["task", "command", "cells", "hours", "status"], task_rows(every, found, seconds)
        ),
        "hours": f"All {len(every)} tasks: {total:,.0f} hours on one core.\n",
    }
    return tables | {name: table(head, cell_rows(name, every, found)) for name in CELLS}


@click.command()
@click.option("--add", "added", type=Path, multiple=True, help="Table of results, repeatable.")
@click.option("--source", default="make papers", help="Command that measured these results.")
@click.option("--effort", default="", help="Their runs x epochs, if not those of the command.")
@click.option("--write", is_flag=True, help="Update the page.")
def main(added: tuple[Path, ...], source: str, effort: str, write: bool) -> None:
    """Append results, and print or update the tables."""
    for path in added:
        click.echo(f"{path}: {add_results(path, source, effort)} cells", err=True)
    if write:
        renew(PAGE, page_tables())
    else:
        click.echo("\n".join(page_tables().values()))


if __name__ == "__main__":
    main()
