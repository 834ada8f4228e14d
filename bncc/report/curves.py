"""
Figures of S1 and S3 as curves: panels side by side with the same names and styles of lines.

Lines differ in brightness, marks and dashes, for printing in gray.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bncc.report.scales import Place, log_scale, round_scale
from bncc.report.svg import document, element, shown, text

_GAP, _LEFT, _RIGHT, _TOP, _BOTTOM = 24.0, 56.0, 14.0, 74.0, 52.0
"""Gap between panels, and distances from a panel's edges to its axes, px."""
_WIDE, _NARROW, _HEIGHT = 640.0, 320.0, 340.0
"""Widths of a single panel and of one of several, and the height, px."""
_LEAST_ACROSS, _LEAST_UPWARD = 1.0, 0.1
"""Smallest steps between ticks: bits, bytes and entries are whole, and errors are percents."""
_STYLES = (
    ("#b45309", "", "disc"), ("#1e3a8a", "6 3", "square"), ("#6b7280", "2 3", "ring"),
    ("#0f766e", "8 3 2 3", "diamond"),
)  # fmt: skip
"""Color, dashes and mark of each line."""

_COUNT = ",.15g"
"""Format of whole numbers, with all digits."""

Cell = Mapping[str, Any]
"""A measurement of `bncc.papers`: figures by name."""


@dataclass(frozen=True)
class Point:
    """One measurement."""

    # x and y: Values in the units of the axes; x is a count, and > 0 on a logarithmic axis; y is
    # >= 0, because its axis begins at 0
    x: float
    y: float
    tag: str = ""  # Text above the mark


@dataclass(frozen=True)
class Line:
    """A series of measurements."""

    name: str  # For the legend; the same line has the same name and place in every panel
    points: tuple[Point, ...]  # From left to right
    is_joined: bool = True  # Joined by a stroke
    level: float | None = None  # A reference value >= 0, drawn across the panel


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str  # Text above the axes
    lines: tuple[Line, ...]  # At most four


@dataclass(frozen=True)
class Chart:
    """One or several panels."""

    title: str  # Title above all panels
    x_title: str  # x_title and y_title: Quantities and units of the axes
    y_title: str
    panels: tuple[Panel, ...]  # At least one, each with a point or a level
    is_log: bool = False  # Logarithmic horizontal axis


def svg_of(chart: Chart) -> str:
    """Draw a chart."""
    panel_width = _WIDE if len(chart.panels) == 1 else _NARROW
    width = len(chart.panels) * (panel_width + _GAP) - _GAP
    parts = [
        element("title", shown(chart.title)),
        element("rect", width=round(width), height=round(_HEIGHT), fill="#fff"),
        element("text", shown(chart.title), x=round(_LEFT), y=20, font_size=14),
        *_legend(chart.panels[0].lines),
    ]
    for i, panel in enumerate(chart.panels):
        parts += _panel(chart, panel, i * (panel_width + _GAP), panel_width)
    box = f"0 0 {width:.0f} {_HEIGHT:.0f}"
    return document(parts, viewBox=box, font_family="sans-serif", font_size=12)


def _legend(lines: Sequence[Line]) -> Iterator[str]:
    left = _LEFT
    for line, (color, dashes, mark) in zip(lines, _STYLES, strict=False):
        if line.is_joined:
            yield _stroke(f"M{left:.1f} 37H{left + 28:.1f}", color, dashes, 2)
        yield _mark(mark, left + 14, 37.0, color)
        yield element("text", shown(line.name), x=left + 36, y=41)
        left += 36 + 7 * len(line.name) + 24


def _panel(chart: Chart, panel: Panel, left: float, width: float) -> Iterator[str]:
    right, bottom = left + width - _RIGHT, _HEIGHT - _BOTTOM
    points = [point for line in panel.lines for point in line.points]
    levels = [line.level for line in panel.lines if line.level is not None]
    counts, ends = [point.x for point in points], (left + _LEFT + 10, right - 10)
    across = (
        log_scale(counts, _COUNT) if chart.is_log else round_scale(counts, _LEAST_ACROSS, _COUNT)
    )
    x = across.place(*ends)
    heights = [0.0, _LEAST_UPWARD, *(point.y for point in points), *levels]
    upward = round_scale(heights, _LEAST_UPWARD, "g")
    y = upward.place(bottom, _TOP)
    middle, center = (left + _LEFT + right) / 2, (_TOP + bottom) / 2
    for tick, label in upward.ticks:
        grid = f"M{left + _LEFT:.1f} {y(tick):.1f}H{right:.1f}"
        yield element("path", d=grid, stroke="#e5e7eb")
        yield text(left + _LEFT - 6, y(tick) + 4, label, text_anchor="end")
    for tick, label in across.ticks:
        yield text(x(tick), bottom + 18, label, text_anchor="middle")
    yield text(middle, _TOP - 12, panel.title, text_anchor="middle")
    x_title = f"{chart.x_title} (logarithmic)" if chart.is_log else chart.x_title
    yield text(middle, _HEIGHT - 12, x_title, text_anchor="middle")
    turned = f"rotate(-90 {left + 12:.1f} {center:.1f})"
    yield text(left + 12, center, chart.y_title, text_anchor="middle", transform=turned)
    for line, style in zip(panel.lines, _STYLES, strict=False):
        yield from _line(line, style, x, y, (left + _LEFT, right))


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
            yield text(px, py - 9, point.tag, text_anchor="middle", fill=color)


