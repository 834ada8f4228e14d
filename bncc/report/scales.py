"""Scales of axes: limits, round ticks with labels, and positions of values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log, log10

Place = Callable[[float], float]
"""From a value to px."""


@dataclass(frozen=True)
class Scale:
    """Limits of an axis, its ticks and its type."""

    low: float  # low and high: Limits of the drawn values
    high: float
    ticks: tuple[tuple[float, str], ...]  # Values and their labels
    log: bool = False  # Logarithmic; smaller values are then drawn at `low`

    def place(self, start: float, end: float) -> Place:
        """Return the function that maps `low` to `start` and `high` to `end`."""
        if self.low == self.high:
            return lambda _: (start + end) / 2
        if self.log:
            place = Scale(log10(self.low), log10(self.high), ()).place(start, end)
            return lambda value: place(log10(max(value, self.low)))
        span = self.high - self.low
        return lambda value: start + (value - self.low) / span * (end - start)


def cost_scale(values: Sequence[float], *, binary: bool) -> Scale:
    """Lay out a logarithmic axis."""
    positive = [value for value in values if value > 0] or [1.0]
    margin = max(1.06, (max(positive) / min(positive)) ** 0.04)
    low, high = min(positive) / margin, max(positive) * margin
    steps = _steps(low, high, (2, 4, 16, 256) if binary else (10, 100))
    return Scale(low, high, tuple((step, _label(step, binary)) for step in steps), log=True)


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
"""Smallest span of a linear axis of errors."""
_BOTTOM_SHARE, _FRONT_SHARE = 0.2, 0.75
"""Lowest part of an axis, and the share of the front in it from which the axis is logarithmic."""
_MOST_ERROR_TICKS = 9
_BELOW = 2.0
"""Ratio of the smallest positive error to the low end of a logarithmic axis."""
_FINEST = 1e-6
"""Smallest low end of a logarithmic axis: an error in a million rows."""


def error_scale(
    low: float, high: float, front: Sequence[float] = (), others: Sequence[float] = ()
) -> Scale:
    """
    Lay out the axis of error rates, for those of the Pareto front and those of other points.

    It is linear from `low` to `high` unless the front is crowded at the bottom, see `is_crowded`.
    """
    if is_crowded(front, high):
        return _log_errors(high, [*front, *others])
    return _linear_errors(low, high)


def is_crowded(front: Sequence[float], high: float) -> bool:
    """
    Return whether a linear axis from 0 to `high` draws the front near its bottom line.

    This holds if at least three quarters of the errors of the front are in the lowest fifth of the
    axis. At least one of them is positive, for a logarithmic axis needs a low end.
    """
    n_low = sum(error < _BOTTOM_SHARE * high for error in front)
    return any(error > 0 for error in front) and n_low >= _FRONT_SHARE * len(front)


def _log_errors(high: float, errors: Sequence[float]) -> Scale:
    """
    Lay out a logarithmic axis of error rates with ticks in steps of 1, 2 and 5.

    Its low end is half the smallest positive error, `_FINEST` at least. Smaller errors, such as 0,
    are drawn there, and the low end is then labelled 0 %.
    """
    least = min(error for error in errors if error > 0)
    low, top = min(max(least / _BELOW, _FINEST), high / 10), min(1.0, 1.06 * high)
    powers = range(floor(log10(low)), 1)
    for heads in ((1, 2, 5), (1,)):
        rates = [round(head * 10.0**power, 12) for power in powers for head in heads]
        ticks = [rate for rate in rates if low < rate <= top]
        if len(ticks) <= _MOST_ERROR_TICKS:
            break
    labelled = [(tick, _percent(tick)) for tick in ticks]
    if min(errors) < low:
        near = [tick for tick in labelled if tick[0] > 1.25 * low]
        labelled = [(low, _percent(0)), *near]
    return Scale(low, top, tuple(labelled), log=True)


def _linear_errors(low: float, high: float) -> Scale:
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
    return Scale(bottom, top, tuple((round(tick, 6), _percent(tick)) for tick in ticks))


def _percent(error: float) -> str:
    return f"{100 * error:.3g} %"


_MOST_STEPS, _MOST_LOG_STEPS = 9, 4
"""Steps between ticks: of a linear axis, and of a logarithmic one with too few of 1, 2 and 5."""
_WHOLE = 1.0
"""Smallest step between ticks of whole numbers."""


def round_scale(values: Sequence[float], least_step: float, form: str) -> Scale:
    """Lay out an axis from tick to tick; without values it has none."""
    ticks = _round_numbers(values, _MOST_STEPS, least_step)
    ends = (ticks[0], ticks[-1]) if ticks else (0.0, 0.0)
    return Scale(*ends, tuple((tick, format(tick, form)) for tick in ticks))


def log_scale(values: Sequence[float], form: str) -> Scale:
    """Lay out a logarithmic axis from the least value to the largest; without values it is bare."""
    if not values:
        return Scale(1.0, 1.0, (), log=True)
    least, most = min(values), max(values)
    powers = range(floor(log10(least)), ceil(log10(most)) + 1)
    ticks = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    if sum(least <= tick <= most for tick in ticks) < 2:
        ticks = list(_round_numbers(values, _MOST_LOG_STEPS, _WHOLE))
    labels = tuple((tick, format(tick, form)) for tick in ticks if least <= tick <= most)
    return Scale(least, most, labels, log=True)


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
