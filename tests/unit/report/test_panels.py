"""Fronts have the non-dominated points; their certain steps and hypervolumes follow the rules."""

from collections.abc import Sequence
from dataclasses import replace
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.report.panels import Axis, Box, axes_of, box_of, hypervolume, steps_of, targets_of
from bncc.search.trial_result import Point, Rate
from tests import studies

(TEMPLATE,) = studies.study(1).points
BITS = Axis("bits", "bits", "bits", lambda point: float(point.bits))


def points(figures: Sequence[tuple[int, int]], n: int = 100) -> list[Point]:
    """Return points of given table bits and wrong decisions among n."""
    return [
        replace(TEMPLATE, number=k, bits=bits, validation=Rate((wrong / n,), n))
        for k, (bits, wrong) in enumerate(figures)
    ]


FIGURES = st.lists(st.tuples(st.integers(1, 20), st.integers(0, 100)), min_size=1, max_size=25)


@given(FIGURES)
def test_a_front_holds_what_no_other_point_betters(figures: list[tuple[int, int]]) -> None:
    some = points(figures)
    front = [(step.point.bits, step.point.validation.mean) for step in steps_of(some, BITS)]
    all_of_them = {(p.bits, p.validation.mean) for p in some}
    expected = {
        (x, y)
        for x, y in all_of_them
        if not any(a <= x and b <= y for a, b in all_of_them - {(x, y)})
    }
    assert front == sorted(expected)


@given(FIGURES)
def test_a_sure_step_lies_with_its_interval_below_the_sure_one_before(
    figures: list[tuple[int, int]],
) -> None:
    steps = steps_of(points(figures), BITS)
    assert steps[0].sure
    last = steps[0].point.validation.mean
    for step in steps[1:]:
        assert step.sure == (step.point.validation.interval[1] < last)
        last = step.point.validation.mean if step.sure else last


def test_the_hypervolume_of_a_known_case() -> None:
    """Over one half of log 1 .. log 100 a half is dominated, over the other three quarters."""
    some = points([(1, 40), (10, 20), (100, 80)])
    box = box_of(some, BITS)
    assert box == Box(1, 100, 0.8)
    assert hypervolume(some, BITS, box) == pytest.approx((0.5 + 0.75) / 2)
    assert hypervolume(some[2:], BITS, box) == 0
    assert hypervolume([], BITS, box) == 0


@given(FIGURES, st.floats(0.01, 0.99))
def test_the_hypervolume_is_the_mean_of_what_is_dominated(
    figures: list[tuple[int, int]], place: float
) -> None:
    some = points(figures)
    box = box_of(some, BITS)
    assert box is not None
    if box.error == 0 or box.least == box.most:
        return
    n = 4000
    total = 0.0
    for k in range(n):
        x = box.least * (box.most / box.least) ** ((k + place) / n)
        errors = [p.validation.mean for p in some if p.bits <= x]
        total += 1 - min([box.error, *errors]) / box.error
    assert hypervolume(some, BITS, box) == pytest.approx(total / n, abs=25 * 2 / n)
    assert log(box.most / box.least) > 0


def test_one_point_alone_has_a_box_without_width() -> None:
    some = points([(7, 0)])
    box = box_of(some, BITS)
    assert box is not None
    assert hypervolume(some, BITS, box) == 1


def test_points_that_do_not_fit_are_on_no_front() -> None:
    study = studies.study(60)
    misfits = {p.number for p in study.points if p.footprint("avr") is None}
    assert misfits
    for axis in axes_of(study.points, "avr")[:2]:
        assert not misfits & {step.point.number for step in steps_of(study.points, axis)}
    assert targets_of(study.points) == ("cortex-m0", "avr")


def test_without_a_machine_bits_and_additions_are_drawn() -> None:
    study = studies.study(5, targets=())
    assert targets_of(study.points) == ()
    assert [axis.key for axis in axes_of(study.points, None)] == ["bits", "operations"]
