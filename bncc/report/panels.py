"""Content of the plots: costs, Pareto fronts and limits."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil, log

from bncc.report.scales import Scale, cost_scale, error_scale
from bncc.resources import functions_of
from bncc.search.objective import front
from bncc.search.trial_result import OF_PART, OfPart, Point


@dataclass(frozen=True)
class Axis:
    """A cost of a trial."""

    key: str  # Name in JSON
    noun: str  # Unit in sentences, such as "instructions"
    title: str  # Text below a plot
    of: Callable[[Point], float | None]  # The cost of a point; None where it was not measured

    def words(self, x: float) -> str:
        """Return a cost with its unit."""
        return f"{x:.3g} {self.noun}" if self.key in OF_PART else f"{x:,.0f} {self.noun}"


def axes_of(points: Sequence[Point], target: str | None) -> tuple[Axis, ...]:
    """Return the costs that are drawn."""
    bits = Axis("bits", "bits", "bits of all tables", lambda point: float(point.bits))
    if target is None:
        operations = Axis(
            "operations", "additions", "additions per decision", lambda p: float(p.operations)
        )
        return bits, operations
    unit = time_unit(points, target)
    flash = Axis("flash", "bytes", f"flash on {target}", lambda point: _flash(point, target))
    title = f"{unit} of {entries_on(points, target)} on {target}"
    time = Axis("time", unit, title, lambda p: _time(p, target))
    return flash, time, *_on_part(points, target), bits


def _on_part(points: Sequence[Point], target: str) -> Iterator[Axis]:
    """Yield time and energy on a part, where they are known."""
    for key in known_of_part(points, target):
        title = f"{key} of {entries_on(points, target)} on {target}"
        yield Axis(key, key, title, partial(_of, key, target))


def known_of_part(points: Sequence[Point], target: str) -> tuple[OfPart, ...]:
    """Return the figures of a part that are known of at least one point."""
    return tuple(key for key in OF_PART if any(_of(key, target, p) is not None for p in points))


def time_unit(points: Sequence[Point], target: str) -> str:
    """Return the unit of time on a target, "instructions" or "cycles"."""
    found = (point.footprint(target) for point in points)
    return next((cost.unit for cost in found if cost is not None), "instructions")


def entries_on(points: Sequence[Point], target: str) -> str:
    """Return the entry points that were measured on a target, such as "predict (from states)"."""
    found = (point.footprint(target) for point in points)
    named = dict.fromkeys(cost.entries for cost in found if cost is not None)
    return ", or ".join(functions_of(entries) for entries in named)


def targets_of(points: Sequence[Point]) -> tuple[str, ...]:
    """Return the targets on which at least one point was measured, in the points' order."""
    named = dict.fromkeys(target for point in points for target in point.costs)
    return tuple(t for t in named if any(point.footprint(t) is not None for point in points))


def _flash(point: Point, target: str) -> float | None:
    cost = point.footprint(target)
    return None if cost is None else float(cost.flash)


def _of(key: OfPart, target: str, point: Point) -> float | None:
    cost = point.footprint(target)
    return None if cost is None else getattr(cost, key)


def _time(point: Point, target: str) -> float | None:
    cost = point.footprint(target)
    return None if cost is None else cost.mean


@dataclass(frozen=True)
class Step:
    """A point of a front."""

    point: Point  # The most accurate on validation rows among those of at most its cost
    x: float  # Cost
    # The upper end of the interval is below the mean error of the previous sure step. The first
    # step is sure.
    sure: bool


def steps_of(points: Sequence[Point], axis: Axis) -> tuple[Step, ...]:
    """Return the front of some points, with steps beyond the interval marked as sure."""
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
    """Box of a hypervolume: costs between two values, errors from 0 to another."""

    least: float  # least and most: The least and the largest cost of all points
    most: float
    error: float  # The largest error of all points, 0 .. 1.


def box_of(points: Sequence[Point], axis: Axis) -> Box | None:
    """Return the box around all points that have a cost, None where there are none."""
    known = [(x, point.validation.mean) for point in points if (x := axis.of(point)) is not None]
    if not known:
        return None
    positive = [x for x, _ in known if x > 0]
    costs = [max(x, min([1.0, *positive])) for x, _ in known]
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
    ends = [log(max(step.x, box.least)) for step in steps[1:]] + [log(box.most)]
    starts = [log(max(step.x, box.least)) for step in steps]
    return sum(g * (b - a) for g, a, b in zip(gains, starts, ends, strict=True)) / width


_USUAL = 0.95
"""Share of the points below the upper limit of errors; the worst ones would compress the plot."""


@dataclass(frozen=True)
class Panel:
    """Error on validation rows against a cost, for the points of one study."""

    axis: Axis  # The cost
    x: Scale  # x and y: Limits and ticks
    y: Scale
    points: tuple[Point, ...]  # Those that have a cost
    fronts: Mapping[str, tuple[Step, ...]]  # By family
    front: tuple[Step, ...]  # Front of all families together
    shares: Mapping[str, float]  # The hypervolume of each family, 0 .. 1.

    @property
    def beyond(self) -> int:
        """Number of points with an error above the upper limit."""
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
    """Return the scale of errors for the fronts and most of the other points."""
    errors = sorted(point.validation.mean for point in points)
    usual = errors[ceil(_USUAL * (len(errors) - 1))]
    steps = [step.point for axis in axes_of(points, target) for step in steps_of(points, axis)]
    ends = [point.validation.interval for point in steps] or [(usual, usual)]
    top = max(usual, max(high for _, high in ends))
    on_front = [point.validation.mean for point in steps]
    return error_scale(min(errors[0], min(low for low, _ in ends)), top, on_front, errors)