def _stroke(path: str, color: str, dashes: str, width: float) -> str:
    return element(
        "path", d=path, fill="none", stroke=color, stroke_width=width,
        stroke_dasharray=dashes or None,
    )  # fmt: skip


def _mark(kind: str, x: float, y: float, color: str) -> str:
    if kind == "square":
        return element("rect", x=x - 3.5, y=y - 3.5, width=7, height=7, fill=color)
    if kind == "diamond":
        corners = f"{x:.1f},{y - 5:.1f} {x + 5:.1f},{y:.1f} {x:.1f},{y + 5:.1f} {x - 5:.1f},{y:.1f}"
        return element("polygon", points=corners, fill=color)
    if kind == "disc":
        return element("circle", cx=x, cy=y, r=4, fill=color)
    return element("circle", cx=x, cy=y, r=3, fill="#fff", stroke=color)


ERROR = "test error, percent"
FAMILIES = {"NB": "naive Bayes", "TAN": "TAN"}
"""Names in the legend by the prefix of a column."""
CLASSES = {
    "Bayesian network": ("NB", "TAN"), "fully connected network": ("FC",),
    "convolutional network": ("CNN",),
}  # fmt: skip
"""Prefixes of columns by the names in the legend of figure 7."""


def bits_chart(cells: Sequence[Cell]) -> Chart:
    """Return figure 6: errors over bits, a level for floats."""
    return Chart("Error of integer models", "bits per cost", ERROR, _panels(cells, _over_bits))


def size_chart(cells: Sequence[Cell]) -> Chart:
    """Return figure 5: errors over table entries."""
    title = "Error rate by table entries; the front is that of validation errors"
    return Chart(title, "table entries", ERROR, _panels(cells, _over_entries), is_log=True)


def pareto_chart(cells: Sequence[Cell]) -> Chart:
    """Return figure 7: errors over operations of the models on the front."""
    title = "Models that are Pareto-optimal in error rate, bits of memory and operations"
    return Chart(title, "operations", ERROR, _panels(cells, _over_operations), is_log=True)


def missing_chart(cells: Sequence[Cell]) -> Chart:
    """Return figure 5 of S1: errors over the number of missing features."""
    title = "Error rate with missing features, mean over samples of them"
    cells = [{**cell, "row": cell["data"]} for cell in cells if cell["ours"] is not None]
    return Chart(title, "missing features", ERROR, _panels(cells, _over_missing))


CHARTS: Mapping[str, Callable[[Sequence[Cell]], Chart]] = {
    "s1-missing": missing_chart,
    "s3-bits": bits_chart,
    "s3-size": size_chart,
    "s3-pareto": pareto_chart,
}
"""Charts by their names in ``bncc reproduce``."""


def _panels(
    cells: Sequence[Cell], lines_of: Callable[[Sequence[Cell]], tuple[Line, ...]]
) -> tuple[Panel, ...]:
    rows = dict.fromkeys(cell["row"] for cell in cells)
    return tuple(
        Panel(row, lines_of([cell for cell in cells if cell["row"] == row])) for row in rows
    )


def _over_missing(cells: Sequence[Cell]) -> tuple[Line, ...]:
    return tuple(
        Line(
            name,
            tuple(Point(cell["missing"], cell["ours"]) for cell in cells if cell["column"] == name),
        )
        for name in dict.fromkeys(cell["column"] for cell in cells)
    )


def _over_bits(cells: Sequence[Cell]) -> tuple[Line, ...]:
    lines = []
    for family, name in FAMILIES.items():
        mine = [cell for cell in cells if cell["column"].split()[0] == family]
        level = next((cell["ours"] for cell in mine if cell["bits"] is None), None)
        points = (Point(cell["bits"], cell["ours"]) for cell in mine if cell["bits"] is not None)
        lines.append(Line(name, tuple(points), level=level))
    return tuple(lines)


def _over_entries(cells: Sequence[Cell]) -> tuple[Line, ...]:
    by_size = sorted(cells, key=lambda cell: (cell["entries"], -cell["ours"]))
    is_end = {"NB": "NB", "TAN Subset": "TAN"}
    return (
        Line("front", tuple(_point(cell) for cell in by_size if cell["is_on_front"])),
        Line(
            "without a price",
            tuple(
                _point(cell, is_end[cell["column"]]) for cell in by_size if cell["column"] in is_end
            ),
            is_joined=False,
        ),
        Line(
            "not on the front",
            tuple(_point(cell) for cell in by_size if not cell["is_on_front"]),
            is_joined=False,
        ),
    )


def _over_operations(cells: Sequence[Cell]) -> tuple[Line, ...]:
    best = sorted(
        (cell for cell in cells if cell["is_on_front"]), key=lambda cell: cell["operations"]
    )
    return tuple(
        Line(
            name,
            tuple(
                Point(cell["operations"], cell["ours"])
                for cell in best
                if cell["column"].split()[0] in begins
            ),
            is_joined=False,
        )
        for name, begins in CLASSES.items()
    )


def _point(cell: Cell, tag: str = "") -> Point:
    return Point(cell["entries"], cell["ours"], tag)
