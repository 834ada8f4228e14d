"""``bncc reproduce``: a paper's experiment on the data at hand, ours beside theirs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from bncc.cli.console import Console, aligned
from bncc.cli.options import refuse_later, speaks

TABLES = (
    "s0-table1", "s0-recover-chow-liu", "s1-table1", "s1-table2", "s1-table3", "s1-missing",
    "s2-table1", "s2-table2", "s2-table3", "s2-table4", "s3-bits", "s3-size", "s3-budget",
    "s3-pareto", "s4-metrics",
)  # fmt: skip

TITLES = {
    "s0-table1": "classification error",
    "s0-recover-chow-liu": "parents of the Chow-Liu tree found again",
}
"""What the numbers are, of the tables at hand."""


@click.command("reproduce")
@click.argument("table", type=click.Choice(TABLES), metavar="TABLE")
@click.option("--data", "data_dir", metavar="DIR", default=".", help="Folder of letter.npz, ...")
@click.option("--quick", is_flag=True, help="A subset, in minutes.")
@click.option("--runs", type=click.IntRange(1), default=30, show_default=True, metavar="N")
@click.option("--epochs", type=click.IntRange(1), default=100, show_default=True, metavar="N")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, metavar="N")
@click.option("--checkpoint", metavar="FILE", help="Keep trainings there, and go on from them.")
@speaks
def command(
    console: Console,
    table: str,
    data_dir: str,
    quick: bool,
    runs: int,
    epochs: int,
    jobs: int,
    checkpoint: str | None,
) -> None:
    """Repeat the experiment behind TABLE, such as s0-table1, and print ours beside the paper's."""
    refuse_later(table not in TITLES, f"reproduce {table}", f"try {' or '.join(TITLES)}")
    # Here, not above: the command line starts without pandas and scipy.
    from bncc.bench import recover, reproduce

    effort = reproduce.Effort(runs, epochs, jobs, Path(checkpoint) if checkpoint else None)
    with console.progress(table) as advance:
        if table == "s0-table1":
            cells = reproduce.s0_table1(data_dir, quick, advance, effort)
        else:
            cells = recover.s0_recover_chow_liu(data_dir, quick, advance)
    console.result({"cells": list(cells)}, _report(TITLES[table], cells), essential=True)


def _report(title: str, cells: Sequence[Mapping[str, Any]]) -> str:
    rows = [["row", "column", "paper", "ours", "n", "note"]]
    rows += [
        [
            cell["row"],
            cell["column"],
            _percent(cell["paper"]),
            _percent(cell["ours"]),
            "" if cell["n"] is None else str(cell["n"]),
            cell["note"] or "",
        ]
        for cell in cells
    ]
    return f"{title}, percent\n\n{aligned(rows, right=(2, 3, 4))}"


def _percent(error: float | None) -> str:
    return "-" if error is None else f"{error:.2f}"
