"""
Models of twelve data sets, trained by counting, boosting or gradient descent, for verification.

Random tables have costs of all sizes in every table. Trained ones have tables of a few bits, tables
with equal rows, zero rows and priors of a single bit, which select other layouts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from benchmarks.shared.sensor_sets import SETS
from bncc.data.dataset import Dataset
from bncc.data.readers import bundled_path, read_table
from bncc.data.target import dataset_of
from bncc.model.model import Model
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

STRUCTURES = ("naive", "chow-liu")
BITS = range(1, 7)
BUNDLED = {"robot": "robot_wall_following_24", "wifi": "wifi_localization"}
MORE = {
    "boosted": TrainSettings(
        structure="tables", structure_options={"tables": "6", "rows": "8"}, bits=3, seed=1
    ),
    "gradient": TrainSettings(structure="naive", parameters="hybrid", bits=3, epochs=2, seed=1),
}
"""Training methods other than counting, for the smaller sets."""
SMALL = ("wifi_localization", "banknote", "phoneme")


@dataclass(frozen=True)
class Trained:
    """Training settings of a model."""

    data_set: str  # File of ``raw`` in the folder of data, or a key of `BUNDLED`
    way: str  # Structure, with tables by counting, or a key of `MORE`
    bits: int = 3  # Width of a cost

    def __str__(self) -> str:
        return f"{self.data_set} {self.way} B={self.bits}"

    def model(self, data: Path | None) -> Model:
        """Train on all rows; as by ``bncc train --effort quick --seed 1``."""
        settings = MORE.get(self.way) or TrainSettings(
            structure=self.way, parameters="ml", bits=self.bits, seed=1
        )
        return train_model(rows_of(self.data_set, data), settings).model


@lru_cache(maxsize=2)
def rows_of(data_set: str, data: Path | None) -> Dataset:
    """Return all rows of a set."""
    if data_set in BUNDLED:
        return dataset_of(read_table(bundled_path(data_set)))
    assert data is not None
    return dataset_of(read_table(data / "raw" / f"{data_set}.csv.gz"))


def of_set(data_set: str) -> Iterator[Trained]:
    """Yield the models of a set."""
    for structure in STRUCTURES:
        for bits in BITS:
            yield Trained(data_set, structure, bits)
    if data_set in SMALL:
        yield from (Trained(data_set, way) for way in MORE)


def every_model() -> Iterator[Trained]:
    """Yield the models of all twelve sets."""
    for data_set in SETS:
        yield from of_set(data_set)
