"""What one plot shows: points, fronts and limits, computed before anything is drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from bncc.report.axes import Axis, Scale, axes_of, cost_scale, error_scale
from bncc.report.fronts import Step, box_of, families_of, hypervolume, steps_of
from bncc.search.trial_result import Point

_USUAL = 0.95
"""Share of the points that lie below the upper limit of errors; the worst would squeeze all."""


@dataclass(frozen=True)
class Panel:
    """Error on validation rows against a cost, for the points of one study."""

    axis: Axis  # The cost
    x: Scale  # x and y: Limits and ticks
    y: Scale
    points: tuple[Point, ...]  # Those that have a cost
    fronts: Mapping[str, tuple[Step, ...]]  # By family
    front: tuple[Step, ...]  # Of all families together
    shares: Mapping[str, float]  # The hypervolume of each family, 0 .. 1.

    @property
    def beyond(self) -> int:
        """Number of points that err more than is drawn."""
        return sum(point.validation.mean > self.y.high for point in self.points)


def panels_of(points: Sequence[Point], target: str | None) -> tuple[Panel, ...]:
    """Prepare the plots of a study."""
    y = error_limits(points, target)
    found = []
    for axis in axes_of(points, target):
        known = tuple(point for point in points if axis.of(point) is not None)
        box = box_of(known, axis)
        if box is None:
            continue
        members = {f: [p for p in known if p.family == f] for f in families_of(points)}
        found.append(
            Panel(
                axis,
                cost_limits(known, axis),
                y,
                known,
                {family: steps_of(some, axis) for family, some in members.items()},
                steps_of(known, axis),
                {family: hypervolume(some, axis, box) for family, some in members.items()},
            )
        )
    return tuple(found)


def cost_limits(points: Sequence[Point], axis: Axis) -> Scale:
    """Return the scale of a cost, around all points that have it."""
    values = [value for point in points if (value := axis.of(point)) is not None]
    return cost_scale(values, binary=axis.key == "flash")


def error_limits(points: Sequence[Point], target: str | None) -> Scale:
    """Return the scale of errors, around the fronts and most of the other points."""
    errors = sorted(point.validation.mean for point in points)
    usual = errors[ceil(_USUAL * (len(errors) - 1))]
    steps = [step.point for axis in axes_of(points, target) for step in steps_of(points, axis)]
    ends = [point.validation.interval for point in steps] or [(usual, usual)]
    top = max(usual, max(high for _, high in ends))
    return error_scale(min(errors[0], min(low for low, _ in ends)), top)
