"""``bncc reproduce``: a paper's experiment, with our results and the paper's."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bncc.cli.console import Console, aligned
from bncc.cli.options import force_option, speaks, was_set
from bncc.cli.output import check_free, write_file
from bncc.errors import OptionError
from bncc.report import table_files
from bncc.report.curves import CHARTS, svg_of
from bncc.wording import counted

if TYPE_CHECKING:
    from bncc.papers.experiments import Experiment

TABLES = (
    "s0-table1", "s0-figure2", "s0-figure3", "s0-recover-chow-liu", "s1-table1", "s1-table2",
    "s1-table3", "s1-figure2", "s1-figure3", "s1-figure4", "s1-missing", "s2-table1", "s2-table2",
    "s2-table3", "s2-table4", "s2-figure3", "s2-figure4", "s2-figure5", "s2-figure6", "s3-bits",
    "s3-size", "s3-budget", "s3-pareto", "s4-metrics",
)  # fmt: skip
"""Names of the experiments on the command line."""


@click.command("reproduce")
@click.argument("table", type=click.Choice(TABLES), metavar="TABLE")
@click.option("--data", "data_dir", metavar="DIR", default=".", help="Folder of the data sets.")
@click.option("--quick", is_flag=True, help="Run a subset that takes minutes.")
@click.option(
    "--runs",
    type=click.IntRange(1),
    metavar="N",
    help="Settings per cell; annealings of s1, repeats of s2, samples of s4.",
)
@click.option("--epochs", type=click.IntRange(1), metavar="N", help="Training epochs.")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Worker processes.",
)
@click.option(
    "--row", multiple=True, metavar="NAME", help="Row to compute, repeatable [default: all]."
)
@click.option(
    "--column", multiple=True, metavar="NAME", help="Column to compute, repeatable [default: all]."
)
@click.option("--checkpoint", metavar="FILE", help="File that keeps results, for resuming.")
@click.option("-o", "--output", metavar="FILE", help="Table of all cells, .csv or .parquet.")
@click.option("--plot", metavar="FILE.svg", help=f"SVG file with a chart, for {', '.join(CHARTS)}.")
@force_option
@speaks
def command(
    console: Console,
    table: str,
    data_dir: str,
    quick: bool,
    runs: int | None,
    epochs: int | None,
    jobs: int,
    row: tuple[str, ...],
    column: tuple[str, ...],
    checkpoint: str | None,
    output: str | None,
    plot: str | None,
    force: bool,
) -> None:
    """
    Reproduce the experiment of TABLE and print our results with the paper's.

    TABLE is s0-table1, s0-figure2, s0-figure3, s0-recover-chow-liu, s1-table1 to s1-table3,
    s1-figure2 to s1-figure4, s1-missing, s2-table1 to s2-table4, s2-figure3 to s2-figure6,
    s3-bits, s3-size, s3-budget, s3-pareto or s4-metrics.
    """
    from bncc.papers import experiments  # only here: no other command loads the papers

    experiment = experiments.find_experiment(table)
    for name in experiment.unheeded(tuple(filter(was_set, experiments.STEERING)), quick):
        console.note(f"--{name} has no effect on {table}{' --quick' if quick else ''}")
    if plot is not None:
        _check_plot(table, plot, force)
    form = None if output is None else table_files.form_of(output)
    if output is not None:
        check_free(output, force=force, sources=[checkpoint])
    effort = experiments.Effort(runs, epochs, jobs, Path(checkpoint) if checkpoint else None)
    request = experiments.Request(Path(data_dir), quick, row, column, effort)
    with console.progress(table) as advance:
        cells = experiments.reproduce(experiment, request, advance)
    if plot is not None:
        write_file(plot, svg_of(CHARTS[table](cells)).encode(), force=force)
        console.note(f"drew {plot}")
    if output is not None and form is not None:
        records = [{"table": table, **cell} for cell in cells]
        write_file(output, table_files.table_bytes(records, form), force=force)
        console.note(f"wrote {output}: {counted(len(records), 'cell')}")
    console.result({"cells": list(cells)}, _report(experiment, cells), essential=True)


def _check_plot(table: str, plot: str, force: bool) -> None:
    if Path(plot).suffix.lower() != ".svg":
        raise OptionError(
            f"--plot writes SVG, not '{plot}'; name a file such as {Path(plot).stem}.svg"
        )
    if table not in CHARTS:
        raise OptionError(f"--plot supports {', '.join(CHARTS)}, not {table}; leave it out")
    check_free(plot, force=force)


def _report(experiment: "Experiment[Any]", cells: Sequence[Mapping[str, Any]]) -> str:
    rows = [["row", "column", "paper", "ours", "n", "note"]]
    rows += [
        [
            cell["row"],
            cell["column"],
            _number(cell["paper"], experiment.form_of(cell["column"])),
            _number(cell["ours"], experiment.form_of(cell["column"])),
            "" if cell["n"] is None else str(cell["n"]),
            cell["note"] or "",
        ]
        for cell in cells
    ]
    return f"{experiment.title}, {experiment.unit}\n\n{aligned(rows, right=(2, 3, 4))}"


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
