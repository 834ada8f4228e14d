"""What a feature and a grid may hold, so that Python and the emitted C read them alike."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from bncc.discretize.feature import Feature
from bncc.errors import ModelError
from bncc.structure.decision_tables import Grid, Grids

MAX_STATES = 65535
"""A state fits in the C's uint16_t, and one value above all states stays free."""

MAX_MAPPED_STATES = 2**24
"""Of the features that each table of a sum reads, added up: every one is given a level, and a few
bytes of a file could ask for the levels of 65535 states a thousand times."""

_INTEGER_RANGE = {"int16": 2**15, "int32": 2**31}


def check_text(text: str) -> None:
    """Verify that a name or label can be printed."""
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ModelError(f"the name {text!a} is not valid Unicode")


def check_feature(feature: Feature) -> None:
    """Verify that a feature's rule is sound: types, order, ranges and the number of states."""
    for text in (feature.name, *feature.categories):
        check_text(text)
    name = f"feature {feature.name!r}"
    if not 1 <= feature.n_states <= MAX_STATES:
        raise ModelError(f"{name} has {feature.n_states} states; 1 .. {MAX_STATES} are supported")
    if not 0 <= feature.fallback < feature.n_states:
        raise ModelError(f"{name} falls back to state {feature.fallback}, which it does not have")
    if feature.kind in _INTEGER_RANGE:
        _check_integers(name, feature.thresholds, _INTEGER_RANGE[feature.kind])
    elif feature.kind == "float32":
        _check_floats(name, feature.thresholds)
    elif feature.kind not in ("category", "state"):
        raise ModelError(f"{name} is of the unknown kind {feature.kind!r}")
    if feature.thresholds and not feature.is_numeric:
        raise ModelError(f"{name} is a {feature.kind} and cannot have thresholds")
    if feature.categories and feature.kind != "category":
        raise ModelError(f"{name} is of kind {feature.kind} and cannot have categories")
    if len(set(feature.categories)) != len(feature.categories):
        raise ModelError(f"{name} holds a category twice")
    if not all(a < b for a, b in pairwise(feature.thresholds)):
        raise ModelError(f"the thresholds of {name} do not ascend strictly")
    if feature.kind != "state":
        _check_n_states(name, feature)


def check_grids(grids: Grids, n_states: Sequence[int]) -> None:
    """Verify that the grids of a sum are sound."""
    if not grids.tables:
        raise ModelError("the model's sum has no table")
    for t, grid in enumerate(grids.tables):
        _check_grid(f"table {t}", grid, n_states)
    if sum(n_states[f] for grid in grids.tables for f in grid.features) > MAX_MAPPED_STATES:
        raise ModelError(
            f"the tables of the model's sum read more than {MAX_MAPPED_STATES} states in all; "
            "train with fewer tables, or columns of fewer states"
        )


def _check_grid(name: str, grid: Grid, n_states: Sequence[int]) -> None:
    features, cuts = grid.features, grid.cuts
    if not features or len(set(features)) != len(features) or len(features) != len(cuts):
        raise ModelError(f"{name} does not read features once each")
    for f, of_feature in zip(features, cuts, strict=True):
        if not 0 <= f < len(n_states):
            raise ModelError(f"{name} reads feature {f}, which is not there")
        ends = (-1, *of_feature, n_states[f] - 1)
        if not of_feature or not all(a < b for a, b in pairwise(ends)):
            raise ModelError(f"{name} cuts feature {f} not between ascending states")


def _check_integers(name: str, thresholds: tuple[int | float, ...], bound: int) -> None:
    for threshold in thresholds:
        # bool is an int to Python, but would print as `True` in the C
        if type(threshold) is not int or not -bound <= threshold < bound:
            raise ModelError(f"{name} has the threshold {threshold!r}, outside its integer type")


def _check_floats(name: str, thresholds: tuple[int | float, ...]) -> None:
    exact = np.array([float(t) if type(t) is float else np.nan for t in thresholds])
    with np.errstate(over="ignore"):
        held = np.isfinite(exact) & (exact.astype(np.float32) == exact)
    # -0.0 would print as a float that compares like 0.0 but is another file
    held &= (exact != 0) | ~np.signbit(exact)
    if not held.all():
        wrong = thresholds[int(np.flatnonzero(~held)[0])]
        raise ModelError(f"{name} has the threshold {wrong!r}, which is no float32 value")


def _check_n_states(name: str, feature: Feature) -> None:
    known = len(feature.categories) if feature.kind == "category" else len(feature.thresholds) + 1
    of_missing = feature.n_states == known + 1 and feature.fallback == known
    if feature.n_states != known and not of_missing:
        raise ModelError(
            f"{name} has {feature.n_states} states and falls back to {feature.fallback}; its "
            f"rule asks for {known}, or for {known + 1} with the last for missing readings"
        )
