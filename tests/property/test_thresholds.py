"""Rounding cut points to the sensor's type never moves a reading to the other side."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bncc.data.dataset import Column, Table
from bncc.discretize.fit import fit_features, float32_thresholds

LARGEST = float(np.finfo(np.float32).max)

cuts = st.floats(min_value=-LARGEST, max_value=LARGEST, allow_nan=False)
readings = st.floats(width=32, allow_nan=False, allow_infinity=False)


def _neighbors(cut: float) -> list[float]:
    nearest = np.float32(cut)
    with np.errstate(over="ignore", under="ignore"):
        ends = [np.nextafter(nearest, np.float32(side)) for side in (-np.inf, np.inf)]
    return [float(x) for x in (nearest, *ends) if np.isfinite(x)]


@given(cuts, readings)
def test_a_float32_is_above_the_threshold_exactly_when_it_is_above_the_cut(
    cut: float, reading: float
) -> None:
    """For any reading, and above all for the float32 values next to the cut."""
    (threshold,) = float32_thresholds(np.array([cut]))
    assert float(np.float32(threshold)) == threshold
    assert not (threshold == 0.0 and np.signbit(threshold))
    for x in (reading, *_neighbors(cut)):
        assert (x > threshold) == (Fraction(x) > Fraction(cut))


@given(st.lists(cuts, max_size=8, unique=True), readings)
def test_the_count_of_thresholds_below_is_that_of_distinct_cuts(
    values: list[float], reading: float
) -> None:
    """Thresholds are strictly ascending, and equal ones stand for cuts no float32 distinguishes."""
    thresholds = float32_thresholds(np.sort(np.array(values)))
    assert all(a < b for a, b in pairwise(thresholds))
    below = {t for t in thresholds if reading > t}
    assert below == {float32_thresholds(np.array([c]))[0] for c in values if reading > c}


@given(
    st.lists(st.tuples(readings, st.integers(0, 1)), min_size=2, max_size=40),
    st.sampled_from(["mdl", "quantile", "width", "median"]),
)
def test_states_rise_with_the_reading(cells: list[tuple[float, int]], method: str) -> None:
    """For every method a larger reading never has a smaller state, and equal ones are equal."""
    values = np.array([cell[0] for cell in cells], dtype=np.float64)
    y = np.array([cell[1] for cell in cells])
    column = Column("a", "float", values, np.zeros(len(values), dtype=np.bool_))
    (feature,) = fit_features(Table((column,)), y, method, n_bins=4)
    states = feature.states(column)
    order = np.argsort(values, kind="stable")
    assert (np.diff(states[order]) >= 0).all()
    assert ((np.diff(values[order]) > 0) >= (np.diff(states[order]) > 0)).all()
    assert 0 <= states.min() <= states.max() < feature.n_states


@given(
    st.lists(st.tuples(st.integers(-(2**31) + 1, 2**31 - 1), st.integers(0, 1)), min_size=2),
    st.sampled_from(["mdl", "quantile", "width", "median"]),
)
def test_whole_thresholds_separate_as_their_cuts_do(
    cells: list[tuple[int, int]], method: str
) -> None:
    """Integer features put training readings into as many states as the same floats would."""
    values = np.array([cell[0] for cell in cells], dtype=np.int64)
    y = np.array([cell[1] for cell in cells])
    column = Column("a", "integer", values, np.zeros(len(values), dtype=np.bool_))
    (feature,) = fit_features(Table((column,)), y, method, n_bins=4)
    low, high = (-(2**15), 2**15 - 1) if feature.kind == "int16" else (-(2**31), 2**31 - 1)
    assert all(low < t <= high for t in feature.thresholds)
    expected = sum((values > t).astype(np.int64) for t in feature.thresholds)
    assert (feature.states(column) == expected).all()
