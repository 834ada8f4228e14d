"""Readings to try emitted rules for unknown readings on: at ends of ranges, and special ones."""

from collections.abc import Iterator

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.data.dataset import Table
from bncc.device.inputs.cases import Case, Effort
from bncc.device.inputs.checked import edge_values
from bncc.discretize.feature import Feature, states_of
from bncc.discretize.readings import (
    is_missing_reading,
    probe_values,
    raw_of_table,
    states_of_raw,
)
from bncc.model.checked import Limits
from bncc.model.model import Model
from bncc.model.reference import scores
from bncc.model.unknown import Unknown, required

ROWS = 400
"""Rows of each kind of readings and scores."""
_MOST_ROWS = 4000


def unknown_words(effort: Effort) -> str:
    """Describe the rows in words."""
    return (
        f"{2 * (effort.n_random + 2 * ROWS):,} readings next to the ends of ranges, and special "
        "ones, for known classes"
    )


def unknown_cases(
    model: Model, largest: int, table: Table | None, effort: Effort
) -> Iterator[Case]:
    """Generate rows with the results of the reference, no score above `largest`."""
    unknown = required(model.unknown)
    rng = np.random.default_rng(effort.seed)
    if table is not None:
        X, R = states_of(model.features, table), raw_of_table(model.features, table)
        kept = np.unique(np.linspace(0, len(R) - 1, _MOST_ROWS).astype(np.intp))
        yield from _questions(model, unknown, R[kept], scores(model, X[kept]), rng)
    values = [values_near(feature, unknown) for feature in model.inputs]

    def drawn(n: int) -> FloatArray:
        return np.column_stack([rng.choice(each, n) for each in values])

    if effort.n_random:
        R = drawn(effort.n_random)
        own = scores(model, states_of_raw(model.features, R))
        yield from _questions(model, unknown, R, own, rng)
    R = drawn(ROWS)
    few = rng.integers(0, model.n_classes, ROWS)
    inside = _within(model, unknown, R, few)
    for readings, classes in ((R, few), (inside, few)):
        of_rows = _at_limits(model, unknown, readings, classes, largest, rng)
        yield from _questions(model, unknown, readings, of_rows, rng)


def _questions(
    model: Model, unknown: Unknown, R: FloatArray, of_rows: IntArray, rng: np.random.Generator
) -> Iterator[Case]:
    """Yield both questions about rows: readings outside of some class, and the decision."""
    classes = rng.integers(0, model.n_classes, len(R))
    n = unknown.outside(model.features, R, classes)
    decision = unknown.known_class(model.features, R, of_rows)
    none = np.full(len(R), model.n_classes)
    for asked, y in ((classes, n), (none, decision)):
        x = np.column_stack([asked, of_rows, R]).astype(np.float64)
        yield Case("unknown", x, y.astype(np.int16))


def values_near(feature: Feature, unknown: Unknown) -> FloatArray:
    """Return readings next to the ends of all ranges of a feature, and special ones."""
    ranges = unknown.ranges.get(feature.name, ())
    at_ends = [edge_values(feature, Limits(*of)) for of in ranges if of is not None]
    return np.concatenate([probe_values(feature), *at_ends])


def _within(model: Model, unknown: Unknown, R: FloatArray, classes: IntArray) -> FloatArray:
    """Return rows of which no reading, or a few, are outside the ranges of their classes."""
    inside = R.copy()
    for k, feature in enumerate(model.inputs):
        ranges = unknown.ranges.get(feature.name)
        for row, c in enumerate(classes.tolist()):
            of = None if ranges is None else ranges[c]
            if of is not None and not is_missing_reading(feature, R[row : row + 1, k])[0]:
                inside[row, k] = np.clip(R[row, k], *of) if (row + k) % 5 else R[row, k]
    return inside


def _at_limits(
    model: Model,
    unknown: Unknown,
    R: FloatArray,
    classes: IntArray,
    largest: int,
    rng: np.random.Generator,
) -> IntArray:
    """Return scores of rows whose novelties are next to the limit, with ties and without."""
    n, shape = len(R), (len(R), model.n_classes)
    margin = unknown.weight * unknown.outside(model.features, R, classes) - unknown.limit
    margin = np.clip(margin + rng.integers(-1, 2, n), 0, largest)
    least = rng.choice([0, 0, 1], n)
    found = (least + margin)[:, None] + rng.choice([0, 0, 1, largest], shape)
    found[np.arange(n), classes] = least
    return np.asarray(np.clip(found, 0, largest))
