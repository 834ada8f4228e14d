"""
Readings of no known class, by how they differ from the training rows of the class decided on.

Each class has a range of each reading. The novelty of a reading counts those outside the ranges of
the class decided on, times a weight, less the margin of the decision. Above a limit, the reading
is of no known class.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.data.dataset import Table
from bncc.discretize.feature import Feature, inputs_of
from bncc.discretize.readings import is_missing_reading, raw_of_table
from bncc.errors import ModelError
from bncc.model.confidence import margins_of
from bncc.model.ranges import Number, is_reading

UNKNOWN = "unknown"
"""
Key in a model's training record: false alarms, on ``held_out`` and on ``test`` rows.

Each is None, or an `UnknownEffect` as a mapping.
"""
ERR_UNKNOWN = -8
"""Result for a reading of no known class."""
MAX_NOVELTY = 2**31 - 1
"""Largest product of the weight and the number of rated inputs, and largest limit."""

Range = tuple[Number, Number]
"""Lowest and highest reading of a class."""


@dataclass(frozen=True)
class Unknown:
    """
    The rule by which readings are of no known class.

    Parameters
    ----------
    ranges : mapping of str to tuple of (low, high) or None
        By the name of an input, the range of its readings in each class, values of the C type; None
        for a class without a reading, outside of whose range nothing is.
    weight : int
        Novelty of a reading outside its range, in units of a cost.
    limit : int
        Largest novelty of readings of known classes.
    """

    ranges: Mapping[str, tuple[Range | None, ...]]
    weight: int
    limit: int

    def outside(self, features: tuple[Feature, ...], R: FloatArray, classes: IntArray) -> IntArray:
        """
        Return how many readings of each row are outside the ranges of its class.

        Shapes: `R` (n, n_inputs) float64, raw readings; `classes` (n,) int; returns (n,) int64.
        """
        found = np.zeros(len(R), dtype=np.int64)
        for k, feature in enumerate(inputs_of(features)):
            if feature.name not in self.ranges:
                continue
            ends = [(-np.inf, np.inf) if of is None else of for of in self.ranges[feature.name]]
            low, high = np.array(ends, dtype=np.float64)[classes].reshape(-1, 2).T
            values = R[:, k]
            with np.errstate(invalid="ignore"):
                is_outside = (values < low) | (values > high)
            found += is_outside & ~is_missing_reading(feature, values)
        return found

    def novelty(
        self, features: tuple[Feature, ...], R: FloatArray, classes: IntArray, margins: IntArray
    ) -> IntArray:
        """
        Return the novelty of each row by its decision.

        Shapes: `R` (n, n_inputs) float64, raw readings; `classes` and `margins` (n,) int; returns
        (n,) int64.
        """
        return self.weight * self.outside(features, R, classes) - margins

    def known_class(
        self, features: tuple[Feature, ...], R: FloatArray, scores: IntArray
    ) -> IntArray:
        """
        Return the class of each row, or `ERR_UNKNOWN`, as ``NAME_known_class`` does.

        Shapes: `R` (n, n_inputs) float64; `scores` (n, n_classes) int; returns (n,) int64.
        """
        classes = np.asarray(scores).argmin(axis=1)
        is_known = self.novelty(features, R, classes, margins_of(scores)) <= self.limit
        return np.where(is_known, classes, ERR_UNKNOWN)

    def knows(self, features: tuple[Feature, ...], table: Table, scores: IntArray) -> BoolArray:
        """Return which rows of a table with scores (n, n_classes) are of a known class, (n,)."""
        return self.known_class(features, raw_of_table(features, table), scores) >= 0


@dataclass(frozen=True)
class UnknownEffect:
    """False alarms on rows of known classes, and detected rows of others."""

    n: int  # Rows of known classes
    false_alarms: int  # Those that are taken for readings of no known class
    worst_group: float | None = None  # Largest rate of false alarms of a group; None without groups
    n_unknown: int = 0  # Rows of other classes
    detected: int = 0  # Those that are taken for readings of no known class

    @property
    def words(self) -> str:
        """The figures in words."""
        parts = []
        if self.n:
            rate = f"{100 * self.false_alarms / self.n:.1f} % false alarms"
            parts.append(f"{rate} ({self.false_alarms} of {self.n} rows)")
        if self.worst_group is not None:
            parts.append(f"{100 * self.worst_group:.1f} % in the worst group")
        if self.n_unknown:
            missed = self.n_unknown - self.detected
            parts.append(f"{self.detected} rows of other classes detected, {missed} missed")
        return ", ".join(parts)


def required(found: Unknown | None) -> Unknown:
    """Return the rule of a model, or refuse a model without one."""
    if found is None:
        raise ModelError("the model knows no unknown readings; train it with --unknown 0.05")
    return found


def effect_of(known: BoolArray, y: IntArray, groups: IntArray | None = None) -> UnknownEffect:
    """
    Return false alarms and detected rows.

    Shapes: `known` (n,) bool; `y` (n,) int, -1 for a class that the model does not have; `groups`
    (n,) int or None.
    """
    is_class = y >= 0
    alarms = ~known & is_class
    worst = None
    if groups is not None and is_class.any():
        codes = np.unique(groups[is_class], return_inverse=True)[1]
        worst = float((np.bincount(codes, alarms[is_class]) / np.bincount(codes)).max())
    n_unknown = int((~is_class).sum())
    return UnknownEffect(
        int(is_class.sum()), int(alarms.sum()), worst, n_unknown, int((~known & ~is_class).sum())
    )


def check_unknown(unknown: Unknown, features: tuple[Feature, ...], n_classes: int) -> None:
    """Raise a ModelError if a rule is none for a model's inputs and classes."""
    inputs = {feature.name: feature for feature in inputs_of(features) if feature.is_numeric}
    for name, ranges in unknown.ranges.items():
        if name not in inputs or len(ranges) != n_classes:
            raise ModelError(
                f"the ranges of {name!r} for unknown readings are not those of a numeric input in "
                f"{n_classes} classes"
            )
        if not all(of is None or _is_range(inputs[name], of) for of in ranges):
            raise ModelError(
                f"a range of {name!r} for unknown readings does not match the type of its readings"
            )
    largest = unknown.weight * max(1, len(unknown.ranges))
    if not (1 <= unknown.weight and largest <= MAX_NOVELTY and abs(unknown.limit) <= MAX_NOVELTY):
        raise ModelError(
            f"the weight {unknown.weight} or the limit {unknown.limit} for unknown readings is out "
            "of range"
        )


def _is_range(feature: Feature, ends: Range) -> bool:
    are_readings = len(ends) == 2 and all(is_reading(feature, end) for end in ends)
    # -0.0 is as large as 0.0, but another file and another key.
    return (
        are_readings
        and not any(end == 0 and np.signbit(end) for end in ends)
        and (ends[0] <= ends[1])
    )
