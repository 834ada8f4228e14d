"""
The tables of docs/s2.md: S2's study with its ten repeats, with one, and cut on all rows.

    nice .venv/bin/python -m benchmarks.accuracy.s2_page --data DIR --jobs 2 \
        --checkpoint study.jsonl --write

takes some twenty minutes on two cores; the same command resumes. Without ``--write`` it prints the
tables.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from benchmarks.shared.markdown import renew, table
from bncc.papers.s2 import TABLES, Comparison, Row
from bncc.papers.s2_data import LEFT_OUT, Protocol, set_files
from bncc.papers.s2_study import AODE, NETWORKS, SetResult, study

PAGE = Path(__file__).resolve().parents[2] / "docs" / "s2.md"
PROTOCOLS: Mapping[str, Protocol] = {
    "10 x 10": Protocol(n_repeats=10), "1 x 10": Protocol(),
    "1 x 10, cut on all rows": Protocol(whole_set=True),
}  # fmt: skip
"""Protocols by table head; the first is compared with the paper."""
LEVEL = 0.05
"""Significance level."""
LEARNERS = (*NETWORKS, AODE)

Studies = Mapping[str, Sequence[SetResult]]


def verdict(row: Row, ours: Comparison) -> str:
    """
    Return the study that finds a difference: both, paper, ours, neither, or opposed.

    Directions are those of wins and losses. The paper gives no p-value for claims in its text
    alone; for these, more wins count as a finding.
    """
    wins, _, losses, _, p = row.paper
    paper_finds = p is None or p < LEVEL
    we_find = ours.p is not None and ours.p < LEVEL
    if paper_finds and we_find:
        return "both" if (wins > losses) == (ours.wins > ours.losses) else "opposed"
    return "paper" if paper_finds else "ours" if we_find else "neither"


def comparison_table(name: str, studies: Studies) -> str:
    """Return one of the paper's tables next to ours."""
    head = ["W/T/L (p)", "paper", *studies, "median", "p < 0.05 in"]
    rows = []
    for row in TABLES[name]:
        found = {title: row.compare(results) for title, results in studies.items()}
        first = next(iter(found.values()))
        wins, ties, losses, median, p = row.paper
        paper = f"{wins}/{ties}/{losses}" + ("" if p is None else f" ({p:.2g})")
        medians = f"{first.median:.4f}" if median is None else f"{median:.4f}, {first.median:.4f}"
        cells = [_cell(each) for each in found.values()]
        rows.append([row.name, paper, *cells, medians, verdict(row, first)])
    return table(head, rows)


def _cell(found: Comparison) -> str:
    p = "" if found.p is None else f" ({found.p:.2g})"
    return f"{found.wins}/{found.ties}/{found.losses}{p}"


def set_table(results: Mapping[str, SetResult]) -> str:
    """Return error and log loss of each learner on each set; bold is the lowest error of a row."""
    rows = []
    for name, result in results.items():
        least = min(result.error[learner] for learner in LEARNERS)
        rows.append([name, f"{result.n_rows:,}"])
        for learner in LEARNERS:
            error = f"{result.error[learner]:.2f}"
            bold = f"**{error}**" if result.error[learner] == least else error
            rows[-1].append(f"{bold} ({result.log_loss[learner]:.3f})")
    n = len(results)
    means = [
        f"{sum(r.error[learner] for r in results.values()) / n:.2f} "
        f"({sum(r.log_loss[learner] for r in results.values()) / n:.3f})"
        for learner in LEARNERS
    ]
    return table(["set", "rows", *LEARNERS], [*rows, ["mean", "", *means]])


def left_out_table() -> str:
    """Return the excluded sets with the reasons."""
    return table(["set", "why"], [[name, why] for name, why in LEFT_OUT.items()])


@click.command()
@click.option("--data", required=True, help="Folder of ARFF files.")
@click.option("--jobs", type=click.IntRange(1), default=1, help="Processes.")
@click.option("--checkpoint", type=Path, help="File of results, from which the study resumes.")
@click.option("--write", is_flag=True, help=f"Update {PAGE.name}.")
def main(data: str, jobs: int, checkpoint: Path | None, write: bool) -> None:
    """Run the study on all sets with every protocol."""
    files = set_files(Path(data))
    found = {
        title: study(files, protocol, jobs, checkpoint) for title, protocol in PROTOCOLS.items()
    }
    studies = {title: list(results.values()) for title, results in found.items()}
    tables = {name: comparison_table(name, studies) for name in TABLES}
    tables["sets"] = set_table(next(iter(found.values())))
    tables["left-out"] = left_out_table()
    if write:
        renew(PAGE, tables)
    for name, text in tables.items():
        click.echo(f"{name}\n\n{text}")


if __name__ == "__main__":
    main()
