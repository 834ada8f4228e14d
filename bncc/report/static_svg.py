"""Static plots: SVG for print, for files and for pages without scripts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from bncc.report.panels import Panel, Step
from bncc.report.svg import Mark, document, element, shown
from bncc.report.words import percent, settings
from bncc.search.trial_result import Point

WIDTH, HEIGHT = 384.0, 300.0
"""Size of a plot, px."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 44.0, 10.0, 12.0, 42.0
"""Distances from the plot's edges to the axes, px."""


_g = "{:g}".format


def plot_svg(panel: Panel, marks: Mapping[str, Mark]) -> str:
    """Draw a plot."""
    plot = _Plot(panel)
    parts = [
        element("title", f"Error rate on validation rows against {shown(panel.axis.title)}"),
        *plot.frame(),
        plot.stairs(panel.front, class_="best"),
    ]
    for family, steps in panel.fronts.items():
        parts.append(plot.cloud(family, steps, marks[family]))
    for family, steps in panel.fronts.items():
        color = marks[family].color
        parts.append(plot.stairs(steps, class_="stairs", stroke=color))
        parts += [plot.bar(step, color) for step in steps if step.sure]
    for family, steps in panel.fronts.items():
        parts += [plot.step(step, marks[family]) for step in steps]
    box = f"0 0 {WIDTH:g} {HEIGHT:g}"
    size = {"viewBox": box, "width": _g(WIDTH), "height": _g(HEIGHT)}
    return document(parts, class_="plot", **size, role="img").rstrip("\n")


class _Plot:
    """Positions and elements of a plot."""

    def __init__(self, panel: Panel) -> None:
        self.panel = panel
        self.right, self.bottom = WIDTH - _RIGHT, HEIGHT - _BOTTOM
        self._across = panel.x.place(_LEFT, self.right)
        self._upward = panel.y.place(self.bottom, _TOP)

    def x(self, cost: float) -> float:
        return round(self._across(max(cost, self.panel.x.low)), 1)

    def y(self, error: float) -> float:
        return round(self._upward(min(max(error, self.panel.y.low), self.panel.y.high)), 1)

    def frame(self) -> list[str]:
        parts = []
        for value, label in self.panel.y.ticks:
            y = self.y(value)
            parts.append(element("path", class_="grid", d=f"M{_LEFT:g} {y:g}H{self.right:g}"))
            parts.append(_label("tick", _LEFT - 7, y + 4, label, "end"))
        for value, label in self.panel.x.ticks:
            x = self.x(value)
            parts.append(element("path", class_="grid", d=f"M{x:g} {_TOP:g}V{self.bottom:g}"))
            parts.append(_label("tick", x, self.bottom + 16, label, "middle"))
        axis = f"M{_LEFT:g} {self.bottom:g}H{self.right:g}"
        middle, title = (_LEFT + self.right) / 2, self.panel.axis.title
        parts.append(element("path", class_="axis", d=axis))
        parts.append(_label("name", middle, HEIGHT - 6, title, "middle"))
        return parts

    def stairs(self, steps: Sequence[Step], **paint: str) -> str:
        if not steps:
            return ""
        places = [self._place(step.point) for step in steps]
        ways = "".join(f"H{x:g}V{y:g}" for x, y in places[1:])
        path = f"M{places[0][0]:g} {places[0][1]:g}{ways}H{self.right:g}"
        return element("path", **paint, d=path)

    def cloud(self, family: str, steps: Sequence[Step], mark: Mark) -> str:
        """Draw the points behind a front as one path: a page may have thousands."""
        ahead = {step.point.number for step in steps}
        behind = {
            self._place(point)
            for point in self.panel.points
            if point.family == family
            and point.number not in ahead
            and point.validation.mean <= self.panel.y.high
        }
        dots = "".join(f"M{x:.0f} {y:.0f}h0" for x, y in sorted(behind))
        return element("path", class_="cloud", stroke=mark.color, d=dots) if dots else ""

    def bar(self, step: Step, color: str) -> str:
        low, high = step.point.validation.interval
        path = f"M{self.x(step.x):g} {self.y(low):g}V{self.y(high):g}"
        return element("path", class_="bar", stroke=color, d=path)

    def step(self, step: Step, mark: Mark) -> str:
        x, y = self._place(step.point)
        words = f"trial {step.point.number}, {settings(step.point)}: "
        words += f"{percent(step.point.validation.mean)}, {self.panel.axis.words(step.x)}"
        size, how = (9.0, "sure") if step.sure else (5.5, "unsure")
        fill = mark.color if step.sure else None
        tip, path = element("title", shown(words)), mark.path(x, y, size)
        return element("path", tip, d=path, fill=fill, class_=how, stroke=mark.color)

    def _place(self, point: Point) -> tuple[float, float]:
        x = self.panel.axis.of(point)
        assert x is not None
        return self.x(x), self.y(point.validation.mean)


