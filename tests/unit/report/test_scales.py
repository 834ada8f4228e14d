"""Axes reach a little beyond the figures and carry a few round labels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.report.scales import Scale, cost_scale, error_scale, is_crowded

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


def test_a_front_at_the_bottom_gets_a_logarithmic_axis() -> None:
    """One point of four may be higher: the smallest model is often a bad one."""
    scale = error_scale(0.0, 0.4, [0.3, 0.02, 0.005, 0.004])
    assert scale.log
    assert scale.low == 0.002
    assert [label for _, label in scale.ticks] == [
        "0.5 %", "1 %", "2 %", "5 %", "10 %", "20 %",
    ]  # fmt: skip
    assert scale.high == pytest.approx(0.424)


def test_a_front_over_the_whole_axis_keeps_it_linear() -> None:
    scale = error_scale(0.004, 0.4, [0.3, 0.1, 0.02, 0.004])
    assert not scale.log
    assert scale == error_scale(0.004, 0.4)


def test_errors_that_are_all_alike_keep_the_axis_linear() -> None:
    assert not error_scale(0.1, 0.11, [0.1]).log


@pytest.mark.parametrize(("error", "crowded"), [(0.079, True), (0.081, False)])
def test_one_point_is_crowded_in_the_lowest_fifth(error: float, crowded: bool) -> None:
    assert is_crowded([error], 0.4) == crowded
    assert error_scale(0.0, 0.4, [error]).log == crowded


def test_an_error_of_zero_is_at_the_low_end_and_labelled() -> None:
    scale = error_scale(0.0, 0.4, [0.02, 0.0], [0.01, 0.3])
    assert scale.log
    assert (scale.low, scale.ticks[0]) == (0.005, (0.005, "0 %"))
    assert [label for _, label in scale.ticks[1:3]] == ["1 %", "2 %"]
    place = scale.place(262.0, 0.0)
    assert place(0.0) == place(scale.low) == 262.0
    assert place(scale.high) == pytest.approx(0.0)
    assert place(0.01) < 262.0


def test_a_front_of_zero_errors_only_is_drawn_on_a_linear_axis() -> None:
    assert not is_crowded([0.0], 0.4)
    scale = error_scale(0.0, 0.4, [0.0], [0.3])
    assert (scale.log, scale.low) == (False, 0.0)


def test_without_a_front_the_axis_is_linear() -> None:
    assert not is_crowded([], 0.4)


@given(
    st.lists(st.floats(0.0005, 1), min_size=1, max_size=6), st.lists(st.floats(0, 1), max_size=6)
)
def test_errors_have_places_on_every_axis(front: list[float], others: list[float]) -> None:
    errors = [*front, *others]
    scale = error_scale(min(errors), max(errors), front, others)
    place = scale.place(0.0, 1.0)
    places = [place(error) for error in sorted(errors)]
    assert places == sorted(places)
    assert -1e-9 <= places[0] <= places[-1] <= 1 + 1e-9
    assert 1 <= len(scale.ticks) <= 10
    assert len({label for _, label in scale.ticks}) == len(scale.ticks)


def test_a_tiny_error_does_not_stretch_the_axis() -> None:
    scale = error_scale(0.0, 0.5, [0.01, 1e-300])
    assert (scale.low, scale.ticks[0][1]) == (1e-6, "0 %")


def test_ticks_of_many_decades_are_powers_of_ten() -> None:
    labels = [label for _, label in error_scale(0.0, 0.5, [0.00002, 0.001]).ticks]
    assert labels == ["0.01 %", "0.1 %", "1 %", "10 %"]


def test_places_are_linear_or_logarithmic() -> None:
    assert Scale(1.0, 3.0, ()).place(0.0, 10.0)(2.0) == 5.0
    assert Scale(1.0, 100.0, (), log=True).place(0.0, 10.0)(10.0) == pytest.approx(5.0)
    assert Scale(2.0, 2.0, ()).place(0.0, 10.0)(7.0) == 5.0
