"""``bncc reproduce``: a paper's experiment on the data at hand, ours beside theirs."""

from collections.abc import Mapping, Sequence
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
@speaks
def command(console: Console, table: str, data_dir: str, quick: bool) -> None:
    """Repeat the experiment behind TABLE, such as s0-table1, and print ours beside the paper's."""
    refuse_later(table not in TITLES, f"reproduce {table}", f"try {' or '.join(TITLES)}")
    # Here, not above: the command line starts without pandas and scipy.
    from bncc.bench import recover, reproduce

    run = reproduce.s0_table1 if table == "s0-table1" else recover.s0_recover_chow_liu
    with console.progress(table) as advance:
        cells = run(data_dir, quick, advance)
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
