"""Plots that stand still: SVG for paper, for files, and for whoever runs no scripts."""

from collections.abc import Iterable, Mapping, Sequence
from math import log
from xml.sax.saxutils import escape

from bncc.data.files import printable
from bncc.report.fronts import Step
from bncc.report.marks import Mark
from bncc.report.panels import Panel
from bncc.report.words import percent, settings
from bncc.search.trial_result import Point

WIDTH, HEIGHT = 384.0, 300.0
"""Of a plot, px."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 44.0, 10.0, 12.0, 42.0
"""From the plot's edges to the axes, px."""


def plot_svg(panel: Panel, marks: Mapping[str, Mark]) -> str:
    """Draw a plot."""
    plot = _Plot(panel)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" '
        f'width="{WIDTH:g}" height="{HEIGHT:g}" role="img">',
        f"<title>Error on validation rows against {_text(panel.axis.title)}</title>",
        *plot.frame(),
        plot.stairs(panel.front, 'class="best"'),
    ]
    for family, steps in panel.fronts.items():
        parts.append(plot.cloud(family, steps, marks[family]))
    for family, steps in panel.fronts.items():
        color = f'stroke="{marks[family].color}"'
        parts.append(plot.stairs(steps, f'class="stairs" {color}'))
        parts += [plot.bar(step, color) for step in steps if step.sure]
    for family, steps in panel.fronts.items():
        parts += [plot.step(step, marks[family]) for step in steps]
    return "\n".join(part for part in [*parts, "</svg>"] if part)


def _text(text: str) -> str:
    """Return a text fit for XML, which has no control characters."""
    return escape(printable(text))


class _Plot:
    """Where figures lie on the paper."""

    def __init__(self, panel: Panel) -> None:
        self.panel = panel
        self.right, self.bottom = WIDTH - _RIGHT, HEIGHT - _BOTTOM

    def x(self, cost: float) -> float:
        scale = self.panel.x
        share = log(max(cost, scale.low) / scale.low) / log(scale.high / scale.low)
        return round(_LEFT + share * (self.right - _LEFT), 1)

    def y(self, error: float) -> float:
        scale = self.panel.y
        share = (min(max(error, scale.low), scale.high) - scale.low) / (scale.high - scale.low)
        return round(self.bottom - share * (self.bottom - _TOP), 1)

    def frame(self) -> list[str]:
        middle = (_LEFT + self.right) / 2
        lines = []
        for value, label in self.panel.y.ticks:
            y = self.y(value)
            lines.append(f'<path class="grid" d="M{_LEFT:g} {y:g}H{self.right:g}"/>')
            lines.append(
                f'<text class="tick" x="{_LEFT - 7:g}" y="{y + 4:g}" text-anchor="end">'
                f"{label}</text>"
            )
        for value, label in self.panel.x.ticks:
            x = self.x(value)
            lines.append(f'<path class="grid" d="M{x:g} {_TOP:g}V{self.bottom:g}"/>')
            lines.append(
                f'<text class="tick" x="{x:g}" y="{self.bottom + 16:g}" text-anchor="middle">'
                f"{label}</text>"
            )
        lines.append(f'<path class="axis" d="M{_LEFT:g} {self.bottom:g}H{self.right:g}"/>')
        lines.append(
            f'<text class="name" x="{middle:g}" y="{HEIGHT - 6:g}" text-anchor="middle">'
            f"{_text(self.panel.axis.title)}</text>"
        )
        return lines

    def stairs(self, steps: Sequence[Step], how: str) -> str:
        if not steps:
            return ""
        places = [self._place(step.point) for step in steps]
        ways = "".join(f"H{x:g}V{y:g}" for x, y in places[1:])
        return f'<path {how} d="M{places[0][0]:g} {places[0][1]:g}{ways}H{self.right:g}"/>'

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
        return f'<path class="cloud" stroke="{mark.color}" d="{dots}"/>' if dots else ""

    def bar(self, step: Step, color: str) -> str:
        low, high = step.point.validation.interval
        return (
            f'<path class="bar" {color} d="M{self.x(step.x):g} {self.y(low):g}V{self.y(high):g}"/>'
        )

    def step(self, step: Step, mark: Mark) -> str:
        x, y = self._place(step.point)
        how = f'fill="{mark.color}" class="sure"' if step.sure else 'class="unsure"'
        told = f"trial {step.point.number}, {settings(step.point)}: "
        told += f"{percent(step.point.validation.mean)}, {step.x:,.0f} {self.panel.axis.noun}"
        size = 9 if step.sure else 5.5
        return (
            f'<path d="{mark.path(x, y, size)}" {how} stroke="{mark.color}">'
            f"<title>{_text(told)}</title></path>"
        )

    def _place(self, point: Point) -> tuple[float, float]:
        x = self.panel.axis.of(point)
        assert x is not None
        return self.x(x), self.y(point.validation.mean)


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
"""How the plots look on white."""
_HEAD = 34.0
"""Height of a line of text above a row of plots, px."""


def drawing_svg(
    rows: Sequence[tuple[str, Sequence[Panel]]], marks: Mapping[str, Mark], title: str
) -> str:
    """Draw all plots into one file."""
    width = WIDTH * max(len(panels) for _, panels in rows) + 16
    height = 2 * _HEAD + sum(_HEAD + HEIGHT for _ in rows) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}">',
        f"<title>{_text(title)}</title>",
        f"<style>{STYLE}</style>",
        '<rect width="100%" height="100%" fill="#fff"/>',
        f'<text class="head" x="16" y="26">{_text(title)}</text>',
        *_legend(marks.values()),
    ]
    for k, (name, panels) in enumerate(rows):
        top = 2 * _HEAD + k * (_HEAD + HEIGHT)
        parts.append(
            f'<text class="legend" x="16" y="{top + 22:g}">{_text(name)}: error on validation '
            "rows</text>"
        )
        for j, panel in enumerate(panels):
            inner = plot_svg(panel, marks)
            place = f'x="{8 + j * WIDTH:g}" y="{top + _HEAD:g}" '
            parts.append(inner.replace("<svg ", f"<svg {place}", 1))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _legend(marks: Iterable[Mark]) -> list[str]:
    parts, x = [], 24.0
    for mark in marks:
        parts.append(
            f'<path d="{mark.path(x, _HEAD + 16, 10)}" fill="{mark.color}"/>'
            f'<text class="legend" x="{x + 11:g}" y="{_HEAD + 20:g}">{_text(mark.family)}</text>'
        )
        x += 36 + 7 * len(mark.family)
    return parts
