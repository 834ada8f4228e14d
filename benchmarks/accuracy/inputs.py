"""
Errors of boosted tables by the limit on the features that they read.

Each fold of the training rows is classified by tables that saw the others, and that selected their
features without it.

    python -m benchmarks.accuracy.inputs --data ../shared/data
"""

from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np

from benchmarks.shared.markdown import NOTHING, renew, table
from benchmarks.shared.sensor_sets import parts
from bncc.data.dataset import Dataset
from bncc.discretize.feature import states_of
from bncc.model.reference import predict
from bncc.train.fit_tables import fit_sum
from bncc.train.settings import TrainSettings

PAGE = Path("docs/tables.md")
SETS = (
    "madelon", "optdigits", "wisdm_activity", "waveform5000", "kr.vs.kp", "har_exercise",
    "robot_wall_following_24",
)  # fmt: skip
"""The sets of `benchmarks.accuracy.twenty_sets` with 24 columns or more."""
FORMS = {
    "products": {"tables": "20", "rows": "32", "cuts": "31"},
    "trees": {"tables": "20", "leaves": "16"},
}
LIMITS = (0, 32, 16, 8)
FOLDS = 5


def error_of(train: Dataset, settings: TrainSettings) -> float:
    """Return the mean error over folds of training rows, which the splits of the set separate."""
    n_folds = train.split.most_folds(train.n_rows)
    fold_of = train.split.folds(train.y, min(FOLDS, n_folds), settings.seed)
    missed = np.zeros(train.n_rows, bool)
    for k in range(int(fold_of.max()) + 1):
        rest, held = (train.take(np.flatnonzero(part)) for part in (fold_of != k, fold_of == k))
        model = fit_sum(rest, settings)
        found = predict(model, states_of(model.features, held.table))
        missed[fold_of == k] = found != held.with_classes(model.classes).y
    return float(missed.mean())


def row_of(train: Dataset, name: str, form: str) -> Sequence[str]:
    """Return the errors of a set and a form of tables, by the limit."""
    n_columns = len(train.table.columns)
    cells = [name, form, str(n_columns)]
    for limit in LIMITS:
        if limit >= n_columns:
            cells.append(NOTHING)
            continue
        options = FORMS[form] | ({"inputs": str(limit)} if limit else {})
        settings = TrainSettings(structure="tables", structure_options=options)
        cells.append(f"{100 * error_of(train, settings):.2f}")
    return cells


@click.command()
@click.option("--data", type=Path, default="../shared/data", help="Folder with `raw` and `uci`.")
@click.option("--sets", default=",".join(SETS), help="Data sets, separated by commas.")
@click.option("--write", is_flag=True, help="Update the page.")
def main(data: Path, sets: str, write: bool) -> None:
    """Print a line per set and form of tables."""
    if write and sets != ",".join(SETS):
        raise click.UsageError("--write needs all sets; leave out --sets")
    rows = []
    for name in sets.split(","):
        train, _ = parts(data, name)
        for form in FORMS:
            rows.append(row_of(train, name, form))
            print(*rows[-1], flush=True)
    if write:
        heads = ("set", "tables", "columns", "all", *(str(limit) for limit in LIMITS[1:]))
        renew(PAGE, {"inputs": table(heads, rows)})


if __name__ == "__main__":
    main()
