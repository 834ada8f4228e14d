"""Readings as the C takes them: their types, their states, and the values worth trying."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bncc._types import AnyArray, BoolArray, FloatArray, IntArray
from bncc.data.dataset import Column, Table
from bncc.discretize.feature import (
    LARGEST_INT,
    SMALLEST_INT,
    Feature,
    category_codes,
    check_present,
    inputs_of,
    integer_readings,
    numeric_cells,
    whole_cells,
)
from bncc.discretize.missing import MISSING_INT, is_marked, missing_mark
from bncc.errors import DataError

_FLOAT_EXTREMES = (
    np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0,
    1.401298464324817e-45, -1.401298464324817e-45,  # the smallest denormals
    1.1754943508222875e-38, -1.1754943508222875e-38,  # the smallest normal numbers
    3.4028234663852886e38, -3.4028234663852886e38,
)  # fmt: skip


def state_dtype(n_states: Sequence[int]) -> np.dtype[np.unsignedinteger]:
    """Return the C type of states."""
    return np.dtype(np.uint16) if max(n_states) > 255 else np.dtype(np.uint8)


def raw_dtypes(features: Sequence[Feature]) -> tuple[np.dtype[Any], ...]:
    """Return the C type of each raw reading; differences have none."""
    inputs = inputs_of(features)
    return tuple(np.dtype(f.kind) if f.is_numeric else state_dtype((n_known(f),)) for f in inputs)


def is_array(features: Sequence[Feature]) -> bool:
    """Return whether readings are an array: one type, and not both numbers and codes of a byte."""
    numeric = (f.is_numeric for f in inputs_of(features))
    kinds = zip(raw_dtypes(features), numeric, strict=True)
    return len(set(kinds)) == 1


def states_of_raw(features: Sequence[Feature], R: FloatArray) -> IntArray:
    """
    Return the states of raw readings: the rule that ``predict_raw`` follows.

    Shapes: `R` (n, n_inputs) float64; returns X (n, n_features) int64, states.
    """
    X = np.empty((len(R), len(features)), dtype=np.int64)
    for i, feature in enumerate(features):
        values = R[:, i] if feature.difference is None else _difference(R, *feature.difference)
        X[:, i] = states_of_values(feature, values)
    return X


def _difference(R: FloatArray, first: int, second: int) -> FloatArray:
    return np.asarray(R[:, first] - R[:, second])


def states_of_values(feature: Feature, values: FloatArray) -> IntArray:
    """
    Return the states of a feature's raw readings, or of differences.

    Shapes: `values` (n,) float64; returns (n,) int64.
    """
    if feature.is_numeric:
        # Not Feature.states: a second way to count, so that one mistake cannot hide in both.
        known = np.zeros(len(values), dtype=np.int64)
        for threshold in feature.thresholds:
            known += values > threshold
        missing = is_missing_reading(feature, values)
    else:
        known = values.astype(np.int64)
        missing = known >= n_known(feature)
    return np.where(missing, feature.missing_state, known)


def n_known(feature: Feature) -> int:
    """Return how many numbers of a category or state are known; any other is a missing reading."""
    return len(feature.categories) if feature.kind == "category" else feature.n_states


def is_missing_reading(feature: Feature, values: FloatArray) -> BoolArray:
    """
    Return which raw readings of a feature are marked as missing.

    Shapes: `values` (n,) float64; returns (n,) bool.
    """
    return is_marked(values, missing_reading(feature))


def probe_values(feature: Feature) -> FloatArray:
    """
    Return the raw values of a feature that are worth trying.

    Shapes: returns (n,) float64, for numbers, every threshold and its two neighbors, the marker of
    a missing reading and the extremes of the type (signed zeros, infinities, NaN of both signs and
    denormals for float32); otherwise every state, the first beyond them and the largest.
    """
    if feature.kind == "float32":
        t = np.array(feature.thresholds, dtype=np.float32)
        infinity = np.float32(np.inf)
        with np.errstate(over="ignore"):  # the largest float's neighbor is infinity
            around = np.concatenate([np.nextafter(t, -infinity), t, np.nextafter(t, infinity)])
        return np.concatenate([around.astype(np.float64), _FLOAT_EXTREMES])
    if feature.is_numeric:
        low = MISSING_INT.get(feature.kind, SMALLEST_INT[feature.kind])
        high = LARGEST_INT[feature.kind]
        centers = np.array(feature.thresholds, dtype=np.int64)
        around = np.concatenate([centers - 1, centers, centers + 1])
        values = np.concatenate([around, [low, low + 1, -1, 0, 1, high]])
        return np.unique(values[(values >= low) & (values <= high)]).astype(np.float64)
    largest = missing_reading(feature)
    beyond = min(n_known(feature), largest)
    return np.array([largest, beyond, *range(n_known(feature))], dtype=np.float64)


def representatives(feature: Feature) -> FloatArray:
    """
    Return one raw value for each state.

    Shapes: returns (n_states,) float64, a value with that state; for a state that no raw value has,
    one of the state of missing readings.
    """
    # The last value of a state counts: markers and numbers out of range come first among probes.
    values = probe_values(feature)
    states = states_of_values(feature, values)
    chosen = np.full(feature.n_states, values[states == feature.missing_state][:1].sum())
    chosen[states] = values
    return chosen


def with_difference(
    features: Sequence[Feature], difference: Feature, R: FloatArray, wanted: FloatArray
) -> FloatArray:
    """
    Return raw rows whose readings have given differences, or the nearest that their type holds.

    Shapes: `R` (n, n_inputs) float64; `wanted` (n,) float64; returns (n, n_inputs) float64.
    """
    assert difference.difference is not None
    first, second = difference.difference
    kind = features[first].kind
    low, high = MISSING_INT.get(kind, SMALLEST_INT[kind]), LARGEST_INT[kind]
    moved = R.copy()
    moved[:, first] = np.clip(R[:, second] + wanted, low, high)
    moved[:, second] = np.clip(moved[:, first] - wanted, low, high)
    return moved


def missing_reading(feature: Feature) -> float:
    """Return the value by which the C marks a missing reading; NaN where it has none."""
    if not feature.has_marker:
        return float("nan")
    return missing_mark(feature.kind, state_dtype((n_known(feature),)))


def missing_or(feature: Feature, reading: float) -> float:
    """Return the mark of a missing reading, or in its place a reading where there is none."""
    return missing_reading(feature) if feature.has_marker else reading


def raw_of_table(features: Sequence[Feature], table: Table) -> FloatArray:
    """
    Return a table's readings as the C takes them.

    Shapes: returns R (n_rows, n_inputs) float64, values of the C types.
    """
    columns = {column.name: column for column in table.columns}
    inputs = inputs_of(features)
    R = np.empty((table.n_rows, len(inputs)))
    for i, feature in enumerate(inputs):
        if feature.name not in columns:
            raise DataError(f"the table has no column {feature.name!r}, which the model reads")
        R[:, i] = _readings(feature, columns[feature.name])
    return R


def _readings(feature: Feature, column: Column) -> AnyArray:
    if feature.kind in LARGEST_INT:
        return integer_readings(feature, column)
    marker = missing_reading(feature)
    if feature.kind == "category":
        codes = category_codes(feature, column)
        return np.where(codes < 0, marker, codes)
    column = numeric_cells(feature.name, column)
    check_present(feature, column)
    if feature.kind == "float32":
        with np.errstate(over="ignore"):
            floats = column.values.astype(np.float32).astype(np.float64)
        return np.where(column.missing, marker, floats)
    values = whole_cells(feature.name, column)
    fits = ~column.missing & (values >= 0) & (values < feature.n_states)
    return np.where(fits, values, marker)


def far_table(features: Sequence[Feature], n_rows: int, rng: np.random.Generator) -> Table:
    """Return a table whose cells are mostly beyond what training has seen."""
    return Table(tuple(_far_column(feature, n_rows, rng) for feature in inputs_of(features)))


def _far_column(feature: Feature, n_rows: int, rng: np.random.Generator) -> Column:
    missing = feature.has_marker & (rng.random(n_rows) < 1 / 8)
    if feature.kind == "category":
        unseen = "unseen" + "".join(feature.categories)[:1]
        while unseen in feature.categories:
            unseen += "'"
        cells = np.empty(n_rows, dtype=object)
        cells[:] = rng.choice(np.array([*feature.categories, unseen], dtype=object), n_rows)
        return Column(feature.name, "category", cells, missing)
    cells = rng.choice(_far_values(feature), n_rows)
    return Column(feature.name, "float", cells + 0.0, missing)


def _far_values(feature: Feature) -> FloatArray:
    if feature.kind == "float32":
        values = probe_values(feature)
        return values[np.isfinite(values)]
    if not feature.is_numeric:
        return np.concatenate([np.arange(feature.n_states), [-1, -(2**40), 255, 256, 65536, 1e300]])
    smallest, largest = SMALLEST_INT[feature.kind], LARGEST_INT[feature.kind]
    beyond: list[float] = [smallest - 2, smallest - 1, smallest, largest, largest + 1]
    beyond += [-40000, 1e6, -(2.0**40), 1e300]
    return np.concatenate([representatives(feature), beyond])
