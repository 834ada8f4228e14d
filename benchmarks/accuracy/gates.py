"""
Error rates of boosted tables with and without a gate, and how many tables are added up.

Three folds of a data set's rows: each is classified by tables that have seen the other two. For
each form and place of the gate, the error of all rows, the difference to the tables without a gate
with its standard error on the same rows, and the mean number of tables per decision. Fewer tables
without a gate are the other way to the same time. A gate's test takes about as long as a table,
which is added.

    .venv/bin/python -m benchmarks.accuracy.gates --data ../shared/data/raw
    .venv/bin/python -m benchmarks.accuracy.gates --data ../shared/data/raw --dataset optdigits \
        --tables 40 --rows 16
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bncc._types import AnyArray, BoolArray, FloatArray
from bncc.boosting.boost import Boosted, boost
from bncc.boosting.gate import with_gate
from bncc.boosting.learn import held_out_of, refit_tables
from bncc.boosting.settings import BoostSettings, recipe_of
from bncc.boosting.sums import Samples, sums_of
from bncc.data.readers import read_table
from bncc.data.target import dataset_of
from bncc.train.fit_tables import sum_rows
from bncc.train.settings import TrainSettings

CASES = (
    ("usps_all", BoostSettings(n_tables=60, rows=8)),
    ("satimage", BoostSettings(n_tables=40, rows=16)),
    ("letter", BoostSettings(n_tables=60, rows=16)),
    ("optdigits", BoostSettings(n_tables=60, rows=8)),
    ("optdigits", BoostSettings(n_tables=40, rows=16)),
    ("wisdm_activity", BoostSettings(n_tables=60, rows=8)),
)
FOLDS = 3
FEWER = (0.8, 0.65, 0.5, 0.4, 0.3)
"""Shares of the tables that are tried without a gate."""
PLACES = (0.15, 0.25, 1 / 3)
"""Shares of the tables before a gate."""
GUARDS = (0.01, 0.005, 0.002)
"""Limits on the decisions that a gate changes."""


class Outcome(NamedTuple):
    """Result of one variant on one fold: errors of its rows, and tables per decision."""

    name: str
    misses: BoolArray
    tables: float


def samples_of_file(path: Path) -> Samples:
    """Read all rows of a data set."""
    return sum_rows(dataset_of(read_table(path)), TrainSettings(structure="tables")).samples


def outcomes(rows: Samples, settings: BoostSettings, seed: int) -> Iterator[Outcome]:
    """Yield the results of all variants on all folds."""
    fold_of = np.random.default_rng(seed).permutation(len(rows.y)) % FOLDS
    for fold in range(FOLDS):
        train, test = (_take(rows, mask) for mask in (fold_of != fold, fold_of == fold))
        recipe = recipe_of(settings, train.X.shape[1], train.n_classes)
        boosted = boost(train, settings, recipe)
        yield from _without(boosted, train, test, settings)
        for place in PLACES:
            gated = replace(settings, gate=max(1, round(place * len(boosted.tables))))
            learned = refit_tables(boosted, train, gated, recipe)
            held = held_out_of(train, gated)
            for guard in GUARDS:
                found = with_gate(learned, held, replace(gated, gate_differing=guard))
                early: AnyArray = np.zeros(len(test.y), dtype=np.bool_)
                if found.gate is not None:
                    early = found.gate.decides(sums_of(found, test.X, found.gate.tables))
                n_tables = gated.gate + 1 + (1 - early.mean()) * (len(boosted.tables) - gated.gate)
                misses = found.costs(test.X).argmin(axis=1) != test.y
                yield Outcome(f"gate={gated.gate} gate-differing={guard}", misses, n_tables)


def _without(
    boosted: Boosted, train: Samples, test: Samples, settings: BoostSettings
) -> Iterator[Outcome]:
    for share in (1.0, *FEWER):
        n = max(2, round(share * len(boosted.tables)))
        fewer = replace(settings, n_tables=n)
        recipe = recipe_of(fewer, train.X.shape[1], train.n_classes)
        learned = refit_tables(boosted.first(n), train, fewer, recipe)
        yield Outcome(f"tables={n}", learned.costs(test.X).argmin(axis=1) != test.y, n)


def _take(rows: Samples, mask: BoolArray) -> Samples:
    return replace(rows, X=rows.X[mask], y=rows.y[mask], weights=rows.weights[mask])


def lines(found: Sequence[Outcome]) -> Iterator[str]:
    """Yield a line for each variant, the first of which is the reference."""
    names = list(dict.fromkeys(one.name for one in found))

    def misses(name: str) -> FloatArray:
        return np.concatenate([one.misses for one in found if one.name == name]).astype(float)

    reference = misses(names[0])
    for name in names:
        of, apart = misses(name), misses(name) - reference
        tables = np.mean([one.tables for one in found if one.name == name])
        error = 100 * float(apart.std()) / len(apart) ** 0.5
        yield (
            f"  {name:30} {100 * of.mean():6.2f} %  {100 * apart.mean():+.2f} +- {error:.2f}  "
            f"{tables:5.1f} tables"
        )


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print all cases, or one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with NAME.csv.gz")
    parser.add_argument("--dataset", action="append", choices=sorted({name for name, _ in CASES}))
    parser.add_argument("--tables", type=int)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(words)
    asked = {"n_tables": options.tables, "rows": options.rows}
    given = {name: value for name, value in asked.items() if value is not None}
    cases = [case for case in CASES if case[0] in (options.dataset or [case[0]])]
    for name, settings in dict(cases).items() if given else cases:
        used = replace(settings, **given)
        rows = samples_of_file(options.data / f"{name}.csv.gz")
        print(f"{name}, {used.n_tables} tables of {used.rows} rows, {len(rows.y)} rows of data")
        for line in lines([*outcomes(rows, used, options.seed)]):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
