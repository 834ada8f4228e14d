"""
Models of the documented figures, and their test rows.

Tables by counting (`ml`), so that every computer learns the same integers: the authors' fold 1 of
letter, satimage and usps, whose inputs are states, and the two bundled sets with two thirds of
their rows, whose inputs are a sensor's readings with thresholds.
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from bncc.data.dataset import Dataset, Table
from bncc.data.readers import bundled_path, read_table
from bncc.data.splits import stratified_holdout
from bncc.data.target import dataset_of, fold_parts
from bncc.model.model import Model
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

PAPER_SETS = ("letter", "satimage", "usps")
BUNDLED_SETS = {"robot": "quantile", "wifi": "mdl"}
"""The bundled sets and their discretization."""
STRUCTURES = ("naive", "chow-liu")


@dataclass(frozen=True)
class Recipe:
    """Settings of a reference model: data set, structure, and bits per cost."""

    data_set: str
    structure: str
    bits: int

    def __str__(self) -> str:
        return f"{self.data_set} {self.structure} B={self.bits}"


@dataclass(frozen=True, eq=False)
class Reference:
    """A reference model and its test rows."""

    model: Model
    test: Table


@lru_cache(maxsize=8)
def reference(recipe: Recipe, data: Path) -> Reference:
    """Train a reference model, the same in every run; `data` is the folder with ``paper/``."""
    train, test = _parts(recipe.data_set, data)
    settings = TrainSettings(
        structure=recipe.structure,
        parameters="ml",
        bits=recipe.bits,
        discretize=BUNDLED_SETS.get(recipe.data_set),
    )
    return Reference(train_model(train, settings, test=test).model, test.table)


@lru_cache(maxsize=4)
def _parts(name: str, data: Path) -> tuple[Dataset, Dataset]:
    if name in BUNDLED_SETS:
        whole = dataset_of(read_table(bundled_path(name)))
        rest, held = stratified_holdout(whole.y, 1 / 3, seed=0)
        return whole.take(rest), whole.take(held)
    train, test = fold_parts(read_table(data / "paper" / f"{name}.npz", fold=1), fold=1)
    assert test is not None
    return train, test


def some_rows(table: Table, n_rows: int) -> Table:
    """Select rows independently of their order in the file, the same in every run."""
    chosen = np.random.default_rng(0).permutation(table.n_rows)[:n_rows]
    return table.take(np.sort(chosen))
