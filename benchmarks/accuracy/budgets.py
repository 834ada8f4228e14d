"""
Test error by flash budget: results of `bncc train --max-flash --prefer error` on the papers' rows.

    python -m benchmarks.accuracy.budgets --data ../shared/data -o budgets.jsonl

One search on training rows per data set, flash budget on a Cortex-M4, and seed; test rows evaluate
the final model. Rows are those of the papers' folds, with their raw readings. ``--bins`` takes the
papers' own bins of letter, satimage and usps instead: these are states, which have no differences.

Finished searches stay in the file, so the command can resume. It takes hours; ``--set``,
``--kilobytes`` and ``--seeds`` select some of them. ``--part 1/2`` and ``--part 2/2`` with the same
file do half each, in parallel. ``--write`` updates the table of ``docs/tables.md``.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks.shared.markdown import NOTHING, renew, table
from bncc.data.dataset import Dataset
from bncc.data.readers import read_table
from bncc.data.target import dataset_of
from bncc.resources import Budget
from bncc.search.budget_search import search
from bncc.structure.catalog import SUM
from bncc.train.settings import TrainSettings

KILOBYTES = (1, 4, 16, 64)
TARGET = "cortex-m4"
FOLDS = {"letter": 1, "satimage": 5, "usps": 1, "mnist14": 1, "spambase": 5}
"""Splits of each set: the authors' folds; random halves of spambase, 2301 and 2300 rows."""


LINES: Mapping[str, Sequence[tuple[float, float | None]]] = {
    "letter": ((23.98, None), (8.8, None), (4.4, None), (3.4, None)),
    "satimage": ((10.89, 10.7), (9.48, 9.3), (9.06, 8.8), (8.69, 8.4)),
    "usps": ((6.23, 5.8), (2.38, 2.2), (1.68, 1.6), (1.38, 1.3)),
    "mnist14": ((9.89, 8.5), (3.95, 3.3), (2.27, 1.9), (1.94, 1.6)),
    "spambase": ((5.96, 5.8), (5.65, 5.3)),
}
"""Required test errors in percent, most of them those of an earlier version, and goals."""
RAW = {"letter": "letter", "satimage": "satimage", "usps": "usps_all"}
"""Files of the raw readings of the papers' sets."""
PAGE = Path(__file__).resolve().parents[2] / "docs" / "tables.md"


def parts(data: Path, name: str, fold: int, *, in_bins: bool = False) -> tuple[Dataset, Dataset]:
    """Return training and test rows."""
    if name == "spambase":
        whole = dataset_of(read_table(data / "raw" / "spambase.csv.gz"))
        order = np.random.default_rng(fold).permutation(whole.n_rows)
        return whole.take(order[:2301]), whole.take(order[2301:])
    if name in RAW and not in_bins:
        whole = dataset_of(read_table(data / "raw" / f"{RAW[name]}.csv.gz"))
        with np.load(data / "paper" / "splits.npz") as rows:
            train, test = (rows[f"{name}_{part}_fold{fold}"] for part in ("tr", "te"))
        return whole.take(train), whole.take(test)
    found = read_table(data / "paper" / f"{name}.npz", fold=fold)
    whole = dataset_of(found)
    return whole.take(found.train_rows), whole.take(found.test_rows)


WORDS = {
    "satimage": "satimage, five folds",
    "mnist14": "mnist, 14 x 14",
    "spambase": "spambase, five halves",
}
"""Sets as the page names them."""


def cells(
    names: tuple[str, ...], kilobytes: tuple[int, ...], seeds: int
) -> Iterator[tuple[str, int, int, int]]:
    """Yield set, kilobytes, fold and seed, the first seeds of all first, of these the largest."""
    for seed in range(seeds):
        for size in sorted(kilobytes, reverse=True):
            for name in names:
                for fold in range(1, FOLDS[name] + 1):
                    yield name, size, fold, seed


def entries_of(entries: Sequence[Mapping[str, Any]], *, in_bins: bool) -> list[Mapping[str, Any]]:
    """Return the searches on bins, or those on raw readings."""
    return [one for one in entries if one.get("bins", True) == in_bins]


