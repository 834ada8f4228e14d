"""
bncc against trees and forests at equal flash and equal instructions: the table of the README.

    python -m benchmarks.peers.equal_resources --write

Measures nothing. The figures are those of ``docs/peers.md`` and ``docs/twelve.md``, which
`benchmarks.peers.peer_points` and `benchmarks.peers.twelve_sets` write. Only the frontier of
the first page counts: the trees, forests and boosted trees that no other baseline dominates.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import click

from benchmarks.shared.markdown import held, renew, table

PAPERS = ("letter", "satimage", "usps")
TREES = ("dt",)
FORESTS = ("rf", "et", "xgb")
"""Prefixes of the names of single trees, and of forests and boosted trees."""
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
    """A baseline and the model of bncc within its limits, or None where there is none."""

    name: str
    baseline: Point
    ours: Point | None

    @property
    def is_as_accurate(self) -> bool:
        """True if ours has no larger test error."""
        return self.ours is not None and self.ours.error <= self.baseline.error


def frontier(page: str, data: str, kinds: Sequence[str]) -> Iterator[Pair]:
    """Yield the frontier's baselines whose names begin as ``kinds`` do, from the page of peers."""
    for name, _, *theirs, _, error, flash, instructions in _rows(page, data):
        if name.startswith(tuple(f"**{kind}" for kind in kinds)):
            ours = _point(error, flash, instructions) if error else None
            yield Pair(name.strip("*"), _point(*theirs), ours)


def sensors(page: str, baseline: str, *, is_timed: bool) -> Iterator[Pair]:
    """Yield the best tree or forest of each sensor set; ``is_timed`` limits instructions too."""
    begin = {"tree": 7, "forest": 10}[baseline]
    for row in _rows(page, "sets"):
        ours, theirs = _point(*row[4:7]), _point(*row[begin : begin + 3])
        fits = not is_timed or ours.instructions <= theirs.instructions
        yield Pair(row[0], theirs, ours if fits else None)


def summary(pairs: Sequence[Pair]) -> tuple[str, str, str, str]:
    """Return the last four cells of a row, for the baselines of one kind."""
    fits = [(pair.baseline.error, pair.ours.error) for pair in pairs if pair.ours is not None]
    middle = " / ".join(f"{median(column):.2f}" for column in zip(*fits, strict=True))
    losses = [f"{theirs:.2f} / {ours:.2f}" for theirs, ours in fits if ours > theirs]
    n_matched = sum(pair.is_as_accurate for pair in pairs)
    return (
        f"{n_matched} of {len(pairs)}", middle, ", ".join(losses) or "none",
        str(len(pairs) - len(fits)),
    )  # fmt: skip


def against_papers(page: str) -> dict[tuple[str, str], list[Pair]]:
    """Return the pairs of each data set and kind of baseline on the frontier."""
    kinds = {"trees": TREES, "forests": FORESTS}
    return {
        (data, kind): list(frontier(page, data, begins))
        for data in PAPERS
        for kind, begins in kinds.items()
    }


def equal(peers: str, twelve: str) -> str:
    """Return the table, from the texts of both pages."""
    rows = [
        (data, kind, "flash, instructions", *summary(pairs))
        for (data, kind), pairs in against_papers(peers).items()
    ]
    for is_timed, limits in enumerate(("4 KB of flash", "4 KB of flash, instructions")):
        for baseline in ("tree", "forest"):
            pairs = list(sensors(twelve, baseline, is_timed=bool(is_timed)))
            rows.append(("12 sensor sets", f"best {baseline}", limits, *summary(pairs)))
    return table(HEAD, rows)


def pages() -> tuple[str, str]:
    """Return the texts of the two pages."""
    return (DOCS / "peers.md").read_text("utf-8"), (DOCS / "twelve.md").read_text("utf-8")


def at_equal_flash(kind: str) -> tuple[int, int]:
    """Return on how many sensor sets the best tree or forest is matched, and the number of sets."""
    pairs = list(sensors(pages()[1], kind, is_timed=False))
    return sum(pair.is_as_accurate for pair in pairs), len(pairs)


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
        matched, n_sets = at_equal_flash(kind)
        print(f"at 4 KB of flash: as accurate as the best {kind} on {matched} of {n_sets} sets")
    if is_written:
        write()


if __name__ == "__main__":
    main()
