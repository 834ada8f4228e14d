"""
Fold errors, flash and time of boosted tables with and without differences of two columns.

Equal numbers of tables and rows, columns of integers: those of data sets with fractions are scaled
first. Folds are those of all rows of a set; flash and mean instructions of ``m_predict_raw`` on a
Cortex-M4 are those of the smallest layout of the first fold's model, measured on its held-out rows.

    python -m benchmarks.accuracy.differences --data ../shared/data
    python -m benchmarks.accuracy.differences --data ../shared/data letter vowel --numbers 0 16
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bncc.data.dataset import Column, Dataset, Table
from bncc.data.readers import read_table
from bncc.data.target import dataset_of
from bncc.discretize.feature import states_of
from bncc.model.model import Model
from bncc.model.reference import predict
from bncc.pricing import price_of
from bncc.resources import Budget
from bncc.train.fit_tables import fit_sum
from bncc.train.settings import TrainSettings
from bncc.train.sum_settings import differences_of

TARGET = "cortex-m4"
FOLDS = 4
NUMBERS = (0, 8, 16)


@dataclass(frozen=True)
class Form:
    """A data set below the data folder, its scale, and the form of its tables."""

    file: str
    tables: int
    rows: int
    scale: int = 1  # Factor of readings with fractions, before they are rounded
    folds: int = FOLDS  # Folds of which errors are counted


FORMS = {
    "letter": Form("raw/letter.csv.gz", 60, 16, folds=2),
    "satimage": Form("raw/satimage.csv.gz", 60, 16, folds=2),
    "optdigits": Form("raw/optdigits.csv.gz", 20, 16, folds=2),
    "usps": Form("raw/usps_all.csv.gz", 60, 8, scale=100, folds=2),
    "vehicle": Form("uci/vehicle.arff.gz", 20, 8),
    "vowel": Form("uci/vowel.arff.gz", 20, 16, scale=1000),
    "robot": Form("raw/robot_wall_following_24.csv.gz", 20, 8, scale=1000, folds=2),
    "wisdm": Form("raw/wisdm_activity.csv.gz", 20, 16, scale=100, folds=2),
}


def rows_of(data: Path, form: Form) -> Dataset:
    """Return the numeric columns without missing cells of a set, as integers."""
    dataset = dataset_of(read_table(data / form.file))
    columns = [
        _whole(column, form.scale)
        for column in dataset.table.columns
        if column.kind in ("integer", "float") and not column.missing.any()
    ]
    return replace(dataset, table=Table(tuple(columns)))


def _whole(column: Column, scale: int) -> Column:
    if column.kind == "integer":
        return column
    values = np.clip(np.round(column.values * scale), -(2**15) + 1, 2**15 - 1).astype(np.int64)
    return replace(column, kind="integer", values=values)


def settings_of(form: Form, n: int) -> TrainSettings:
    """Return the options of training with at most n differences."""
    options = {"tables": str(form.tables), "rows": str(form.rows), "differences": str(n)}
    return TrainSettings(structure="tables", structure_options=options, readings="smallest")


def errors_of(dataset: Dataset, form: Form, settings: TrainSettings) -> tuple[float, Model, Table]:
    """Return the mean error over folds, and the first one's model and held-out rows."""
    fold_of = np.random.default_rng(1).permutation(dataset.n_rows) % FOLDS
    errors, first = [], None
    for k in range(form.folds):
        rest, held = (dataset.take(np.flatnonzero(part)) for part in (fold_of != k, fold_of == k))
        model = fit_sum(rest, settings)
        found = predict(model, states_of(model.features, held.table))
        errors.append(float((found != held.with_classes(model.classes).y).mean()))
        first = first or (model, held.table)
    assert first is not None
    return float(np.mean(errors)), *first


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line per set and number of differences."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=list(FORMS), help="names of sets")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--numbers", type=int, nargs="+", default=NUMBERS)
    parser.add_argument("--no-c", action="store_true", help="errors alone")
    given = parser.parse_args(arguments)
    print("set tables rows asked kept error_% flash instructions")
    for name in given.sets:
        form = FORMS[name]
        dataset = rows_of(given.data, form)
        for n in given.numbers:
            settings = settings_of(form, n)
            error, model, held = errors_of(dataset, form, settings)
            kept = model.n_features - len(model.inputs)
            words = [name, form.tables, form.rows, differences_of(settings), kept]
            words.append(f"{100 * error:.2f}")
            if not given.no_c:
                price = price_of(model, Budget(TARGET, None), held.take(np.arange(64)))
                words += [price.flash, f"{price.typical:.0f}"]
            print(*words, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
