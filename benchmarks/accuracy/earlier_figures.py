"""
Figures of the searches of `benchmarks.accuracy.earlier_choice`, in ``earlier_choice.csv``.

    python -m benchmarks.accuracy.earlier_figures ../earlier_choice

Collects the results of that program's folder, with the test rows in error of each. A second.
"""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np

from benchmarks.shared.decisions import Figures, packed

PATH = Path(__file__).with_name("earlier_choice.csv")
HEAD = (
    "set", "budget", "classes", "error", "flash", "mean", "worst", "n_test", "words", "misses",
)  # fmt: skip


def collected(folder: Path) -> Iterator[tuple[object, ...]]:
    """Yield the cells of each result in a folder, by set and budget."""
    facts = [json.loads(path.read_text("utf-8")) for path in folder.glob("*.json")]
    fitting = [one for one in facts if one is not None]
    for one in sorted(fitting, key=lambda one: (one["set"], one["budget"])):
        with np.load(folder / f"{one['set']}.{one['budget']}.npz") as rows:
            missed = rows["said"] != rows["y"]
        if (int(missed.sum()), len(missed)) != (one["wrong"], one["n_test"]):
            raise ValueError(f"the decisions of {one['set']} at {one['budget']} B do not match")
        error = f"{100 * one['wrong'] / one['n_test']:.2f}"
        yield (
            one["set"], one["budget"], one["n_classes"], error, one["flash"], f"{one['mean']:.1f}",
            one["worst"], one["n_test"], one["words"], packed(missed),
        )  # fmt: skip


def earlier(path: Path = PATH) -> dict[tuple[str, int], Figures]:
    """Return the figures by set and budget."""
    with path.open(encoding="utf-8", newline="") as stream:
        return {
            (row["set"], int(row["budget"])): Figures(
                words=row["words"], misses=row["misses"], n_test=int(row["n_test"]),
                flash=int(row["flash"]), mean=float(row["mean"]), worst=int(row["worst"]),
                learned=float(row["mean"]),
            )
            for row in csv.DictReader(stream)
        }  # fmt: skip


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(folder: Path) -> None:
    """Write the figures of all results in a folder."""
    with PATH.open("w", encoding="utf-8", newline="") as stream:
        write = csv.writer(stream, lineterminator="\n")
        write.writerow(HEAD)
        write.writerows(collected(folder))


if __name__ == "__main__":
    main()
