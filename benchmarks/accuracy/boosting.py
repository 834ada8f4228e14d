"""
Test error and CPU seconds of boosted tables on the papers' data.

Fold 1 of letter, satimage and usps with the authors' discretization, and of mnist, 14 by 14
pixels of which the upper 4 bits count. Each line is a setting: mean, minimum and maximum test
error of the integer model over seeds, CPU seconds of boosting and of the refit on one thread, and
the peak memory of the process.

    OMP_NUM_THREADS=1 .venv/bin/python -m benchmarks.accuracy.boosting --data ../shared/data
    OMP_NUM_THREADS=1 .venv/bin/python -m benchmarks.accuracy.boosting --data ../shared/data \
        --dataset letter --tables 60 --rows 16 --bits 5 --dictionary 256 --seeds 3
"""

import argparse
import resource
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np

from bncc._types import IntArray
from bncc.boosting.boost import boost
from bncc.boosting.learn import refit, samples_of
from bncc.boosting.settings import BoostSettings, recipe_of
from bncc.data.readers import read_table
from bncc.data.target import fold_parts
from bncc.discretize.feature import states_of
from bncc.discretize.fit import fit_features

FILES = ("letter", "satimage", "usps", "mnist14")
SHIFTS = {"mnist14": 4}
"""Number of dropped low bits of a reading, by data set."""
CASES = (
    ("letter", BoostSettings(n_tables=60)),
    ("letter", BoostSettings(n_tables=130)),
    ("letter", BoostSettings(n_tables=60, bits=5, dictionary=256)),
    ("usps", BoostSettings(n_tables=60, rows=8)),
    ("usps", BoostSettings(n_tables=130, rows=8)),
    ("satimage", BoostSettings(n_tables=20)),
    ("mnist14", BoostSettings(n_tables=150, bits=4)),
)


class Rows(NamedTuple):
    """Training and test rows as states."""

    X: IntArray
    y: IntArray
    X_test: IntArray
    y_test: IntArray


class Outcome(NamedTuple):
    """Result of one training: error in percent, CPU seconds."""

    error: float
    boosting: float
    refit: float


def rows_of(data: Path, name: str) -> Rows:
    """Read fold 1 of a data set."""
    path = data / "paper" / f"{name}.npz"
    train, test = fold_parts(read_table(path, fold=1), fold=1)
    assert test is not None
    features = fit_features(train.table, train.y, "none")
    X, X_test = (states_of(features, part.table) >> SHIFTS.get(name, 0) for part in (train, test))
    return Rows(X, train.y, X_test, test.y)


def learn(rows: Rows, settings: BoostSettings) -> Outcome:
    """Train once, and return the test error of the integers."""
    n_classes = int(rows.y.max()) + 1
    n_states = rows.X.max(axis=0) + 1
    samples = samples_of(rows.X, rows.y, n_states.tolist(), n_classes)
    recipe = recipe_of(settings, rows.X.shape[1], n_classes)
    begin = process_time()
    boosted = boost(samples, settings, recipe)
    between = process_time()
    learned = refit(boosted, samples, settings, recipe)
    end = process_time()
    wrong = learned.costs(rows.X_test).argmin(axis=1) != rows.y_test
    return Outcome(100 * float(wrong.mean()), between - begin, end - between)


def cases(options: argparse.Namespace) -> Iterator[tuple[str, BoostSettings]]:
    """Yield the settings of the table, or the one from the command line."""
    asked = {
        "n_tables": options.tables, "rows": options.rows, "bits": options.bits,
        "dictionary": options.dictionary, "features": options.features,
    }  # fmt: skip
    given = {name: value for name, value in asked.items() if value is not None}
    if given:
        yield from ((name, BoostSettings(**given)) for name in options.dataset or FILES)
    else:
        yield from (case for case in CASES if case[0] in (options.dataset or FILES))


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print all settings."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with paper/")
    parser.add_argument("--dataset", action="append", choices=FILES)
    for name in ("tables", "rows", "bits", "dictionary", "features"):
        parser.add_argument(f"--{name}", type=int)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args(words)
    for name, settings in cases(options):
        rows = rows_of(options.data, name)
        seeds = range(options.seeds)
        outcomes = [learn(rows, replace(settings, seed=seed)) for seed in seeds]
        errors, *seconds = np.array(outcomes).T
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{name} {settings.n_tables} tables of {settings.rows} rows, {settings.bits} bits, "
            f"dictionary {settings.dictionary}: {errors.mean():.2f} % "
            f"({errors.min():.2f} .. {errors.max():.2f}), boosting {seconds[0].mean():.1f} s, "
            f"refit {seconds[1].mean():.1f} s, {memory:.0f} MB",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
