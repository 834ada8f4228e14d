"""
The tables of docs/s4.md: S4's study on its ten networks, or on a selection.

    nice .venv/bin/python -m benchmarks.accuracy.s4_page --data DIR --checkpoint study.jsonl --write

The same command resumes. Without ``--write`` it prints the tables.
"""

from collections.abc import Sequence
from pathlib import Path

import click

from benchmarks.shared.markdown import renew, table
from bncc.papers.s4 import (
    DEFAULT_SIZES,
    MEASURES,
    N_DRAWS,
    Results,
    cells_of,
    compare_to_cl,
    medians,
)
from bncc.papers.s4_study import CL, LEARNERS, NETWORKS, network_files, study

PAGE = Path(__file__).resolve().parents[2] / "docs" / "s4.md"
PER_NETWORK = {"BDeu": ",.0f", "SHD": ".0f", "SHD of patterns": ".0f"}
"""Measures with a table of every network's medians, and their formats."""


def ratio_table(results: Results, sizes: Sequence[int]) -> str:
    """Return S4's table: mean ratio to CL and networks won, the paper's before ours."""
    head = ["", *(f"{n}, {who}" for n in sizes for who in ("paper", "ours"))]
    rows = []
    for measure in MEASURES:
        for learner in LEARNERS:
            name = f"{measure} {learner}"
            row = [name]
            for n in sizes:
                ratio, won = cells_of(results, name, n)
                row += [_pair(ratio[who], won[who]) for who in ("paper", "ours")]
            rows.append(row)
    return table(head, rows)


def _pair(ratio: float | None, won: int | None) -> str:
    return "" if ratio is None and won is None else f"{_ratio(ratio)} ({won})"


def _ratio(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.2f}"


def win_table(results: Results, sizes: Sequence[int]) -> str:
    """Return the numbers of networks, over all sizes, on which CL is better, equal and worse."""
    rows = []
    for measure in MEASURES:
        row = [measure]
        for learner in LEARNERS:
            if learner != CL:
                found = [compare_to_cl(results, n, measure, learner) for n in sizes]
                sums = (
                    sum(getattr(each, key) for each in found) for key in ("lost", "tied", "won")
                )
                row.append("/".join(map(str, sums)))
        rows.append(row)
    return table(["CL wins/ties/losses", *(name for name in LEARNERS if name != CL)], rows)


def median_table(results: Results, sizes: Sequence[int], measure: str) -> str:
    """Return the median of each learner on each network; bold is the best of a row."""
    form, is_more = PER_NETWORK[measure], MEASURES[measure][1]
    rows = []
    for n in sizes:
        values = {name: medians(results, n, measure, name) for name in LEARNERS}
        for network in values[CL]:
            shown = [format(values[name][network], form) for name in LEARNERS]
            numbers = [values[name][network] for name in LEARNERS]
            best = format((max if is_more else min)(numbers), form)
            bold = [f"**{each}**" if each == best else each for each in shown]
            rows.append([f"{network} {n}", *bold])
    return table(["network, rows", *LEARNERS], rows)


def network_table(names: Sequence[str]) -> str:
    """Return the sizes of the networks."""
    rows = [[name, *map(str, NETWORKS[name])] for name in names]
    return table(["network", "variables", "arcs"], rows)


@click.command()
@click.option("--data", required=True, help="Folder of BIF files.")
@click.option(
    "--network", "names", multiple=True, type=click.Choice(tuple(NETWORKS)), default=tuple(NETWORKS)
)
@click.option("--jobs", type=click.IntRange(1), default=1, help="Processes.")
@click.option("--checkpoint", type=Path, help="File of results, from which the study resumes.")
@click.option("--write", is_flag=True, help=f"Update {PAGE.name}.")
def main(
    data: str, names: tuple[str, ...], jobs: int, checkpoint: Path | None, write: bool
) -> None:
    """Run the study on the networks at all sizes of the page."""
    files, sizes = network_files(Path(data), names), DEFAULT_SIZES
    results = study(files, sizes, N_DRAWS, jobs, checkpoint)
    tables = {
        "networks": network_table(names),
        "ratios": ratio_table(results, sizes),
        "wins": win_table(results, sizes),
    }
    tables |= {measure: median_table(results, sizes, measure) for measure in PER_NETWORK}
    if write:
        renew(PAGE, tables)
    for name, text in tables.items():
        click.echo(f"{name}\n\n{text}")


if __name__ == "__main__":
    main()
