"""
Fold 1 of the papers' sets as archives of readings, the bytes that other tools' classifiers take.

    python -m benchmarks.peers.uint8_sets --data ../shared/data -o try/peers

``bncc train`` takes the papers' own archives for states. The archives written here have the same
bytes, training rows and test rows, and their columns are readings.
"""

from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from bncc._types import IntArray

SETS = ("letter", "satimage", "usps")
FOLDER = "try/peers"
"""Default folder of the archives."""


@dataclass(frozen=True, eq=False)
class Fold:
    """Training and test rows."""

    X: IntArray  # (n_train, n_features) uint8
    y: IntArray  # (n_train,) uint8: Classes from 0
    X_test: IntArray  # (n_test, n_features) uint8
    y_test: IntArray  # (n_test,) uint8


def fold_of(data: Path, name: str) -> Fold:
    """Return fold 1 of a set of the papers."""
    with np.load(data / "paper" / f"{name}.npz") as archive:
        return Fold(*(archive[f"{key}_fold1"] for key in ("x_tr", "t_tr", "x_te", "t_te")))


def archive_of(folder: Path, name: str) -> Path:
    """Return the path of a set's archive."""
    return folder / f"{name}.npz"


def write_sets(data: Path, folder: Path) -> None:
    """Write the archives that do not exist."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in SETS:
        path = archive_of(folder, name)
        if path.exists():
            continue
        fold = fold_of(data, name)
        rows = np.arange(len(fold.y) + len(fold.y_test))
        np.savez(
            path,
            x=np.concatenate([fold.X, fold.X_test]),
            t=np.concatenate([fold.y, fold.y_test]),
            idx_tr_fold1=rows[: len(fold.y)],
            idx_te_fold1=rows[len(fold.y) :],
        )


@click.command()
@click.option("--data", default="../shared/data", help="Folder with `paper/letter.npz` etc.")
@click.option("-o", "--output", default=FOLDER, help="Folder for the archives.")
def main(data: str, output: str) -> None:
    """Write an archive per set."""
    write_sets(Path(data), Path(output))


if __name__ == "__main__":
    main()
