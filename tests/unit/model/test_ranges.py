"""Ranges of training readings in the model's record, and refusals of a damaged record."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.data.dataset import Column, Table
from bncc.discretize.feature import Feature
from bncc.errors import ModelError
from bncc.model.file import encode, from_bytes, to_bytes
from bncc.model.ranges import (
    READINGS,
    ReadingRange,
    reading_ranges,
    readings_record,
    unit_of,
)
from tests import models as hand

INPUTS = (
    Feature("distance [m]", "int16", 2, thresholds=(5,)),
    Feature("speed", "float32", 2, thresholds=(0.5,)),
    Feature("color", "category", 2, categories=("red", "blue")),
    Feature("bin", "state", 4),
    Feature("silent", "int32", 1),
)


def column(name, kind, values, missing=()):
    gaps = np.isin(np.arange(len(values)), missing)
    return Column(name, kind, np.array(values), gaps)


def seen():
    return Table(
        (
            column("distance [m]", "integer", [7, -3, 0, 40], missing=[2]),
            column("speed", "float", [0.1, 2.5, 0.0, 1.0], missing=[2]),
            column("color", "category", ["red", "blue", "red", "red"]),
            column("bin", "state", [1, 2, 1, 0], missing=[3]),
            column("silent", "integer", [0, 0, 0, 0], missing=[0, 1, 2, 3]),
        )
    )


def record():
    return readings_record(INPUTS, seen(), {"speed": "km/h"})


def test_the_record_has_the_extremes_of_each_column_without_its_missing_cells():
    """Values of the C types, the unit of the file or of the brackets, categories left out."""
    assert record() == {
        "distance [m]": {"min": -3, "max": 40, "unit": "m"},
        "speed": {"min": float(np.float32(0.1)), "max": 2.5, "unit": "km/h"},
        "bin": {"min": 1, "max": 2},
        "silent": {"min": None, "max": None},
    }


def test_ranges_are_read_back_per_feature():
    """A category has none; a column without readings has none either."""
    ranges = reading_ranges(INPUTS, {READINGS: record()})
    assert ranges == (
        ReadingRange(-3, 40, "m"),
        ReadingRange(float(np.float32(0.1)), 2.5, "km/h"),
        ReadingRange(None, None),
        ReadingRange(1, 2),
        ReadingRange(None, None),
    )
    assert reading_ranges(INPUTS, {}) is None


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("distance [m]", "m"),
        ("t [\u00b0C] ", "\u00b0C"),
        ("a [b] c", ""),
        ("speed (filtered)", ""),
        ("x []", ""),
        ("x [" + "y" * 31 + "]", ""),
        ("x [a\nb]", ""),
    ],
)
def test_a_unit_is_what_stands_in_brackets_at_the_end_of_a_name(name, unit):
    """Parentheses are not read: they mean other things as often."""
    assert unit_of(name) == unit


WRONG = [
    ("distance [m]", None),
    ("distance [m]", 7),
    ("distance [m]", {"min": 1}),
    ("distance [m]", {"min": 1, "max": 2, "mean": 1}),
    ("distance [m]", {"min": 2, "max": 1}),
    ("distance [m]", {"min": -32768, "max": 1}),
    ("distance [m]", {"min": 0, "max": 32768}),
    ("distance [m]", {"min": True, "max": 2}),
    ("distance [m]", {"min": 1, "max": None}),
    ("distance [m]", {"min": 1, "max": 2, "unit": 3}),
    ("distance [m]", {"min": 1, "max": 2, "unit": "m\x1b[31m"}),
    ("speed", {"min": 1, "max": 2}),
    ("speed", {"min": 0.1, "max": 2.0}),
    ("speed", {"min": 0.0, "max": 1e39}),
    ("speed", {"min": "0", "max": 1.0}),
    ("bin", {"min": 0, "max": 4}),
    ("bin", {"min": -1, "max": 3}),
]


@pytest.mark.parametrize(("name", "entry"), WRONG)
def test_a_damaged_record_is_refused(name, entry):
    """Types and bounds are verified before any of it reaches a header."""
    with pytest.raises(ModelError, match="of feature '"):
        reading_ranges(INPUTS, {READINGS: record() | {name: entry}})


@pytest.mark.parametrize("wrong", [None, 3, [], {}, {"distance [m]": {"min": 1, "max": 2}}])
def test_a_record_of_other_features_is_refused(wrong):
    """It names every feature that is no category, and nothing else."""
    with pytest.raises(ModelError, match="does not name its features"):
        reading_ranges(INPUTS, {READINGS: wrong})


def test_a_model_file_keeps_ranges_and_one_without_them_still_loads():
    """The record is a part of `training`: the format number does not change."""
    old = hand.naive_integer()
    entries = {f.name: {"min": -7, "max": 300} for f in old.features}
    new = replace(old, training={**old.training, READINGS: entries})
    again = from_bytes(to_bytes(new), "m")
    assert reading_ranges(again.features, again.training) == (ReadingRange(-7, 300),) * 2
    assert READINGS not in from_bytes(to_bytes(old), "m").training


def test_a_model_with_a_damaged_record_is_no_whole_model():
    """Neither written nor, with a valid digest, read."""
    old = hand.naive_integer()
    with pytest.raises(ModelError, match="does not name its features"):
        encode(replace(old, training={READINGS: {"pressure": {}}}))
