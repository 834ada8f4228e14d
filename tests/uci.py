"""Small ARFF files, such as S2's study reads."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bncc.data.dataset import Column, Dataset, Table


def write_set(path: Path, seed: int = 0, n_rows: int = 60, name_column: str | None = None) -> None:
    """Write a set of a number, two categories with gaps, and a class that depends on them."""
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 2, n_rows)
    number = y + generator.normal(0, 0.7, n_rows)
    color = np.where(generator.random(n_rows) < 0.8, y, generator.integers(0, 3, n_rows))
    shape = np.where(generator.random(n_rows) < 0.7, color % 2, 1 - color % 2)
    gap = generator.random((n_rows, 3)) < 0.05
    named = [] if name_column is None else [f"@attribute {name_column} string"]
    lines = ["@relation small", *named, "@attribute number real", "@attribute color {a,b,c}",
             "@attribute shape {q,r}", "@attribute class {no,yes}", "@data"]  # fmt: skip
    for i in range(n_rows):
        cells = [f"{number[i]:.3f}", "abc"[color[i]], "qr"[shape[i]]]
        cells = ["?" if g else cell for cell, g in zip(cells, gap[i], strict=True)]
        lines.append(",".join([*([f"row{i}"] if named else []), *cells, ("no", "yes")[y[i]]]))
    path.write_text("\n".join(lines) + "\n")


def built_set(columns: Sequence[tuple[str, Sequence[object]]], y: Sequence[int]) -> Dataset:
    """Return a data set of columns of numbers or of texts; None is missing."""
    read = []
    for name, cells in columns:
        missing = np.array([cell is None for cell in cells])
        if any(isinstance(cell, str) for cell in cells):
            texts = np.array(["" if cell is None else cell for cell in cells], dtype=object)
            read.append(Column(name, "category", texts, missing))
        else:
            numbers = np.array([0.0 if cell is None else cell for cell in cells], dtype=np.float64)
            read.append(Column(name, "float", numbers, missing))
    classes = tuple(str(k) for k in range(max(y) + 1))
    return Dataset(Table(tuple(read)), np.array(y, dtype=np.int64), classes, "class")
