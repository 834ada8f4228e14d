"""
Validation errors of branching tables, by leaves and settings of boosting.

Six sets of two to seven classes in ``data/raw``: 30 % of the rows are left out as test rows, and a
fifth of the others is the validation set, another one in each split. Readings are scaled to the
range of int16; cuts are quantiles of their high bytes (``--high-bytes 0``: of all bits). There are
as many trees as fit in a budget by measured sizes: 6.5 bytes a node whose high byte decides, 12.5
another, and 3 bytes a leaf, plus a row of byte lanes for more than two classes. Lines have mean
errors in percent with 8, 16, 32 and 64 leaves, or 8, 16 and 32 rows; the first is that of all sets.

    OMP_NUM_THREADS=1 python -m benchmarks.accuracy.branching --data ../shared/data
    OMP_NUM_THREADS=1 python -m benchmarks.accuracy.branching --data ../shared/data \
        --budget 1024 --set eta=0.4 --set lr=0.03
    OMP_NUM_THREADS=1 python -m benchmarks.accuracy.branching --data ../shared/data --product
"""

import argparse
import sys
from ast import literal_eval
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bncc._types import AnyArray, IntArray
from bncc.boosting.learn import learn_tables
from bncc.boosting.settings import TREE_REFIT, BoostSettings
from bncc.data.readers import read_table
from bncc.data.target import dataset_of
from bncc.discretize.binning import quantile_cuts
from bncc.train.sum_settings import BINARY_TREE_BITS, TREE_BITS

SETS = (
    "phoneme", "magic04", "robot_wall_following_24", "wifi_localization", "dry_bean", "satimage",
)  # fmt: skip
LEAVES = (8, 16, 32, 64)
ROWS = (8, 16, 32)
NODE = {True: 6.5, False: 12.5}
"""Bytes of a node, by whether the high byte decides."""
OTHER_BYTES = 200
LARGEST = 2**15 - 1


class Rows(NamedTuple):
    """Training rows of a set, without test rows."""

    X: AnyArray
    y: IntArray
    n_classes: int


class Split(NamedTuple):
    """States of the rows to learn from, and of validation rows."""

    X: IntArray
    y: IntArray
    X_held: IntArray
    y_held: IntArray
    n_states: list[int]
    n_classes: int


def rows_of(data: Path, name: str) -> Rows:
    """Read a set, and leave out its test rows."""
    dataset = dataset_of(read_table(data / "raw" / f"{name}.csv.gz"))
    X = np.stack([column.values.astype(float) for column in dataset.table.columns], axis=1)
    order = np.random.default_rng(12345).permutation(len(X))
    kept = order[int(0.3 * len(X)) :]
    return Rows(X[kept], dataset.y[kept], len(dataset.classes))


def split_of(rows: Rows, k: int, n_cuts: int, *, has_high_bytes: bool) -> Split:
    """Hold out the validation rows of split k, and cut readings into states."""
    order = np.random.default_rng([7, k]).permutation(len(rows.X))
    held, kept = np.split(order, [len(order) // 5])
    low, high = rows.X[kept].min(axis=0), rows.X[kept].max(axis=0)
    scaled = (rows.X - low) / np.maximum(high - low, 1e-12) * 2 * LARGEST - LARGEST
    whole = np.clip(np.round(scaled), -LARGEST, LARGEST).astype(np.int64)
    whole = whole >> 8 if has_high_bytes else whole
    states, n_states = np.empty_like(whole), []
    for f in range(whole.shape[1]):
        cuts = np.unique(np.floor(quantile_cuts(whole[kept, f], n_cuts + 1)))
        states[:, f] = np.searchsorted(cuts, whole[:, f])
        n_states.append(len(cuts) + 1)
    parts = states[kept], rows.y[kept], states[held], rows.y[held]
    return Split(*parts, n_states, rows.n_classes)


def n_trees(leaves: int, n_classes: int, budget: int, *, has_high_bytes: bool) -> int:
    """Return the trees that fit."""
    of_leaf = 3 if n_classes == 2 else 3 + 4 * -(-n_classes // 4)
    size = (leaves - 1) * NODE[has_high_bytes] + leaves * of_leaf
    return max(1, int((budget - OTHER_BYTES) / size))


def n_products(rows: int, n_classes: int, budget: int) -> int:
    """Return the product tables that fit into a loop: 58 bytes of 8 rows and 104 of 16, C = 10."""
    row = -(-n_classes // 2)
    n_cuts = rows.bit_length() - 1
    return max(1, int((budget - OTHER_BYTES) / (rows * row + 6 * n_cuts)))


def settings_of(leaves: int, n_tables: int, n_classes: int, **given: Any) -> BoostSettings:
    """Return the settings of a training: those of trees, and what is given."""
    bits = BINARY_TREE_BITS if n_classes == 2 else TREE_BITS
    own = {"n_tables": n_tables, "leaves": leaves, "bits": bits, **TREE_REFIT}
    return BoostSettings(**{**own, **given})


def error_of(split: Split, settings: BoostSettings) -> float:
    """Train once; return the validation error in percent."""
    learned = learn_tables(split.X, split.y, split.n_states, split.n_classes, settings)
    found = learned.costs(split.X_held).argmin(axis=1)
    return 100 * float((found != split.y_held).mean())


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print a setting."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with raw/")
    parser.add_argument("--dataset", action="append", choices=SETS)
    parser.add_argument("--budget", type=int, default=4096)
    parser.add_argument("--cuts", type=int, default=255)
    parser.add_argument("--high-bytes", type=int, choices=(0, 1), default=1)
    parser.add_argument("--product", action="store_true", help="tables of rows by cuts instead")
    parser.add_argument("--splits", type=int, default=6)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    options = parser.parse_args(words)
    given = {name: literal_eval(value) for name, value in (one.split("=") for one in options.set)}
    names, high = options.dataset or SETS, bool(options.high_bytes)
    errors = []
    for name in names:
        rows = rows_of(options.data, name)
        splits = [
            split_of(rows, k, options.cuts, has_high_bytes=high) for k in range(options.splits)
        ]
        C = rows.n_classes
        if options.product:
            forms = [
                BoostSettings(
                    n_tables=n_products(n, C, options.budget), rows=n, **{"bits": 4, **given}
                )
                for n in ROWS
            ]
        else:
            forms = [
                settings_of(n, n_trees(n, C, options.budget, has_high_bytes=high), C, **given)
                for n in LEAVES
            ]
        errors.append([np.mean([error_of(split, form) for split in splits]) for form in forms])
    for name, line in zip(("mean", *names), (np.mean(errors, axis=0), *errors), strict=True):
        print(f"{name:24}", *(f"{error:6.2f}" for error in line), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
