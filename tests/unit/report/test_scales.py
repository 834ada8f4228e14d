"""Axes reach a little beyond the figures and carry a few round labels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.report.scales import cost_scale, error_scale

COSTS = st.lists(st.floats(1, 1e9), min_size=1, max_size=5)


@given(COSTS, st.booleans())
def test_costs_lie_between_the_limits(values: list[float], binary: bool) -> None:
    scale = cost_scale(values, binary=binary)
    assert scale.low < min(values) <= max(values) < scale.high
    assert len(scale.ticks) <= 7
    assert all(scale.low <= value <= scale.high for value, _ in scale.ticks)
    assert len({label for _, label in scale.ticks}) == len(scale.ticks)


@given(COSTS.filter(lambda values: max(values) > 10 * min(values)), st.booleans())
def test_a_wide_axis_has_two_labels_at_least(values: list[float], binary: bool) -> None:
    assert len(cost_scale(values, binary=binary).ticks) >= 2


def test_memories_are_labelled_in_powers_of_two() -> None:
    labels = [label for _, label in cost_scale([300, 9000], binary=True).ticks]
    assert labels == ["512", "1 KB", "2 KB", "4 KB", "8 KB"]


@given(st.floats(0, 1), st.floats(0, 1))
def test_errors_lie_between_the_limits(a: float, b: float) -> None:
    low, high = sorted((a, b))
    scale = error_scale(low, high)
    assert 0 <= scale.low <= low <= high <= scale.high <= 1.004
    assert 1 <= len(scale.ticks) <= 8


@pytest.mark.parametrize(("low", "bottom"), [(0.05, 0.0), (0.3, 0.294)])
def test_errors_start_at_zero_where_that_wastes_little(low: float, bottom: float) -> None:
    assert error_scale(low, 0.4).low == pytest.approx(bottom)
