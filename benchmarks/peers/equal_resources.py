"""
bncc against trees and forests within the same flash and time: the table of the README.

    python -m benchmarks.peers.equal_resources --write

Measures nothing. The figures are those of ``docs/peers.md`` and ``docs/twenty.md``, which
`benchmarks.peers.peer_points` and `benchmarks.accuracy.twenty_sets` write. On the first page, bncc
is within the limits of a baseline, and only the frontier counts: the trees, forests and boosted
trees that no other baseline dominates. On the second, the best baselines are within ours.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import click

from benchmarks.shared.markdown import NOTHING, held, renew, table

PAPERS = ("letter", "satimage", "usps")
TREES = ("dt",)
FORESTS = ("rf", "et", "xgb")
"""Prefixes of the names of single trees, and of forests and boosted trees."""
OURS = "flash, 1.5 x instructions of bncc"
KILOBYTES, MAIN = (1, 4, 16), 4
"""Budgets of the twenty sets, and the one that the README begins with."""
HEAD = ("data", "baselines", "limits", "as accurate", "median error", "losses, error", "no fit")
ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
README = ROOT / "README.md"


@dataclass(frozen=True)
class Point:
    """A classifier: percent of test rows, bytes of flash, instructions of a decision."""

    error: float
    flash: int
    instructions: int


@dataclass(frozen=True)
class Pair:
    """A baseline and a model of bncc, None where none is within the limits of the other."""

    name: str
    baseline: Point | None
    ours: Point | None

    @property
    def errors(self) -> tuple[float, float] | None:
        """The test errors of the baseline and of ours, None if there is only one."""
        if self.baseline is None or self.ours is None:
            return None
        return self.baseline.error, self.ours.error

    @property
    def is_as_accurate(self) -> bool:
        """True if ours has no larger test error."""
        return self.errors is not None and self.errors[1] <= self.errors[0]


def frontier(page: str, data: str, kinds: Sequence[str]) -> Iterator[Pair]:
    """Yield the frontier's baselines whose names begin as ``kinds`` do, from the page of peers."""
    for name, _, *theirs, _, error, flash, instructions in _rows(page, data):
        if name.startswith(tuple(f"**{kind}" for kind in kinds)):
            ours = _point(error, flash, instructions) if error else None
            yield Pair(name.strip("*"), _point(*theirs), ours)


def within_ours(page: str, kilobytes: int, baseline: str) -> Iterator[Pair]:
    """Yield the best tree or forest within the limits of our choice, for each of twenty sets."""
    begin = {"tree": 6, "forest": 10}[baseline]
    for row in _rows(page, f"sets-{kilobytes}"):
        theirs = row[begin : begin + 3]
        yield Pair(row[0], None if NOTHING in theirs else _point(*theirs), _point(*row[2:5]))


def summary(pairs: Sequence[Pair]) -> tuple[str, str, str, str]:
    """Return the last four cells of a row, for the baselines of one kind."""
    fits = [pair.errors for pair in pairs if pair.errors is not None]
    middle = " / ".join(f"{median(column):.2f}" for column in zip(*fits, strict=True))
    losses = [f"{theirs:.2f} / {ours:.2f}" for theirs, ours in fits if ours > theirs]
    return (
        of_baselines(pairs), middle, ", ".join(losses) or "none", str(len(pairs) - len(fits))
    )  # fmt: skip


def of_baselines(pairs: Sequence[Pair]) -> str:
    """Return how many baselines are matched in error, in words."""
    n_matched = sum(pair.is_as_accurate for pair in pairs)
    return f"{n_matched} of {sum(pair.baseline is not None for pair in pairs)}"


def against_papers(page: str) -> dict[tuple[str, str], list[Pair]]:
    """Return the pairs of each data set and kind of baseline on the frontier."""
    kinds = {"trees": TREES, "forests": FORESTS}
    return {
        (data, kind): list(frontier(page, data, begins))
        for data in PAPERS
        for kind, begins in kinds.items()
    }


def equal(peers: str, twenty: str) -> str:
    """Return the table, from the texts of both pages; of budgets that few sets have, no row."""
    rows = [
        (data, kind, "flash, instructions", *summary(pairs))
        for (data, kind), pairs in against_papers(peers).items()
    ]
    for kilobytes in KILOBYTES:
        for baseline in ("tree", "forest"):
            pairs = list(within_ours(twenty, kilobytes, baseline))
            if len(pairs) == len(list(within_ours(twenty, MAIN, baseline))):
                data = f"{len(pairs)} sets, {kilobytes} KB"
                rows.append((data, f"best {baseline}", OURS, *summary(pairs)))
    return table(HEAD, rows)


def pages() -> tuple[str, str]:
    """Return the texts of the two pages."""
    return (DOCS / "peers.md").read_text("utf-8"), (DOCS / "twenty.md").read_text("utf-8")


def chosen(kind: str) -> list[Pair]:
    """Return the choices in 4 KB and the best trees or forests within their limits."""
    return list(within_ours(pages()[1], MAIN, kind))


def taken(points: Sequence[Point | None]) -> str:
    """Return the smallest and the largest flash and instructions of some classifiers, in words."""
    known = [point for point in points if point is not None]
    columns = zip(*((point.flash, point.instructions) for point in known), strict=True)
    flash, instructions = (f"{min(column):,} to {max(column):,}" for column in columns)
    return f"{flash} bytes and {instructions} instructions"


def _rows(page: str, name: str) -> Iterator[list[str]]:
    for line in held(page, name).splitlines()[2:]:
        yield [cell.strip() for cell in line.strip("|").split("|")]


def _point(error: str, flash: str, instructions: str) -> Point:
    return Point(float(error), *(int(cell.replace(",", "")) for cell in (flash, instructions)))


def write() -> None:
    """Update the table of the README."""
    renew(README, {"equal": equal(*pages())})


@click.command()
@click.option("--write", "is_written", is_flag=True, help="Update the README.")
def main(is_written: bool) -> None:
    """Print the table, and how often the best tree and forest are matched at equal flash."""
    print(equal(*pages()), end="")
    for kind in ("tree", "forest"):
        matched = of_baselines(chosen(kind))
        print(f"in {MAIN} KB: as accurate as the best {kind} within the limits on {matched} sets")
    pairs = chosen("tree")
    print(f"bncc: {taken([pair.ours for pair in pairs])}")
    print(f"trees: {taken([pair.baseline for pair in pairs])}")
    if is_written:
        write()


if __name__ == "__main__":
    main()
