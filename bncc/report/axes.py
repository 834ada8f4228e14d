"""What errors are drawn against: flash, time and table bits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log

from bncc.resources import functions_of
from bncc.search.trial_result import Point


@dataclass(frozen=True)
class Axis:
    """A cost of a trial."""

    key: str  # For programs
    noun: str  # For sentences, such as "instructions"
    title: str  # Below a plot
    of: Callable[[Point], float | None]  # The cost of a point; None where it was not measured


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
    return flash, time, bits


def time_unit(points: Sequence[Point], target: str) -> str:
    """Return what decisions are counted in on a machine, "instructions" or "cycles"."""
    found = (point.footprint(target) for point in points)
    return next((cost.unit for cost in found if cost is not None), "instructions")


def entries_on(points: Sequence[Point], target: str) -> str:
    """Return the entry points that were measured on a machine, such as "predict (from states)"."""
    found = (point.footprint(target) for point in points)
    named = dict.fromkeys(cost.entries for cost in found if cost is not None)
    return ", or ".join(functions_of(entries) for entries in named)


def targets_of(points: Sequence[Point]) -> tuple[str, ...]:
    """Return the machines on which at least one point was measured, in the points' order."""
    named = dict.fromkeys(target for point in points for target in point.costs)
    return tuple(t for t in named if any(point.footprint(t) is not None for point in points))


def _flash(point: Point, target: str) -> float | None:
    cost = point.footprint(target)
    return None if cost is None else float(cost.flash)


def _time(point: Point, target: str) -> float | None:
    cost = point.footprint(target)
    return None if cost is None else cost.mean


@dataclass(frozen=True)
class Scale:
    """Limits of an axis and where it is labelled."""

    low: float  # low and high: What lies between is drawn
    high: float
    ticks: tuple[tuple[float, str], ...]  # Values and their labels


def cost_scale(values: Sequence[float], *, binary: bool) -> Scale:
    """Lay out a logarithmic axis."""
    positive = [value for value in values if value > 0] or [1.0]
    margin = max(1.06, (max(positive) / min(positive)) ** 0.04)
    low, high = min(positive) / margin, max(positive) * margin
    steps = _steps(low, high, (2, 4, 16, 256) if binary else (10, 100))
    return Scale(low, high, tuple((step, _label(step, binary)) for step in steps))


_HEADS: dict[int, tuple[tuple[float, ...], ...]] = {
    2: ((1, 1.5), (1,)),
    4: ((1,),),
    16: ((1,),),
    256: ((1,),),
    10: ((1, 1.5, 2, 3, 4, 5, 6, 8), (1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)),
    100: ((1,),),
}
"""Ticks of a power of a base, the densest first."""


def _steps(low: float, high: float, bases: Sequence[int]) -> list[float]:
    """Return the densest ticks of which there are at most seven."""
    found: list[float] = []
    for base in bases:
        powers = range(floor(log(low, base)) - 1, ceil(log(high, base)) + 1)
        for heads in _HEADS[base]:
            ticks = [head * float(base) ** k for k in powers for head in heads]
            found = [tick for tick in ticks if low <= tick <= high]
            if len(found) <= 7:
                return found
    return found


def _label(value: float, binary: bool) -> str:
    if binary:
        return f"{value:g}" if value < 1024 else f"{value / 1024:g} KB"
    if value < 10_000:
        return f"{value:g}"
    return f"{value / 1e3:g}k" if value < 1e6 else f"{value / 1e6:g}M"


_LEAST = 0.02
"""Errors between which an axis reaches at least."""


def error_scale(low: float, high: float) -> Scale:
    """Lay out the axis of errors."""
    if high - low < _LEAST:
        middle = (low + high) / 2
        low, high = max(0.0, middle - _LEAST / 2), min(1.0, middle + _LEAST / 2)
    span = high - low
    bottom = 0.0 if low < 0.4 * high else max(0.0, low - 0.06 * span)
    top = min(1.0, high + 0.06 * span)
    step = next(
        (s for s in (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1) if (top - bottom) / s <= 6), 0.2
    )
    ticks = [k * step for k in range(ceil(bottom / step - 1e-9), floor(top / step + 1e-9) + 1)]
    return Scale(bottom, top, tuple((round(tick, 6), f"{100 * tick:.3g} %") for tick in ticks))
