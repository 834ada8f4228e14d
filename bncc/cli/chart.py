"""
Curves as an SVG of our own: panels side by side that share their lines' names and styles.

Lines differ in brightness, in marks and in dashes, so that a print in gray can be read.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from xml.sax.saxutils import escape

_GAP, _LEFT, _RIGHT, _TOP, _BOTTOM = 24.0, 56.0, 14.0, 74.0, 52.0
"""Between panels; from a panel's edges to its axes, px."""
_WIDE, _NARROW, _HEIGHT = 640.0, 320.0, 340.0
"""A panel alone, one of several, all panels, px."""
_MOST_STEPS, _MOST_LOG_STEPS = 9, 4
"""Between the ticks of an axis; of a logarithmic one that has too few of 1, 2 and 5."""
_LEAST_ACROSS, _LEAST_UPWARD = 1.0, 0.1
"""Steps between ticks at least: bits, bytes and entries are whole, and errors are percents."""
_STYLES = (
    ("#b45309", "", "disc"), ("#1e3a8a", "6 3", "square"), ("#6b7280", "2 3", "ring"),
    ("#0f766e", "8 3 2 3", "diamond"),
)  # fmt: skip
"""Color, dashes and mark of each line."""

Place = Callable[[float], float]


@dataclass(frozen=True)
class Point:
    """One measurement."""

    # x and y: In the axes' units; x counts something, and is > 0 where its axis is logarithmic; y
    # >= 0, because its axis begins at 0
    x: float
    y: float
    tag: str = ""  # What is written above it


@dataclass(frozen=True)
class Line:
    """Measurements that belong together."""

    name: str  # For the legend; the same line has the same name and place in every panel
    points: tuple[Point, ...]  # From left to right
    is_joined: bool = True  # Whether a stroke joins them
    level: float | None = None  # A value >= 0 that they are compared with, drawn across the panel


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str  # Above it
    lines: tuple[Line, ...]  # At most four


@dataclass(frozen=True)
class Chart:
    """A picture of one panel or several."""

    title: str  # Of the whole
    x_title: str  # x_title and y_title: Quantities and units of the axes
    y_title: str
    panels: tuple[Panel, ...]  # At least one, each with a point or a level
    is_log: bool = False  # Whether the horizontal axis is logarithmic


@dataclass(frozen=True)
class _Axis:
    """Where values lie, and which are written."""

    place: Place
    ticks: tuple[float, ...]


def svg_of(chart: Chart) -> str:
    """Draw a chart."""
    panel_width = _WIDE if len(chart.panels) == 1 else _NARROW
    width = len(chart.panels) * (panel_width + _GAP) - _GAP
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {_HEIGHT:.0f}" '
        'font-family="sans-serif" font-size="12">',
        f"<title>{escape(chart.title)}</title>",
        f'<rect width="{width:.0f}" height="{_HEIGHT:.0f}" fill="#fff"/>',
        f'<text x="{_LEFT:.0f}" y="20" font-size="14">{escape(chart.title)}</text>',
        *_legend(chart.panels[0].lines),
    ]
    for i, panel in enumerate(chart.panels):
        lines += _panel(chart, panel, i * (panel_width + _GAP), panel_width)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _legend(lines: Sequence[Line]) -> Iterator[str]:
    left = _LEFT
    for line, (color, dashes, mark) in zip(lines, _STYLES, strict=False):
        if line.is_joined:
            yield _stroke(f"M{left:.1f} 37H{left + 28:.1f}", color, dashes, 2)
        yield _mark(mark, left + 14, 37.0, color)
        yield f'<text x="{left + 36:.1f}" y="41">{escape(line.name)}</text>'
        left += 36 + 7 * len(line.name) + 24


