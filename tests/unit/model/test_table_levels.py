"""Levels of boosted tables in the units of the sensor."""

import pytest

from bncc.model import table_levels as module
from bncc.model.table_levels import table_levels
from tests import models as hand


def test_levels_are_those_of_the_tables() -> None:
    model = hand.sum_of_tables()
    found = table_levels(model)
    assert len(found) == len(model.tables)
    for table, lookup in zip(found, model.lookups, strict=True):
        assert [name for name, _ in table] == [model.features[f].name for f in lookup.features]
        assert tuple(len(levels) for _, levels in table) == tuple(lookup.n_levels)
    assert found[0][0][0] == "hall"
    assert "≤ -7" in found[0][0][1]


def test_only_the_first_tables_are_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    model = hand.sum_of_tables()
    whole = table_levels(model)
    monkeypatch.setattr(module, "IN_WORDS", 1)
    first, *others = table_levels(model)
    assert first == whole[0]
    assert [[(f, len(levels)) for f, levels in table] for table in others] == [
        [(f, len(levels)) for f, levels in table] for table in whole[1:]
    ]
    assert {level for table in others for _, levels in table for level in levels} == {""}


def test_a_network_has_none() -> None:
    assert table_levels(hand.naive_integer()) == ()
