"""Models for the packages of other languages: of every kind, built by hand and trained."""

from collections.abc import Callable
from functools import cache

from benchmarks.shared.trained_models import rows_of
from bncc.emit.vectors import Vectors, vectors_of_table
from bncc.model.model import Model
from bncc.model.ranges import READINGS
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model
from tests import models as hand
from tests.agreement.large import mixed_kinds
from tests.ranged import ranged

BUILT: dict[str, Callable[[], Model]] = {
    "array": hand.tan_float,
    "struct": mixed_kinds,
    "states": hand.wide_states,
    "hostile": hand.hostile_names,
    **hand.NAMED,
    **hand.TREES,
    **hand.DIFFERENCES,
    **hand.GATES,
    **hand.FRONTS,
    "sum_with_front": hand.sum_with_front,
}
"""By name; some have states alone."""

_BOOSTED = {"tables": "6", "rows": "8"}
TRAINED: dict[str, tuple[str, TrainSettings]] = {
    "naive": ("wifi", TrainSettings(structure="naive", parameters="ml", seed=1)),
    "tree": ("robot", TrainSettings(structure="chow-liu", parameters="ml", seed=1)),
    "bytes": ("wifi", TrainSettings(structure="chow-liu", parameters="ml", readings="int8")),
    "wide": ("robot", TrainSettings(structure="naive", parameters="ml", readings="int32")),
    "tables": ("wifi", TrainSettings(structure="tables", structure_options=_BOOSTED)),
    "branching": (
        "robot",
        TrainSettings(
            structure="tables",
            structure_options={"tables": "6", "leaves": "8"},
            readings="float32",
        ),
    ),
    "differences": (
        "wifi",
        TrainSettings(structure="tables", structure_options={**_BOOSTED, "differences": "8"}),
    ),
    "front": (
        "wifi",
        TrainSettings(
            structure="tables", structure_options={"tables": "6", "leaves": "8", "front": "16"}
        ),
    ),
    "gate": (
        "robot",
        TrainSettings(structure="tables", structure_options={**_BOOSTED, "gate": "2"}),
    ),
}
"""Data set and settings by the kind of model."""


@cache
def built(kind: str) -> Model:
    """Return a model of `BUILT` that records ranges of its readings."""
    model = BUILT[kind]()
    return model if READINGS in model.training else ranged(model)


@cache
def trained(kind: str) -> Model:
    """Return a model of `TRAINED`."""
    data_set, settings = TRAINED[kind]
    return train_model(rows_of(data_set, None), settings).model


@cache
def vectors(kind: str) -> Vectors:
    """Return rows of the training data of a model of `TRAINED`, with its answers."""
    data_set, _ = TRAINED[kind]
    return vectors_of_table(trained(kind), rows_of(data_set, None).table, 255)