def part_of(text: str) -> tuple[int, int]:
    """Parse K/N into a part, from 0, and the number of parts."""
    part, _, n_parts = text.partition("/")
    if not (part.isdigit() and n_parts.isdigit() and 1 <= int(part) <= int(n_parts)):
        raise click.BadParameter(f"'{text}' is not K/N; try 1/2", param_hint="--part")
    return int(part) - 1, int(n_parts)


def summary(entries: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of mean test errors by set and budget, with the required errors."""
    rows = []
    for name, lines in LINES.items():
        found = []
        for size, (floor, goal) in zip(KILOBYTES, lines, strict=False):
            mean, n = _mean(entries, name, size)
            found.append(f"{mean} ({n}), {floor:g} / {'-' if goal is None else f'{goal:g}'}")
        rows.append((name, *found, *[NOTHING] * (len(KILOBYTES) - len(lines))))
    heads = (f"{size} KB: found (searches), floor / goal" for size in KILOBYTES)
    return table(("set", *heads), rows)


def page(entries: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of mean test errors by set and budget, without those that are not known."""
    rows = [
        (WORDS.get(name, name), *(_mean(entries, name, size)[0] for size in KILOBYTES))
        for name in LINES
    ]
    return table(("data", *(f"{size} KB" for size in KILOBYTES)), rows)


def _mean(entries: Sequence[Mapping[str, Any]], name: str, size: int) -> tuple[str, int]:
    found = [e["error"] for e in entries if (e["set"], e["kilobytes"]) == (name, size)]
    return f"{100 * np.mean(found):.2f}" if found else NOTHING, len(found)


@click.command()
@click.option("--data", default="../shared/data", help="Folder with `paper` and `raw`.")
@click.option("-o", "--output", default="budgets.jsonl", help="File of results, one per line.")
@click.option("--set", "names", multiple=True, type=click.Choice(list(FOLDS)))
@click.option("--kilobytes", multiple=True, type=int)
@click.option("--seeds", default=3)
@click.option("--part", default="1/1", help="Part K/N of all searches.")
@click.option("--bins", "in_bins", is_flag=True, help="The papers' bins, not raw readings.")
@click.option("--report", "only_report", is_flag=True, help="Only print what is known.")
@click.option("--write", is_flag=True, help="Update the table of docs/tables.md.")
def main(
    data: str,
    output: str,
    names: tuple[str, ...],
    kilobytes: tuple[int, ...],
    seeds: int,
    part: str,
    in_bins: bool,
    only_report: bool,
    write: bool,
) -> None:
    """Run the searches, and print the table."""
    path = Path(output)
    entries = (
        [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    )
    # A file may have searches of both kinds; those of earlier versions are of bins.
    known = entries_of(entries, in_bins=in_bins)
    done = {(e["set"], e["kilobytes"], e["fold"], e["seed"]) for e in known}
    first, step = part_of(part)
    sizes = () if only_report else kilobytes or KILOBYTES
    every = cells(names or tuple(FOLDS), sizes, seeds)
    for name, size, fold, seed in islice(every, first, None, step):
        if (name, size, fold, seed) in done:
            continue
        train, test = parts(Path(data), name, fold, in_bins=in_bins)
        base = TrainSettings(seed=seed, readings="auto" if in_bins else "smallest")
        budget = Budget(TARGET, flash=1024 * size)
        found = search(train, base, budget, families=(SUM,), test=test, prefer="error")
        entry = {
            "set": name,
            "kilobytes": size,
            "fold": fold,
            "seed": seed,
            "bins": in_bins,
            "error": found.result.model.training["error_test"],
            "flash": found.price.flash,
            "seconds": round(found.seconds, 1),
            "options": dict(found.settings.structure_options),
            "bits": found.settings.total_bits,
        }
        with path.open("a", encoding="utf-8") as file:
            print(json.dumps(entry), file=file)
        known.append(entry)
        print(json.dumps(entry), flush=True)
    print(summary(known))
    if write and not in_bins:
        renew(PAGE, {"budgets": page(known)})


if __name__ == "__main__":
    main()
