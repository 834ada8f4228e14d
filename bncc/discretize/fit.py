"""Fitting: from the training rows of a table to the features of a classifier."""

from collections.abc import Callable
from dataclasses import replace
from typing import cast

import numpy as np

from bncc._types import AnyArray, FloatArray, IntArray
from bncc.data.dataset import Column, Table
from bncc.discretize.binning import mdl_cuts, median_cuts, quantile_cuts, width_cuts
from bncc.discretize.feature import (
    LARGEST_INT,
    SMALLEST_INT,
    Feature,
    FeatureKind,
    float32_grid,
)
from bncc.discretize.missing import missing_state_of
from bncc.errors import DataError, OptionError

METHODS = ("mdl", "quantile", "width", "median", "none")
"""Discretization methods of numeric columns, the default first."""

MAX_STATES = 65535
"""Most states of a feature; the C holds a state in 16 bits."""

READINGS = ("auto", "smallest", "int8", "uint8", "int16", "int32", "float32")
"""
Types of numeric readings, the default first.

``auto`` is int16 where it holds the training readings of a column, else int32, and float32 for
fractions; ``smallest`` is the first of uint8, int8, int16 and int32 that holds them, where a uint8
holds no missing reading. Any other is the type of all columns of integers.
"""

_CANDIDATES: dict[str, tuple[FeatureKind, ...]] = {
    "auto": ("int16", "int32"),
    "smallest": ("uint8", "int8", "int16", "int32"),
}
_EXACT_IN_FLOAT = 2**24
"""Integers up to here are floats."""

_Cuts = Callable[[AnyArray, IntArray], FloatArray]


def fit_features(
    table: Table,
    y: IntArray,
    method: str = "mdl",
    *,
    n_bins: int = 8,
    rebin_states: bool = False,
    readings: str = READINGS[0],
) -> tuple[Feature, ...]:
    """
    Learn how each column of raw readings becomes states.

    Shapes: `y` (n_rows,) int.
    """
    if method not in METHODS:
        raise OptionError(f"unknown discretization '{method}'; choose one of {', '.join(METHODS)}")
    if not 2 <= n_bins <= MAX_STATES:
        raise OptionError(f"{n_bins} bins are not supported; choose 2 .. {MAX_STATES}")
    n_classes = int(y.max()) + 1 if len(y) else 1
    cuts_of: dict[str, _Cuts] = {
        "mdl": lambda values, labels: mdl_cuts(values, labels, n_classes),
        "quantile": lambda values, labels: quantile_cuts(values, n_bins),
        "width": lambda values, labels: width_cuts(values, n_bins),
        "median": lambda values, labels: median_cuts(values),
    }
    features = []
    for column in table.columns:
        if column.kind == "category":
            feature = _category(column)
        elif method == "none" or (column.kind == "state" and not rebin_states):
            feature = _as_given(column)
        else:
            feature = _numeric(column, y, cuts_of[method], readings)
        features.append(_with_missing_state(feature, column))
    return tuple(features)


def _category(column: Column) -> Feature:
    labels = tuple(sorted(set(column.values[~column.missing].tolist())))
    return Feature(column.name, "category", max(len(labels), 1), categories=labels)


def _as_given(column: Column) -> Feature:
    values = column.values[~column.missing]
    wrong = (values < 0) | (values != np.floor(values))
    if wrong.any():
        raise DataError(
            f"column {column.name!r} contains {values[wrong][0]}, which is not a state; use "
            "integers from 0, or a discretization other than none"
        )
    n_states = int(values.max()) + 1 if len(values) else 1
    return Feature(column.name, "state", n_states)


def _numeric(column: Column, y: IntArray, cuts_of: _Cuts, readings: str) -> Feature:
    present = ~column.missing
    kind = "float32" if column.kind == "float" else _whole_kind(column, readings)
    if kind == "float32":
        values = float32_grid(column.name, column)[present]
        thresholds = float32_thresholds(cuts_of(values, y[present]))
        return Feature(column.name, "float32", len(thresholds) + 1, thresholds)
    values = column.values[present]
    cuts = np.unique(np.floor(cuts_of(values, y[present])))
    return Feature(column.name, kind, len(cuts) + 1, tuple(int(cut) for cut in cuts))


def _whole_kind(column: Column, readings: str) -> FeatureKind:
    """Choose the type of the readings of a column of integers."""
    *others, widest = _CANDIDATES.get(readings, (cast(FeatureKind, readings),))
    kind = next((kind for kind in others if _misfit(column, kind) is None), widest)
    problem = None if others else _misfit(column, kind)
    if problem is not None:
        raise DataError(
            f"column {column.name!r} {problem}; choose --readings smallest or another type, or "
            "change the column"
        )
    return kind


def _misfit(column: Column, kind: FeatureKind) -> str | None:
    """Return why a type does not hold the readings of a column, as a clause about the column."""
    if kind == "uint8" and column.has_gaps:
        row = int(np.flatnonzero(column.missing)[0]) if column.missing.any() else None
        where = "has missing cells" if row is None else f"is missing in row {row + 1}"
        return f"{where}, for which {kind} has no value"
    low, high = -_EXACT_IN_FLOAT, _EXACT_IN_FLOAT
    if kind in LARGEST_INT:
        low, high = SMALLEST_INT[kind], LARGEST_INT[kind]
    values = column.values[~column.missing]
    outside = values[(values < low) | (values > high)]
    if not len(outside):
        return None
    return f"contains {outside[0]}, and {kind} holds {low} .. {high}"


def float32_thresholds(cuts: FloatArray) -> tuple[float, ...]:
    """
    Round cut points towards minus infinity to float32, so that no float32 changes sides.

    Shapes: `cuts` (n_cuts,) float64.
    """
    with np.errstate(over="ignore", under="ignore"):
        nearest = np.asarray(cuts, dtype=np.float64).astype(np.float32)
        below = np.nextafter(nearest, np.float32(-np.inf))
    rounded = np.where(nearest.astype(np.float64) > cuts, below, nearest)
    return tuple(np.unique(rounded.astype(np.float64) + 0.0).tolist())


def _with_missing_state(feature: Feature, column: Column) -> Feature:
    state = missing_state_of(feature.n_states, column.missing, feature.states(column))
    n_states = max(feature.n_states, state + 1)
    if n_states > MAX_STATES:
        raise DataError(
            f"column {column.name!r} would have {n_states} states, more than {MAX_STATES}; drop "
            "it, or choose another discretization"
        )
    return replace(feature, n_states=n_states, missing_state=state)
