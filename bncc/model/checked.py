"""Readings that are checked before they are decided on: the rule of ``m_predict_raw_checked``."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.discretize.feature import LARGEST_INT, SMALLEST_INT, Feature
from bncc.discretize.readings import (
    is_missing_reading,
    missing_or,
    missing_reading,
    n_known,
    states_of_raw,
)
from bncc.errors import ModelError, OptionError
from bncc.model.model import Model
from bncc.model.ranges import Number, ReadingRange, reading_ranges
from bncc.model.reference import predict

ERR_MISSING, ERR_RANGE = -5, -6
DEFAULT_MARGIN = 10.0
"""Percent of a feature's trained span by which a reading may exceed it."""
MOST_MARGIN = 1e6

_LARGEST_FLOAT = Fraction(float(np.finfo(np.float32).max))


@dataclass(frozen=True)
class Limits:
    """Readings of one feature that are decided on."""

    low: Number  # low and high: The smallest and the largest, values of the C type
    high: Number


def limits_of(model: Model, margin: float = DEFAULT_MARGIN) -> tuple[Limits, ...]:
    """Return within which limits the readings of each input are decided on."""
    if not 0 <= margin <= MOST_MARGIN:
        raise OptionError(
            f"a range margin of {margin} percent is not supported; choose 0 .. {MOST_MARGIN:.0f}"
        )
    ranges = reading_ranges(model.features, model.training)
    if ranges is None and any(feature.is_numeric for feature in model.features):
        raise ModelError(
            "the model has no record of the training ranges, which entry point 'checked' needs; "
            "train it again with this version of bncc"
        )
    share = Fraction(str(float(margin))) / 100
    known = ranges or (None,) * model.n_features
    n = len(model.inputs)
    return tuple(_limits(*pair, share) for pair in zip(model.inputs, known[:n], strict=True))


def beyond(feature: Feature, limits: Limits) -> tuple[float, float]:
    """
    Return the readings next to limits, below and above them.

    A limit at the end of its type has a missing reading next to it, or where there is none, itself.
    """
    if feature.kind == "float32":
        low, high = np.float32(limits.low), np.float32(limits.high)
        infinity = np.float32(np.inf)
        with np.errstate(over="ignore"):
            return float(np.nextafter(low, -infinity)), float(np.nextafter(high, infinity))
    largest = LARGEST_INT[feature.kind] if feature.is_numeric else missing_reading(feature)
    # An integer below all others is a missing one, as is a number above all others.
    has_below = limits.low > 0 or (feature.is_numeric and feature.has_marker)
    below = limits.low - 1 if has_below else missing_or(feature, limits.low)
    above = limits.high + 1 if limits.high < largest else missing_or(feature, limits.high)
    return float(below), float(above)


def predict_checked(model: Model, limits: Sequence[Limits], R: FloatArray) -> IntArray:
    """
    Return what ``m_predict_raw_checked`` returns.

    Shapes: `R` (n, n_inputs) float64; returns (n,) int64, `ERR_MISSING` or `ERR_RANGE`, by the
    first reading that is missing or beyond its limits; otherwise the class.
    """
    answers = predict(model, states_of_raw(model.features, R)).astype(np.int64)
    for i, feature in reversed(list(enumerate(model.inputs))):
        values = R[:, i]
        outside = (values < limits[i].low) | (values > limits[i].high)
        missing = is_missing_reading(feature, values)
        answers = np.where(missing, ERR_MISSING, np.where(outside, ERR_RANGE, answers))
    return answers


def _limits(feature: Feature, seen: ReadingRange | None, share: Fraction) -> Limits:
    if feature.kind == "category" or seen is None:
        if not n_known(feature):
            raise _no_reading(feature)
        return Limits(0, n_known(feature) - 1)
    if seen.low is None or seen.high is None:
        raise _no_reading(feature)
    if feature.kind == "state":
        return Limits(seen.low, seen.high)
    low, high = Fraction(seen.low), Fraction(seen.high)
    more = share * (high - low)
    if feature.kind == "float32":
        return Limits(_float_from(low - more), 0.0 - _float_from(-high - more))
    smallest, largest = SMALLEST_INT[feature.kind], LARGEST_INT[feature.kind]
    return Limits(max(ceil(low - more), smallest), min(floor(high + more), largest))


def _no_reading(feature: Feature) -> ModelError:
    return ModelError(
        f"feature {feature.name!r} had no reading in training, so entry point 'checked' would "
        "reject every input; drop the column with --drop and train again"
    )


def _float_from(value: Fraction) -> float:
    """Return the least float32 that is not below a number, within the finite ones."""
    value = min(max(value, -_LARGEST_FLOAT), _LARGEST_FLOAT)
    nearest = np.float32(float(value))
    while Fraction(float(nearest)) < value:
        nearest = np.nextafter(nearest, np.float32(np.inf))
    return float(nearest) + 0.0
