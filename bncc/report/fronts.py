"""Pareto fronts: which of their steps are sure, and the room that they leave."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from bncc.report.axes import Axis
from bncc.search.pareto import front
from bncc.search.trial_result import Point


@dataclass(frozen=True)
class Step:
    """A point of a front."""

    point: Point  # Of all that cost no more, it errs least on validation rows
    x: float  # What it costs
    # Whether the upper end of its interval lies below the mean error of the sure step before it.
    # The first step is sure.
    sure: bool


def steps_of(points: Sequence[Point], axis: Axis) -> tuple[Step, ...]:
    """Return the front of some points and say which steps exceed the interval."""
    found: list[Step] = []
    least = float("inf")
    for point in front(points, axis.of, lambda point: point.validation.mean):
        sure = not found or point.validation.interval[1] < least
        if sure:
            least = point.validation.mean
        x = axis.of(point)
        assert x is not None
        found.append(Step(point, x, sure))
    return tuple(found)


def families_of(points: Sequence[Point]) -> tuple[str, ...]:
    """Return the families in the order of their names."""
    return tuple(sorted({point.family for point in points}))


@dataclass(frozen=True)
class Box:
    """What a hypervolume is a share of: costs between two values, errors from 0 to another."""

    least: float  # least and most: The least and the largest cost of all points
    most: float
    error: float  # The largest error of all points, 0 .. 1.


def box_of(points: Sequence[Point], axis: Axis) -> Box | None:
    """Return the box around all points that have a cost, None where there are none."""
    known = [(x, point.validation.mean) for point in points if (x := axis.of(point)) is not None]
    if not known:
        return None
    costs = [max(x, 1.0) for x, _ in known]
    return Box(min(costs), max(costs), max(error for _, error in known))


def hypervolume(points: Sequence[Point], axis: Axis, box: Box) -> float:
    """Return the share of a box that some points dominate."""
    steps = steps_of(points, axis)
    if not steps or box.error == 0:
        return float(bool(steps))
    gains = [1 - step.point.validation.mean / box.error for step in steps]
    width = log(box.most) - log(box.least)
    if width == 0:
        return gains[-1]
    ends = [log(max(step.x, 1.0)) for step in steps[1:]] + [log(box.most)]
    starts = [log(max(step.x, 1.0)) for step in steps]
    return sum(g * (b - a) for g, a, b in zip(gains, starts, ends, strict=True)) / width
