"""Models with rules for unknown readings: trained ones of every type of readings, and others."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np

from bncc.data.dataset import Column, Dataset, Table
from bncc.model.model import Model
from bncc.model.unknown import Unknown
from bncc.train.decision_rules import DecisionRules
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model
from tests.dwelling import arrays

SPAN = {"int8": 1, "uint8": 1, "int16": 100, "int32": 100000, "float32": 1}
SETTINGS = {
    "naive": TrainSettings(structure="naive", parameters="ml", discretize="quantile"),
    "tables": TrainSettings(structure="tables", structure_options={"tables": "8"}),
    "trees": TrainSettings(structure="tables", structure_options={"tables": "3", "leaves": "6"}),
}


def readings(kinds: Sequence[str], seed: int = 0, *, gaps: float = 0.0) -> Dataset:
    """Return three classes of readings of some types, the last of which tells nothing."""
    R, y, _ = arrays(seed=seed, noise=15.0)
    rng = np.random.default_rng(seed)
    columns = []
    for k, kind in enumerate(kinds):
        values = R[:, k % 2] if k < max(2, len(kinds) - 1) else rng.integers(-50, 50, len(y))
        values = np.clip(values, -100, 100) * SPAN[kind]
        missing = rng.random(len(y)) < (gaps if kind != "uint8" else 0.0)
        if kind == "uint8":
            values = values + 100
        if kind == "float32":
            columns.append(Column(f"r{k}", "float", values / 8, missing))
        else:
            columns.append(Column(f"r{k}", "integer", values, missing))
    return Dataset(Table(tuple(columns)), y, ("rest", "run", "walk"), "class")


@cache
def ruled(structure: str, *kinds: str, gaps: float = 0.0) -> Model:
    """Return a model trained on readings of some types, with a rule for unknown ones."""
    rows, settings = readings(kinds, gaps=gaps), SETTINGS[structure]
    result = train_model(rows, settings)
    return DecisionRules(unknown=0.1).applied(result, rows, settings).model


def with_rule(model: Model, **changes: object) -> Model:
    """Return a model with another rule for unknown readings."""
    assert model.unknown is not None
    return replace(model, unknown=replace(model.unknown, **changes))  # type: ignore[arg-type]


MIXED = ("int8", "float32", "int16", "uint8", "int32")
RULED: dict[str, Callable[[], Model]] = {
    "ruled": partial(ruled, "naive", "int16", "int16"),
    "ruled_tables": partial(ruled, "tables", *MIXED, gaps=0.1),
    "ruled_trees": partial(ruled, "trees", "float32", "float32", gaps=0.1),
    "ruled_bytes": partial(ruled, "tables", "uint8", "uint8", "uint8"),
    "ruled_words": partial(ruled, "naive", "int32", "int32"),
    "ruled_always": lambda: with_rule(ruled("naive", "int16", "int16"), limit=10**6),
    "ruled_never": lambda: with_rule(ruled("naive", "int16", "int16"), limit=-(10**9)),
    "ruled_by_margin": lambda: replace(
        ruled("naive", "int16", "int16"), unknown=Unknown({}, 1, -4)
    ),
    "ruled_wide": lambda: with_rule(ruled("naive", "int16", "int16"), weight=10**6, limit=10**6),
}
"""Models with rules for unknown readings: trained ones, and limits that no margin reaches."""
