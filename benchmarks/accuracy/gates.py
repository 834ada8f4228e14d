"""
Errors of boosted tables with a gate, and without one in the same time.

Each fold of the training rows is classified by tables that saw the others. A gate behind a third
of the tables is compared with fewer tables without a gate: as many as it adds up per decision on
average, its test included, which takes about as long as a table.

    python -m benchmarks.accuracy.gates --data ../shared/data
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist

import click
import numpy as np

from benchmarks.shared.markdown import renew, table
from benchmarks.shared.sensor_sets import parts
from bncc._types import AnyArray, BoolArray
from bncc.boosting.boost import boost
from bncc.boosting.gate import with_gate
from bncc.boosting.learn import held_out_of, refit_tables
from bncc.boosting.settings import BoostSettings, recipe_of
from bncc.boosting.sums import Learned, Samples, sums_of, taken
from bncc.data.readers import read_table
from bncc.data.target import fold_parts
from bncc.train.fit_tables import sum_rows
from bncc.train.settings import TrainSettings

PAGE = Path("docs/structures.md")
PAPER = ("letter", "satimage", "usps")
SETS = (*PAPER, "wisdm_activity", "dry_bean", "optdigits", "vowel", "krkopt")
"""Sets of the papers and of `benchmarks.accuracy.twenty_sets` with six classes or more."""
FORM = BoostSettings(n_tables=42, rows=16, gate=14)
FOLDS = 3
CLEAR = NormalDist().inv_cdf(1 - 0.05 / 2 / len(SETS))
"""Standard errors of a clear difference, p = 0.05 with Bonferroni's correction for the sets."""


def samples_of(data: Path, name: str) -> Samples:
    """Return the training rows of a set, fold 1 of those of the papers."""
    if name in PAPER:
        train, _ = fold_parts(read_table(data / "paper" / f"{name}.npz", fold=1), fold=1)
    else:
        train, _ = parts(data, name)
    return sum_rows(train, TrainSettings(structure="tables")).samples


def row_of(samples: Samples, name: str) -> Sequence[str]:
    """Return the errors of a set with all tables, with a gate, and with fewer tables."""
    fold_of = np.random.default_rng(0).permutation(len(samples.y)) % FOLDS
    wrong = {kind: np.zeros(len(fold_of), bool) for kind in ("all", "gate", "fewer")}
    is_early = np.zeros(len(fold_of), bool)
    grown = []
    for fold in range(FOLDS):
        held = fold_of == fold
        train, test = taken(samples, ~held), taken(samples, held)
        recipe = recipe_of(FORM, train.X.shape[1], train.n_classes)
        boosted = boost(train, replace(FORM, gate=0), recipe)
        grown.append((train, test, held, boosted))
        whole = refit_tables(boosted, train, replace(FORM, gate=0), recipe)
        learned = with_gate(
            refit_tables(boosted, train, FORM, recipe), held_out_of(train, FORM), FORM
        )
        wrong["all"][held] = _misses(whole, test)
        wrong["gate"][held] = _misses(learned, test)
        is_early[held] = _early(learned, test)
    n_added = FORM.gate + 1 + (1 - is_early.mean()) * (FORM.n_tables - FORM.gate)
    fewer = replace(FORM, gate=0, n_tables=min(FORM.n_tables, round(n_added)))
    for train, test, held, boosted in grown:
        recipe = recipe_of(fewer, train.X.shape[1], train.n_classes)
        learned = refit_tables(boosted.first(fewer.n_tables), train, fewer, recipe)
        wrong["fewer"][held] = _misses(learned, test)
    errors = {kind: f"{100 * rows.mean():.2f}" for kind, rows in wrong.items()}
    gain = 100 * (wrong["fewer"].astype(float) - wrong["gate"])
    by, error = float(gain.mean()), float(gain.std()) / len(gain) ** 0.5
    mark = "**" if abs(by) > CLEAR * error else ""
    cells = [name, errors["all"], errors["gate"], f"{n_added:.1f}", errors["fewer"]]
    return [*cells, f"{mark}{by:+.2f}{mark}", f"{error:.2f}"]


def _misses(learned: Learned, test: Samples) -> BoolArray:
    return np.asarray(learned.costs(test.X).argmin(axis=1) != test.y)


def _early(learned: Learned, test: Samples) -> BoolArray:
    """Return the rows that the first tables decide."""
    if learned.gate is None:
        return np.zeros(len(test.y), bool)
    first: AnyArray = sums_of(learned, test.X, learned.gate.tables)
    return np.asarray(learned.gate.decides(first))


@click.command()
@click.option("--data", type=Path, default="../shared/data", help="Folder with `paper` and `raw`.")
@click.option("--sets", default=",".join(SETS), help="Data sets, separated by commas.")
@click.option("--write", is_flag=True, help="Update the page.")
def main(data: Path, sets: str, write: bool) -> None:
    """Print a line per set."""
    if write and sets != ",".join(SETS):
        raise click.UsageError("--write needs all sets; leave out --sets")
    rows = []
    for name in sets.split(","):
        rows.append(row_of(samples_of(data, name), name))
        print(*rows[-1], flush=True)
    if write:
        heads = ("set", "all tables", "gate", "tables added", "fewer", "difference", "std. error")
        renew(PAGE, {"gates": table(heads, rows)})


if __name__ == "__main__":
    main()
