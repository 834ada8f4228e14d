"""
Generate the tables of docs/study.md from the studies of `benchmarks.accuracy.study`.

    python -m benchmarks.accuracy.study_page --study study

Each cell is the test error of the trial with the lowest validation error in a family and flash
budget. Nothing is trained or measured; it takes seconds.
"""

from collections.abc import Sequence
from math import sqrt
from pathlib import Path

import click

from benchmarks.accuracy.study import SETS
from benchmarks.shared.markdown import renew, table
from bncc.resources import Budget
from bncc.search.objective import share_of
from bncc.search.study import read_study
from bncc.search.trial_result import Point, Study

PAGE = Path(__file__).resolve().parents[2] / "docs" / "study.md"
TARGET, TIMED = "cortex-m4", "cortex-m0"
"""Targets for flash and for instructions."""
BUDGETS = (1, 4, 16, 64)
"""Flash budgets in KB."""
COUNTS = "trials"
"""Name of the table of study sizes."""


def fitting(points: Sequence[Point], kilobytes: int | None) -> list[Point]:
    """Return the trials whose C fits a budget; without one all, those that have no C too."""
    if kilobytes is None:
        return list(points)
    budget = Budget(TARGET, flash=1024 * kilobytes)
    shares = ((point, share_of(point, budget)) for point in points)
    return [point for point, share in shares if share is not None and share <= 1]


def best(points: Sequence[Point]) -> Point | None:
    """Return the trial of lowest validation error, the first among ties, or None."""
    return min(points, key=lambda point: (point.validation.mean, point.number), default=None)


def errors(study: Study) -> str:
    """
    Return the table of a study: test errors in percent by family and budget, least in bold.

    In brackets are the instructions of a decision. Bayesian networks come first; a family of
    baselines has a star.
    """
    families: dict[tuple[bool, str], list[Point]] = {}
    for point in study.points:
        families.setdefault((not point.is_network, point.family), []).append(point)
    chosen = {
        key: [best(fitting(points, limit)) for limit in (*BUDGETS, None)]
        for key, points in families.items()
    }
    least = [
        min((error for point in column if (error := _error(point)) is not None), default=None)
        for column in zip(*chosen.values(), strict=True)
    ]
    rows = [
        [
            f"{family}{' *' if is_baseline else ''}",
            f"{len(families[is_baseline, family])}",
            *map(_cell, points, least),
        ]
        for (is_baseline, family), points in sorted(chosen.items(), key=lambda entry: entry[0])
    ]
    return table(["family", "trials", *(f"{kb} KB" for kb in BUDGETS), "any size"], rows)


def counts(studies: Sequence[Study]) -> str:
    """Return the table of the number of measured trials and the standard error."""
    rows = []
    for study in studies:
        measured = sum(point.footprint(TARGET) is not None for point in study.points)
        tested = [point.test for point in study.points if point.test is not None]
        least = min(rate.mean for rate in tested)
        chance = 100 * sqrt(least * (1 - least) / tested[0].n)
        cells = [f"{len(study.points)}", f"{measured}", f"{len(study.failed)}", f"{tested[0].n:,}"]
        rows.append([Path(study.name).stem, *cells, f"{chance:.2f}"])
    head = ["data set", "trials", "measured", "failed", "test rows"]
    return table([*head, "standard error of the lowest error"], rows)


def _error(point: Point | None) -> float | None:
    return None if point is None or point.test is None else 100 * point.test.mean


def _cell(point: Point | None, least: float | None) -> str:
    error = _error(point)
    if point is None or error is None:
        return ""
    cost = point.footprint(TIMED)
    said = f"**{error:.2f}**" if error == least else f"{error:.2f}"
    return said if cost is None else f"{said} ({cost.mean:,.0f})"


@click.command()
@click.option("--study", "folder", default="study", help="Output of `benchmarks.accuracy.study`.")
@click.option("-o", "--output", default=str(PAGE), help="Page to update.")
def main(folder: str, output: str) -> None:
    """Update the tables of the data sets that have a study."""
    found = [path for name in SETS if (path := Path(folder) / f"{name}.db").is_file()]
    studies = [study for path in found for study in read_study(str(path))]
    tables = {Path(study.name).stem: errors(study) for study in studies}
    renew(Path(output), {COUNTS: counts(studies), **tables})


if __name__ == "__main__":
    main()
