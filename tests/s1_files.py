"""Small files laid out as the data sets of S1."""

import gzip
from pathlib import Path

import numpy as np

from bncc.papers.folds import FILES
from tests.folds import write_papers_files


def write_s1_files(folder: Path) -> None:
    """
    Write ``raw/spambase.csv.gz``, ``paper/usps.npz`` and ``paper/mnist14.npz`` into a folder.

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
    lines = [",".join([*(f"{x:.3f}" for x in row), str(c)]) for row, c in zip(X, y, strict=True)]
    text = "\n".join(["a,b,c,class", *lines]) + "\n"
    (raw / "spambase.csv.gz").write_bytes(gzip.compress(text.encode()))
