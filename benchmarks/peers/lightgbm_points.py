"""
Points of LightGBM on MNIST and HAPT: error, bytes of nodes and comparisons of a decision.

    python -m benchmarks.peers.lightgbm_points --data ../shared/data -o lightgbm.csv
    python -m benchmarks.peers.lightgbm_points --data ../shared/data --split mnist.npz

The first needs LightGBM, which is no dependency of bncc: make a virtual environment for it, and
name that of bncc in PYTHONPATH. MNIST is 14 x 14 pixels, 60,000 training and 10,000 test images.
HAPT is the default features of windows of six channels; nine persons are test persons. A fifth of
the training images, or six training persons, is the validation set. It takes about twenty minutes
of one core.

Bytes are a lower bound: an inner node is one byte for the feature and one or two for the threshold,
a leaf two bytes, without pointers, code, or the features themselves. Nothing is chosen: all forms
are listed.
"""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks.recordings.sets import HAPT_TESTED, find_set, load
from benchmarks.recordings.windowed import windowed
from bncc._types import AnyArray, BoolArray, IntArray

FORMS = ((5, 8), (10, 8), (20, 8), (10, 16), (20, 16), (40, 16), (40, 32), (80, 32))
"""Rounds and leaves of a tree; a round has a tree for each class."""
RATES = (0.1, 0.3)
LEAF_BYTES, FEATURE_BYTES = 2, 1
VALIDATED_PERSONS = frozenset({"1", "7", "14", "19", "25", "30"})
HEAD = (
    "set", "rounds", "leaves", "rate", "validation error", "test error", "trees", "nodes", "bytes",
    "comparisons",
)  # fmt: skip


@dataclass(frozen=True)
class Rows:
    """Rows of a set: features, classes, and the part of each row."""

    name: str
    X: AnyArray
    y: IntArray
    is_test: BoolArray
    is_held: BoolArray  # Validation rows among the others
    threshold_bytes: int


def mnist(data: Path) -> Rows:
    """Return MNIST with its own test images; every fifth training image is a validation image."""
    with np.load(data / "paper" / "mnist14.npz") as archive:
        X, y, is_test = archive["x"], archive["t"].astype(np.int64), archive["orig_is_test"]
    is_held = ~is_test & (np.arange(len(y)) % 5 == 0)
    return Rows("MNIST 14 x 14", X, y, is_test, is_held, 1)


def write_split(data: Path, path: Path) -> None:
    """Write MNIST with its own test images as fold 1 of a file that ``bncc train`` reads."""
    with np.load(data / "paper" / "mnist14.npz") as archive:
        X, y, is_test = archive["x"], archive["t"], archive["orig_is_test"]
    train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
    np.savez_compressed(path, x=X, t=y, idx_tr_fold1=train, idx_te_fold1=test)


def hapt(data: Path) -> Rows:
    """Return bncc's default features of all windows of HAPT."""
    one = find_set("hapt")
    recordings = load(data, one)
    found = windowed(one, recordings)
    persons = np.array([each.group for each in recordings.recordings])[found.recording]
    is_test, is_held = np.isin(persons, [*HAPT_TESTED]), np.isin(persons, [*VALIDATED_PERSONS])
    return Rows("HAPT", found.integers, found.y, is_test, is_held, 2)


def depths(tree: Mapping[str, Any], depth: int = 0) -> Iterator[tuple[int, int]]:
    """Yield the number of each leaf and its comparisons."""
    if "leaf_index" in tree or "split_feature" not in tree:
        yield int(tree.get("leaf_index", 0)), depth
        return
    for side in ("left_child", "right_child"):
        yield from depths(tree[side], depth + 1)


def points(rows: Rows) -> Iterator[tuple[object, ...]]:
    """Train all forms, and yield their figures."""
    import lightgbm as lgb

    for rate in RATES:
        for rounds, leaves in FORMS:
            options = {
                "objective": "multiclass", "num_class": int(rows.y.max()) + 1, "num_threads": 1,
                "num_leaves": leaves, "learning_rate": rate, "verbose": -1, "seed": 0,
                "deterministic": True, "max_bin": 63,
            }  # fmt: skip

            def trained(part: BoolArray, options: Mapping[str, Any] = options,
                        rounds: int = rounds) -> Any:  # fmt: skip
                return lgb.train(dict(options), lgb.Dataset(rows.X[part], rows.y[part]), rounds)

            def error(model: Any, part: BoolArray) -> float:
                said = model.predict(rows.X[part]).argmax(axis=1)
                return 100 * float((said != rows.y[part]).mean())

            held = error(trained(~rows.is_test & ~rows.is_held), rows.is_held)
            model = trained(~rows.is_test)
            trees = [each["tree_structure"] for each in model.dump_model()["tree_info"]]
            n_leaves = sum(sum(1 for _ in depths(tree)) for tree in trees)
            n_inner = n_leaves - len(trees)
            size = n_inner * (FEATURE_BYTES + rows.threshold_bytes) + LEAF_BYTES * n_leaves
            reached = model.predict(rows.X[rows.is_test][:1000], pred_leaf=True)
            compared = np.zeros(len(reached))
            for tree, leaf in zip(trees, np.asarray(reached).T, strict=True):
                depth = dict(depths(tree))
                compared += [depth[int(each)] for each in leaf]
            yield (
                rows.name, rounds, leaves, rate, f"{held:.2f}", f"{error(model, rows.is_test):.2f}",
                len(trees), n_inner + n_leaves, size, f"{compared.mean():.0f}",
            )  # fmt: skip


@click.command()
@click.option("--data", type=Path, default="../shared/data", help="Folder of all data sets.")
@click.option("-o", "output", type=Path, default="lightgbm.csv", help="Output file.")
@click.option("--split", type=Path, help="Only write MNIST's split to this NPZ file, for bncc.")
def main(data: Path, output: Path, split: Path | None) -> None:
    """Write the points of both sets."""
    if split is not None:
        write_split(data, split)
        return
    with output.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEAD)
        for read in (hapt, mnist):
            for point in points(read(data)):
                writer.writerow(point)
                file.flush()


if __name__ == "__main__":
    main()
