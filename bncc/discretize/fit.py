"""Fitting: from the training rows of a table to the features of a classifier."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bncc._types import AnyArray, FloatArray, IntArray
from bncc.data.dataset import Column, Table
from bncc.discretize.binning import mdl_cuts, median_cuts, quantile_cuts, width_cuts
from bncc.discretize.feature import Feature, FeatureKind, float32_grid
from bncc.discretize.missing import missing_state_of
from bncc.errors import DataError, OptionError

METHODS = ("mdl", "quantile", "width", "median", "none")
"""Discretization methods of numeric columns, the default first."""

MAX_STATES = 65535
"""Most states of a feature; the C holds a state in 16 bits."""

_INT16_MAX = 2**15 - 1

_Cuts = Callable[[AnyArray, IntArray], FloatArray]


def fit_features(
    table: Table,
    y: IntArray,
    method: str = "mdl",
    *,
    n_bins: int = 8,
    rebin_states: bool = False,
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
            feature = _numeric(column, y, cuts_of[method])
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


def _numeric(column: Column, y: IntArray, cuts_of: _Cuts) -> Feature:
    present = ~column.missing
    if column.kind == "float":
        values = float32_grid(column.name, column)[present]
        thresholds = float32_thresholds(cuts_of(values, y[present]))
        return Feature(column.name, "float32", len(thresholds) + 1, thresholds)
    values = column.values[present]
    cuts = np.unique(np.floor(cuts_of(values, y[present])))
    fits = not len(values) or (values.min() >= -_INT16_MAX and values.max() <= _INT16_MAX)
    kind: FeatureKind = "int16" if fits else "int32"
    return Feature(column.name, kind, len(cuts) + 1, tuple(int(cut) for cut in cuts))


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
