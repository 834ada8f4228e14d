"""
Test error by flash budget: results of `bncc train --max-flash` on the papers' data sets.

    python -m benchmarks.accuracy.budgets --data ../shared/data -o budgets.jsonl

One search on training rows per data set, flash budget on a Cortex-M4, and seed; test rows evaluate
the final model. Finished searches stay in the file, so the command can resume. It takes hours;
``--set``, ``--kilobytes`` and ``--seeds`` select some of them. ``--part 1/2`` and ``--part 2/2``
with the same file do half each, in parallel.
"""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import click
import numpy as np

from benchmarks.shared.markdown import table
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


LINES = {
    "letter": ((28.0, 25.0), (12.2, 10.5), (5.9, 5.2), (4.7, 4.0)),
    "satimage": ((12.3, 11.5), (10.2, 9.5), (9.3, 8.8), (8.8, 8.2)),
    "usps": ((6.8, 6.0), (2.9, 2.5), (2.2, 1.8), (1.9, 1.5)),
    "mnist14": ((None, 15.0), (5.4, 4.5), (2.9, 2.3), (2.4, 1.8)),
    "spambase": ((6.6, 6.0), (5.9, 5.3), (None, 5.0), (None, None)),
}
"""Required and targeted test errors in percent, by `KILOBYTES`."""


def parts(data: Path, name: str, fold: int) -> tuple[Dataset, Dataset]:
    """Return training and test rows."""
    if name == "spambase":
        whole = dataset_of(read_table(data / "raw" / "spambase.csv.gz"))
        order = np.random.default_rng(fold).permutation(whole.n_rows)
        return whole.take(order[:2301]), whole.take(order[2301:])
    found = read_table(data / "paper" / f"{name}.npz", fold=fold)
    whole = dataset_of(found)
    return whole.take(found.train_rows), whole.take(found.test_rows)


def cells(
    names: tuple[str, ...], kilobytes: tuple[int, ...], seeds: int
) -> Iterator[tuple[str, int, int, int]]:
    """Yield set, kilobytes, fold and seed, the first seeds of all first, of these the largest."""
    for seed in range(seeds):
        for size in sorted(kilobytes, reverse=True):
            for name in names:
                for fold in range(1, FOLDS[name] + 1):
                    yield name, size, fold, seed


def part_of(text: str) -> tuple[int, int]:
    """Parse K/N into a part, from 0, and the number of parts."""
    part, _, n_parts = text.partition("/")
    if not (part.isdigit() and n_parts.isdigit() and 1 <= int(part) <= int(n_parts)):
        raise click.BadParameter(f"'{text}' is not K/N; try 1/2", param_hint="--part")
    return int(part) - 1, int(n_parts)


def summary(entries: list[dict[str, object]]) -> str:
    """Return the table of mean test errors by set and budget, with the required errors."""
    rows = []
    for name in FOLDS:
        found = []
        for size, lines in zip(KILOBYTES, LINES[name], strict=True):
            errors = [
                float(str(entry["error"]))
                for entry in entries
                if (entry["set"], entry["kilobytes"]) == (name, size)
            ]
            floor, goal = ("-" if line is None else f"{line:g}" for line in lines)
            mean = f"{100 * np.mean(errors):.2f} ({len(errors)})" if errors else "?"
            found.append(f"{mean}, {floor} / {goal}")
        rows.append((name, *found))
    heads = (f"{size} KB: found (searches), floor / goal" for size in KILOBYTES)
    return table(("set", *heads), rows)


@click.command()
@click.option("--data", default="../shared/data", help="Folder with `paper` and `raw`.")
@click.option("-o", "--output", default="budgets.jsonl", help="File of results, one per line.")
@click.option("--set", "names", multiple=True, type=click.Choice(list(FOLDS)))
@click.option("--kilobytes", multiple=True, type=int)
@click.option("--seeds", default=3)
@click.option("--part", default="1/1", help="Part K/N of all searches.")
def main(
    data: str,
    output: str,
    names: tuple[str, ...],
    kilobytes: tuple[int, ...],
    seeds: int,
    part: str,
) -> None:
    """Run the searches, and print the table."""
    path = Path(output)
    entries = (
        [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    )
    done = {(e["set"], e["kilobytes"], e["fold"], e["seed"]) for e in entries}
    first, step = part_of(part)
    every = cells(names or tuple(FOLDS), kilobytes or KILOBYTES, seeds)
    for name, size, fold, seed in islice(every, first, None, step):
        if (name, size, fold, seed) in done:
            continue
        train, test = parts(Path(data), name, fold)
        base = TrainSettings(seed=seed)
        budget = Budget(TARGET, flash=1024 * size)
        found = search(train, base, budget, families=(SUM,), test=test, prefer="error")
        entry = {
            "set": name,
            "kilobytes": size,
            "fold": fold,
            "seed": seed,
            "error": found.result.model.training["error_test"],
            "flash": found.price.flash,
            "seconds": round(found.seconds, 1),
            "options": dict(found.settings.structure_options),
            "bits": found.settings.total_bits,
        }
        with path.open("a", encoding="utf-8") as file:
            print(json.dumps(entry), file=file)
        entries.append(entry)
        print(json.dumps(entry), flush=True)
    print(summary(entries))


if __name__ == "__main__":
    main()
