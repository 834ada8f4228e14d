"""
Ranges of readings in training: the smallest and largest of each feature, and its unit.

They are a part of the model's training record, under `READINGS`: a mapping from each feature's
name, categories excepted, to ``min``, ``max`` (null where the column had no reading) and, where
there is one, ``unit``. Older versions of bncc read files with them, and this one files without.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bncc.data.csv import is_unit
from bncc.data.dataset import Table
from bncc.discretize.feature import LARGEST_INT, SMALLEST_INT, Feature, inputs_of
from bncc.discretize.readings import is_missing_reading, raw_of_table
from bncc.errors import ModelError

READINGS = "readings"
"""Key of the record."""

Number = int | float

_IN_BRACKETS = re.compile(r"\[([^\[\]]+)\]\s*$")


@dataclass(frozen=True)
class ReadingRange:
    """Range of a feature's training readings."""

    # low and high: The smallest and the largest reading, values of the C type; None where there was
    # none, or where the model does not record it
    low: Number | None
    high: Number | None
    unit: str = ""  # Unit of both and of the thresholds; empty if unknown


def unit_of(name: str) -> str:
    """Return the unit that a column's name ends with, as in ``distance [m]``, or no text."""
    found = _IN_BRACKETS.search(name)
    unit = found[1].strip() if found else ""
    return unit if is_unit(unit) else ""


def readings_record(
    features: Sequence[Feature], table: Table, units: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """Return what the training record holds of readings."""
    record = {}
    for feature in inputs_of(features):
        if feature.kind == "category":
            continue
        readings = raw_of_table((feature,), table)[:, 0]
        seen = readings[~is_missing_reading(feature, readings)]
        number = float if feature.kind == "float32" else int
        entry: dict[str, Any] = {
            "min": number(seen.min()) if len(seen) else None,
            "max": number(seen.max()) if len(seen) else None,
        }
        unit = units.get(feature.name) or unit_of(feature.name)
        record[feature.name] = entry | ({"unit": unit} if unit else {})
    return record


def reading_ranges(
    features: Sequence[Feature], training: Mapping[str, Any]
) -> tuple[ReadingRange, ...] | None:
    """Return what the training record holds of each feature's readings."""
    if READINGS not in training:
        return None
    record = training[READINGS]
    named = {feature.name for feature in inputs_of(features) if feature.kind != "category"}
    if not isinstance(record, Mapping) or record.keys() != named:
        raise ModelError("the model's record of readings does not name its features")
    nothing = ReadingRange(None, None)
    return tuple(
        _range_of(feature, record[feature.name]) if feature.name in named else nothing
        for feature in features
    )


def units_of(features: Sequence[Feature], training: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the unit of each feature as `reading_ranges` has it; nothing without a record."""
    return tuple(seen.unit for seen in reading_ranges(features, training) or ())


def _range_of(feature: Feature, entry: Any) -> ReadingRange:
    if not isinstance(entry, Mapping) or not {"min", "max"} <= entry.keys() <= _KEYS:
        raise ModelError(f"the record of readings of feature {feature.name!r} is malformed")
    low, high, unit = entry["min"], entry["max"], entry.get("unit", "")
    if type(unit) is not str or not (unit == "" or is_unit(unit)):
        raise ModelError(f"the unit of feature {feature.name!r} is not a short text")
    if low is None and high is None:
        return ReadingRange(None, None, unit)
    if not (is_reading(feature, low) and is_reading(feature, high) and low <= high):
        raise ModelError(
            f"the range of readings of feature {feature.name!r} does not match its type"
        )
    return ReadingRange(low, high, unit)


_KEYS = {"min", "max", "unit"}


def is_reading(feature: Feature, value: Any) -> bool:
    """Return whether a JSON value is one of the feature's type, and marks no missing reading."""
    if feature.kind == "float32":
        with np.errstate(over="ignore"):
            return type(value) is float and float(np.float32(value)) == value != np.inf
    largest = LARGEST_INT.get(feature.kind, feature.n_states - 1)
    smallest = SMALLEST_INT.get(feature.kind, 0)
    return type(value) is int and smallest <= value <= largest
