"""Ranges for unknown readings take a share of the bytes of a model, those of most use first."""

import numpy as np
import pytest

from bncc.data.dataset import Column, Dataset, Table
from bncc.discretize.feature import Feature
from bncc.model.model import Model
from bncc.model.used import used_inputs
from bncc.train import range_budget
from bncc.train.decision_rules import DecisionRules
from bncc.train.range_budget import bytes_of_reading, flash_of, rated_inputs
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model
from tests import models as hand


def wide(n_inputs: int) -> Dataset:
    """Return two classes of whole numbers that each of many inputs distinguishes, more or less."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    levels = np.linspace(1, 6, n_inputs)
    R = np.round(rng.normal(0, 1000, (300, n_inputs)) + 300 * levels * y[:, None])
    columns = (Column(f"r{k}", "integer", R[:, k].astype(np.int64), y < 0) for k in range(n_inputs))
    return Dataset(Table(tuple(columns)), y, ("a", "b"), "class")


@pytest.mark.parametrize(
    ("kind", "n_bytes"), [("int8", 1), ("uint8", 1), ("int16", 2), ("int32", 4), ("float32", 4)]
)
def test_a_reading_has_the_bytes_of_its_type(kind: str, n_bytes: int) -> None:
    assert bytes_of_reading(Feature("a", kind, 2, (1,), (), 0)) == n_bytes  # type: ignore[arg-type]


def test_thresholds_and_entries_count() -> None:
    model = hand.naive_integer()
    entries = sum(table.size for table in model.tables)
    numbers = [feature for feature in model.features if feature.is_numeric]
    cuts = sum(len(each.thresholds) * bytes_of_reading(each) for each in numbers)
    assert flash_of(model) == 1600 + round(entries * model.q_format.bits / 12) + 3 * cuts


def test_a_model_of_few_inputs_has_all_ranges() -> None:
    settings = TrainSettings(structure="naive", parameters="ml", discretize="quantile")
    model = train_model(wide(4), settings).model
    expected = [model.inputs[f] for f in used_inputs(model)]
    assert len(expected) == 4
    assert rated_inputs(model) == expected


def test_many_inputs_have_ranges_within_the_share() -> None:
    rows, settings = (
        wide(120),
        TrainSettings(structure="tables", structure_options={"tables": "60"}),
    )
    model = DecisionRules(unknown=0.1).applied(train_model(rows, settings), rows, settings).model
    assert model.unknown is not None
    n_bytes = sum(2 * 2 * bytes_of_reading(each) for each in rated_inputs(model))
    assert 0 < len(model.unknown.ranges) < len(used_inputs(model))
    limit = range_budget.SHARE * flash_of(model) - range_budget.CODE_OF_RULE
    assert limit - 2 * 2 * 4 < n_bytes <= limit
    least = min(n_tables(model, each.name) for each in rated_inputs(model))
    others = [f.name for f in model.inputs if f.name not in model.unknown.ranges]
    assert all(n_tables(model, name) <= least for name in others)


def n_tables(model: Model, name: str) -> int:
    """Return how many tables read an input."""
    place = [feature.name for feature in model.features].index(name)
    return sum(place in lookup.features for lookup in model.lookups)


def test_the_first_of_equally_used_inputs_remains(monkeypatch: pytest.MonkeyPatch) -> None:
    model = hand.naive_integer()
    first = next(feature for feature in model.inputs if feature.is_numeric)
    needed = 2 * model.n_classes * bytes_of_reading(first)
    for share, expected in ((needed, [first]), (needed - 1, [])):
        monkeypatch.setattr(range_budget, "SHARE", (290 + share) / flash_of(model))
        assert rated_inputs(model)[:1] == expected


def test_differences_count_as_use_of_both_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    model = hand.DIFFERENCES["differences_of_words"]()
    of_difference = next(f for f in model.features if f.difference is not None)
    assert of_difference.difference is not None
    names = {model.inputs[f].name for f in of_difference.difference}
    assert names <= {each.name for each in rated_inputs(model)}
    monkeypatch.setattr(range_budget, "SHARE", 0.0)
    assert rated_inputs(model) == []