def _label(kind: str, x: float, y: float, words: str, anchor: str | None = None) -> str:
    return element("text", shown(words), class_=kind, x=_g(x), y=_g(y), text_anchor=anchor)


STYLE = """
text { font: 11px system-ui, sans-serif; fill: #5a6470; }
.name { font-size: 12px; } .head { font: 600 14px system-ui, sans-serif; fill: #14181d; }
.legend { font-size: 12px; fill: #14181d; }
.grid, .axis, .best, .stairs, .bar, .cloud { fill: none; }
.grid { stroke: #e7eaee; } .axis { stroke: #9aa4b0; }
.best { stroke: #14181d; stroke-opacity: .1; stroke-width: 7; stroke-linejoin: round; }
.stairs { stroke-width: 1.4; stroke-opacity: .8; } .bar { stroke-width: 1.2; stroke-opacity: .55; }
.cloud { stroke-width: 4.5; stroke-linecap: round; stroke-opacity: .28; }
.sure { stroke: #fff; stroke-width: 1; } .unsure { fill: #fff; stroke-width: 1.3; }
"""
"""Style of the plots on white."""
_HEAD = 34.0
"""Height of a line of text above a row of plots, px."""


def drawing_svg(
    rows: Sequence[tuple[str, Sequence[Panel]]], marks: Mapping[str, Mark], title: str
) -> str:
    """Draw all plots into one file."""
    width = WIDTH * max(len(panels) for _, panels in rows) + 16
    height = 2 * _HEAD + sum(_HEAD + HEIGHT for _ in rows) + 8
    parts = [
        element("title", shown(title)),
        element("style", STYLE),
        element("rect", width="100%", height="100%", fill="#fff"),
        _label("head", 16, 26, title),
        *_legend(marks.values()),
    ]
    for k, (name, panels) in enumerate(rows):
        top = 2 * _HEAD + k * (_HEAD + HEIGHT)
        parts.append(_label("legend", 16, top + 22, f"{name}: {_error_title(panels)}"))
        for j, panel in enumerate(panels):
            place = f'x="{8 + j * WIDTH:g}" y="{top + _HEAD:g}" '
            parts.append(plot_svg(panel, marks).replace("<svg ", f"<svg {place}", 1))
    box = f"0 0 {width:g} {height:g}"
    return document(parts, width=_g(width), height=_g(height), viewBox=box)


def _error_title(panels: Sequence[Panel]) -> str:
    kind = " (logarithmic)" if any(panel.y.log for panel in panels) else ""
    return f"error rate on validation rows{kind}"


def _legend(marks: Iterable[Mark]) -> Iterator[str]:
    x = 24.0
    for mark in marks:
        sign = element("path", d=mark.path(x, _HEAD + 16, 10), fill=mark.color)
        yield sign + _label("legend", x + 11, _HEAD + 20, mark.family)
        x += 36 + 7 * len(mark.family)
