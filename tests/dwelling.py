"""Readings in time: classes that stay for a while, and features that alone often mislead."""

from dataclasses import replace
from functools import cache

import numpy as np

from bncc.data.dataset import Column, Dataset, Table
from bncc.data.splits import SplitRule
from bncc.model.filter import Filter
from bncc.model.model import Model
from bncc.train.decision_rules import DecisionRules
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

CLASSES = ("rest", "run", "walk")


def arrays(n_groups: int = 4, n: int = 200, dwell: int = 20, seed: int = 0, noise: float = 25.0):
    """
    Return readings (n_rows, 2) int64, classes (n_rows,) int64 and groups (n_rows,) int64.

    Each group is a sequence; every class lasts for about `dwell` rows.
    """
    rng = np.random.default_rng(seed)
    readings, classes = [], []
    for _ in range(n_groups):
        c, of_group = int(rng.integers(len(CLASSES))), []
        for _ in range(n):
            if rng.random() < 1 / dwell:
                c = (c + int(rng.integers(1, len(CLASSES)))) % len(CLASSES)
            of_group.append(c)
        y = np.array(of_group)
        means = np.array([[0, 0], [30, 40], [30, 0]])[y]
        readings.append(np.rint(means + rng.normal(0, noise, (n, 2))).astype(np.int64))
        classes.append(y)
    groups = np.repeat(np.arange(n_groups), n)
    return np.concatenate(readings), np.concatenate(classes), groups


def dataset(**options) -> Dataset:
    """Return these readings as rows of groups, for training."""
    R, y, groups = arrays(**options)
    gaps = np.zeros(len(y), dtype=np.bool_)
    columns = tuple(Column(name, "integer", R[:, k], gaps) for k, name in enumerate("ab"))
    labels = tuple(f"g{k}" for k in range(int(groups.max()) + 1))
    return Dataset(
        Table(columns), y, CLASSES, "class", split=SplitRule(groups, column="group", labels=labels)
    )


@cache
def trained(structure: str, switch: int) -> Model:
    """Return a model trained on these readings, with a filter."""
    more = {"naive": {"parameters": "ml"}, "tables": {"epochs": 30}}[structure]
    model = train_model(dataset(), TrainSettings(structure=structure, **more)).model
    return replace(model, filter=Filter(switch))


def with_transitions(model: Model, largest: int, hold: int = 1, lag: int = 0) -> Model:
    """Return a model with a price of each transition, up to a largest one, in its filter."""
    n = model.n_classes
    prices = np.random.default_rng(largest).integers(0, largest + 1, (n, n))
    np.fill_diagonal(prices, np.arange(n) % 2)
    prices[0, -1] = largest
    return replace(model, filter=Filter(largest, hold, tuple(map(tuple, prices.tolist())), lag))


@cache
def rated(structure: str, max_error: float | None = None) -> Model:
    """Return a model trained on these readings, with a confidence."""
    more = {"naive": {"parameters": "ml"}, "tables": {"epochs": 30}}[structure]
    settings = TrainSettings(structure=structure, **more)
    result = train_model(dataset(), settings)
    rules = DecisionRules(confidence=True, max_error=max_error)
    return rules.applied(result, dataset(), settings).model


def csv_of(**options) -> str:
    """Return these readings as a CSV file with the columns a, b, group and class."""
    R, y, groups = arrays(**options)
    rows = zip(R.tolist(), y.tolist(), groups.tolist(), strict=True)
    lines = [f"{a},{b},g{group},{CLASSES[c]}" for (a, b), c, group in rows]
    return "\n".join(["a,b,group,class", *lines, ""])
