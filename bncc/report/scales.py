"""Scales of axes: limits, ticks with their labels, and where values lie."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log, log10

Place = Callable[[float], float]
"""From a value to px."""


@dataclass(frozen=True)
class Scale:
    """Limits of an axis and where it is labelled."""

    low: float  # low and high: What lies between is drawn
    high: float
    ticks: tuple[tuple[float, str], ...]  # Values and their labels

    def linear(self, start: float, end: float) -> Place:
        """Return what puts the low end at a place and the high end at another."""
        if self.low == self.high:
            return lambda _: (start + end) / 2
        span = self.high - self.low
        return lambda value: start + (value - self.low) / span * (end - start)

    def logarithmic(self, start: float, end: float) -> Place:
        """Return the same for the logarithms of values."""
        place = Scale(log10(self.low), log10(self.high), ()).linear(start, end)
        return lambda value: place(log10(value))


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


_MOST_STEPS, _MOST_LOG_STEPS = 9, 4
"""Between the ticks of an axis; of a logarithmic one that has too few of 1, 2 and 5."""
_WHOLE = 1.0
"""Step between ticks of whole numbers at least."""


def round_scale(values: Sequence[float], least_step: float, form: str) -> Scale:
    """Lay out an axis from tick to tick; without values it has none."""
    ticks = _round_numbers(values, _MOST_STEPS, least_step)
    ends = (ticks[0], ticks[-1]) if ticks else (0.0, 0.0)
    return Scale(*ends, tuple((tick, format(tick, form)) for tick in ticks))


def log_scale(values: Sequence[float], form: str) -> Scale:
    """Lay out a logarithmic axis from the least value to the largest; without values it is bare."""
    if not values:
        return Scale(1.0, 1.0, ())
    least, most = min(values), max(values)
    powers = range(floor(log10(least)), ceil(log10(most)) + 1)
    ticks = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    if sum(least <= tick <= most for tick in ticks) < 2:
        ticks = list(_round_numbers(values, _MOST_LOG_STEPS, _WHOLE))
    return Scale(
        least, most, tuple((tick, format(tick, form)) for tick in ticks if least <= tick <= most)
    )


def _round_numbers(
    values: Sequence[float], most_steps: int, least_step: float
) -> tuple[float, ...]:
    """Return numbers from below to above, 1, 2 or 5 times a power of ten apart."""
    if not values:
        return ()
    least, most = min(values), max(values)
    rough = max((most - least) / most_steps, least_step)
    power = 10.0 ** floor(log10(rough))
    step = next(digit * power for digit in (1, 2, 5, 10) if digit * power >= rough)
    return tuple(round(k * step, 12) for k in range(floor(least / step), ceil(most / step) + 1))
