"""Small files laid out as the data sets of S1."""

import gzip
from pathlib import Path

import numpy as np

from bncc._types import AnyArray
from bncc.papers.folds import FILES
from tests.folds import write_papers_files


def write_s1_files(folder: Path) -> None:
    """
    Write ``raw/spambase.csv.gz``, ``raw/usps_all.csv.gz`` and ``paper/mnist14.npz`` into a folder.

    Two of three noisy readings follow the class. Every third row of mnist14 is one to test on.
    """
    paper, raw = folder / "paper", folder / "raw"
    paper.mkdir()
    raw.mkdir()
    write_papers_files(paper)
    with np.load(paper / FILES["mnist"]) as archive:
        arrays = dict(archive)
    np.savez(paper / FILES["mnist"], **arrays, orig_is_test=np.arange(90) % 3 == 2)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 121)
    X = np.column_stack([y + rng.normal(0, 0.3, 121), y + rng.normal(0, 0.5, 121), rng.random(121)])
    _write(raw / "spambase.csv.gz", "a,b,c,class", X, y)
    y = np.arange(60) % 2
    noisy = y[:, np.newaxis] ^ (rng.random((60, 3)) < 0.05)
    images = np.column_stack([y, noisy]) * 100 + rng.integers(0, 20, (60, 4))
    _write(raw / "usps_all.csv.gz", "p0,p1,p2,p3,digit", images, y)


def _write(path: Path, head: str, X: AnyArray, y: AnyArray) -> None:
    lines = [",".join([*(f"{x:g}" for x in row), str(c)]) for row, c in zip(X, y, strict=True)]
    path.write_bytes(gzip.compress(("\n".join([head, *lines]) + "\n").encode()))
