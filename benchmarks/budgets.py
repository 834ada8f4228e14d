"""Error by budget: what `bncc train --max-flash` finds on the papers' data sets.

    python -m benchmarks.budgets --data ../shared/data -o budgets.jsonl

For each data set, budget of flash on a Cortex-M4 and seed a search on training rows alone; test
rows judge what it ends with. Every search stays in the file, so that the command can go on. It
takes hours; ``--set``, ``--kilobytes`` and ``--seeds`` choose some.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np

from benchmarks.markdown import table
from bncc.data.dataset import Dataset
from bncc.data.readers import read_table
from bncc.data.target import dataset_of
from bncc.search.budget import Budget
from bncc.search.search import search
from bncc.structure.learners import SUM
from bncc.train.settings import TrainSettings

KILOBYTES = (1, 4, 16, 64)
TARGET = "cortex-m4"
FOLDS = {"letter": 1, "satimage": 5, "usps": 1, "mnist14": 1, "spambase": 5}
"""Splits of each set: the authors' folds; of spambase random halves, 2301 and 2300 rows."""


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
    """Yield set, kilobytes, fold and seed, the first seeds of all first."""
    for seed in range(seeds):
        for name in names:
            for size in kilobytes:
                for fold in range(1, FOLDS[name] + 1):
                    yield name, size, fold, seed


def summary(entries: list[dict[str, object]]) -> str:
    """Return mean test errors by set and budget, with the number of searches behind each."""
    rows = []
    for name in FOLDS:
        found = []
        for size in KILOBYTES:
            errors = [
                float(str(entry["error"]))
                for entry in entries
                if (entry["set"], entry["kilobytes"]) == (name, size)
            ]
            found.append(f"{100 * np.mean(errors):.2f} ({len(errors)})" if errors else "")
        rows.append((name, *found))
    return table(("set", *(f"{size} KB" for size in KILOBYTES)), rows)


@click.command()
@click.option("--data", default="../shared/data", help="Holds `paper` and `raw`.")
@click.option("-o", "--output", default="budgets.jsonl", help="What was found, a line each.")
@click.option("--set", "names", multiple=True, type=click.Choice(list(FOLDS)))
@click.option("--kilobytes", multiple=True, type=int)
@click.option("--seeds", default=3)
def main(
    data: str, output: str, names: tuple[str, ...], kilobytes: tuple[int, ...], seeds: int
) -> None:
    """Search, and print the table."""
    path = Path(output)
    entries = (
        [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    )
    done = {(e["set"], e["kilobytes"], e["fold"], e["seed"]) for e in entries}
    for name, size, fold, seed in cells(names or tuple(FOLDS), kilobytes or KILOBYTES, seeds):
        if (name, size, fold, seed) in done:
            continue
        train, test = parts(Path(data), name, fold)
        base = TrainSettings(seed=seed)
        budget = Budget(TARGET, flash=1024 * size)
        found = search(train, base, budget, families=(SUM,), test=test)
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