def _panel(chart: Chart, panel: Panel, left: float, width: float) -> Iterator[str]:
    right, bottom = left + width - _RIGHT, _HEIGHT - _BOTTOM
    points = [point for line in panel.lines for point in line.points]
    levels = [line.level for line in panel.lines if line.level is not None]
    axis_of = _log_axis if chart.is_log else _linear_axis
    across = axis_of([point.x for point in points], left + _LEFT + 10, right - 10)
    heights = [0.0, _LEAST_UPWARD, *(point.y for point in points), *levels]
    upward = _linear_axis(heights, bottom, _TOP, _LEAST_UPWARD)
    for tick in upward.ticks:
        y = upward.place(tick)
        yield f'<path d="M{left + _LEFT:.1f} {y:.1f}H{right:.1f}" stroke="#e5e7eb"/>'
        yield _text(left + _LEFT - 6, y + 4, f"{tick:g}", "end")
    for tick in across.ticks:
        yield _text(across.place(tick), bottom + 18, f"{tick:,.15g}", "middle")
    yield _text((left + _LEFT + right) / 2, _TOP - 12, panel.title, "middle")
    x_title = f"{chart.x_title} (logarithmic)" if chart.is_log else chart.x_title
    yield _text((left + _LEFT + right) / 2, _HEIGHT - 12, x_title, "middle")
    turned = f"rotate(-90 {left + 12:.1f} {(_TOP + bottom) / 2:.1f})"
    yield _text(left + 12, (_TOP + bottom) / 2, chart.y_title, "middle", f' transform="{turned}"')
    for line, style in zip(panel.lines, _STYLES, strict=False):
        yield from _line(line, style, across.place, upward.place, (left + _LEFT, right))


def _line(
    line: Line, style: tuple[str, str, str], x: Place, y: Place, ends: tuple[float, float]
) -> Iterator[str]:
    color, dashes, mark = style
    places = [(x(point.x), y(point.y)) for point in line.points]
    if line.level is not None:
        yield _stroke(f"M{ends[0]:.1f} {y(line.level):.1f}H{ends[1]:.1f}", color, dashes, 0.8)
    if line.is_joined and len(places) > 1:
        yield _stroke("M" + "L".join(f"{px:.1f} {py:.1f}" for px, py in places), color, dashes, 2)
    for point, (px, py) in zip(line.points, places, strict=True):
        yield _mark(mark, px, py, color)
        if point.tag:
            yield _text(px, py - 9, point.tag, "middle", f' fill="{color}"')


def _stroke(path: str, color: str, dashes: str, width: float) -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<path d="{path}" fill="none" stroke="{color}" stroke-width="{width:g}"{dashed}/>'


def _mark(kind: str, x: float, y: float, color: str) -> str:
    if kind == "square":
        return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" fill="{color}"/>'
    if kind == "diamond":
        corners = f"{x:.1f},{y - 5:.1f} {x + 5:.1f},{y:.1f} {x:.1f},{y + 5:.1f} {x - 5:.1f},{y:.1f}"
        return f'<polygon points="{corners}" fill="{color}"/>'
    paint = f'fill="{color}"' if kind == "disc" else f'fill="#fff" stroke="{color}"'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{4 if kind == "disc" else 3}" {paint}/>'


def _text(x: float, y: float, text: str, anchor: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(text)}</text>'


def _linear_axis(
    values: Sequence[float], low: float, high: float, least_step: float = _LEAST_ACROSS
) -> _Axis:
    """Return an axis from tick to tick; without values it has none."""
    ticks = _round_numbers(values, _MOST_STEPS, least_step)
    return _Axis(_between(ticks, low, high), ticks)


def _log_axis(values: Sequence[float], low: float, high: float) -> _Axis:
    """Return a logarithmic axis from the least value to the largest; without values it is bare."""
    if not values:
        return _linear_axis(values, low, high)
    least, most = min(values), max(values)
    powers = range(floor(log10(least)), ceil(log10(most)) + 1)
    ticks = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    if sum(least <= tick <= most for tick in ticks) < 2:
        ticks = list(_round_numbers(values, _MOST_LOG_STEPS, _LEAST_ACROSS))
    place = _between((log10(least), log10(most)), low, high)
    within = tuple(tick for tick in ticks if least <= tick <= most)
    return _Axis(lambda value: place(log10(value)), within)


def _between(ends: Sequence[float], low: float, high: float) -> Place:
    """Return what puts the first value low and the last one high, and one alone in the middle."""
    if not ends or ends[0] == ends[-1]:
        return lambda _: (low + high) / 2
    return lambda value: low + (value - ends[0]) / (ends[-1] - ends[0]) * (high - low)


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
