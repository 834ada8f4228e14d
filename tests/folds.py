"""Small folds, and small files laid out as the papers' data sets."""

from pathlib import Path

import numpy as np

from bncc.papers.folds import AUTHORS, FILES, FOLDS, Fold


def small_fold(name: str = "some", seed: int = 0) -> Fold:
    """Return 150 training rows and 50 test rows: three noisy copies of two classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 200)
    X = np.stack([np.where(rng.random(200) < keep, y, 1 - y) for keep in (0.9, 0.7, 0.6)], axis=1)
    return Fold(name, X[:150], y[:150], X[150:], y[150:], [2, 2, 2], 2)


def write_papers_files(folder: Path) -> None:
    """
    Write tiny files laid out as the papers' are; the first feature is the class.

    Mnist's readings are not states, and those of its test rows are far below all others.
    """
    rng = np.random.default_rng(0)
    for row in AUTHORS:
        arrays = {}
        for fold in range(1, FOLDS[row] + 1):
            for part, n in (("tr", 40), ("te", 20)):
                t = np.arange(n, dtype=np.uint8) % 2
                noise = rng.integers(0, 2, (n, 3), dtype=np.uint8)
                arrays[f"x_{part}_fold{fold}"] = np.column_stack([t, noise]) + np.uint8(1)
                arrays[f"t_{part}_fold{fold}"] = t
        np.savez(folder / FILES[row], **arrays)
    t = np.arange(90, dtype=np.uint8) % 2
    readings = rng.integers(100, 120, (90, 4), dtype=np.uint8) + 100 * t[:, np.newaxis]
    readings[60:] = rng.integers(0, 9, (30, 4), dtype=np.uint8)
    rows = np.arange(90)
    np.savez(
        folder / FILES["mnist"], x=readings, t=t, idx_tr_fold1=rows[:60], idx_te_fold1=rows[60:]
    )


def write_images(folder: Path) -> None:
    """Put images of 4 x 4 pixels in the place of usps; the first pixel is the class."""
    rng = np.random.default_rng(1)
    arrays = {}
    for part, n in (("tr", 40), ("te", 20)):
        t = np.arange(n, dtype=np.uint8) % 2
        noise = rng.integers(0, 3, (n, 15), dtype=np.uint8)
        arrays[f"x_{part}_fold1"] = np.column_stack([t, noise]) + np.uint8(1)
        arrays[f"t_{part}_fold1"] = t
    np.savez(folder / FILES["usps"], **arrays)
